import FenecDB
import Foundation

@main
struct FenecCommand {
    static func main() async {
        exit(await run(Array(CommandLine.arguments.dropFirst())))
    }

    /// What the process ends with: 0, 1 for an error of the database or of the data, 2 for a call that
    /// makes no sense, 3 for a schema that was refused or a recovery that is
    /// not whole.
    static func run(_ words: [String]) async -> Int32 {
        do {
            switch try Arguments.parse(words) {
            case .help(let text):
                try write(text)
            case .version:
                try write("fenec \(Fenec.version)\n")
            case .shell(let shell):
                try await shell.run()
            case .text(let text):
                try await text.run()
            case .importing(let importing):
                try await importing.run()
            case .exporting(let exporting):
                try await exporting.run()
            case .schema(let schema):
                return try await schema.run()
            case .care(let care):
                return try await care.run()
            case .types(let words):
                return await Types.run(words)
            }
            return 0
        } catch let error as UsageError {
            Console.complain("\(error.message)\n\(error.hint)")
            return 2
        } catch is AlreadyTold {
            return 1
        } catch {
            Console.complain("\(error)")
            return 1
        }
    }

    private static func write(_ text: String) throws {
        var output = Output.standard
        output.write(text)
        try output.flush()
    }
}

/// An error whose message is for people and complete.
struct CommandError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The call itself makes no sense.
struct UsageError: Error {
    let message: String
    var hint = "fenec --help says how it is used"
    init(_ message: String) { self.message = message }
}

/// What went wrong stands on standard error already.
struct AlreadyTold: Error {}
