import FenecDB
import Foundation

/// `fenec FILE`: runs the texts of standard input one after another.
struct Shell {
    let path: String
    let style: Printer.Style
    let echoes: Bool

    func run() async throws {
        let isTerminal = Console.inputIsTerminal
        let db = try await Fenec.open(path: path)
        if isTerminal {
            Console.tell(
                "Fenec \(Fenec.version), \(DisplayText.visible(path)). "
                    + "A text ends at ; or an empty line; exit leaves.\n")
        }
        do {
            try await runTexts(of: db, isTerminal)
        } catch {
            try? await db.close()
            throw error
        }
        try await db.close()
    }

    private func runTexts(of db: Fenec, _ isTerminal: Bool) async throws {
        var input = LineReader(descriptor: 0)
        var reader = StatementReader { begins in
            if isTerminal { Console.tell(begins ? "fenec> " : "  ...> ") }
            let line = try input.next()
            if isTerminal, begins, let line, ["exit", "quit", "exit;", "quit;"].contains(line.trimmed) { return nil }
            if isTerminal, line == nil { Console.tell("\n") }
            return line
        }
        var runner = TextRunner(db: db, style: style)
        while let text = try reader.next() {
            do {
                if echoes { try runner.printer.print(text: text.text) }
                try await runner.run(text.text, [])
                if echoes { try runner.printer.print(text: "") }
            } catch let error as FenecError {
                Console.complain(isTerminal ? error.message : "line \(text.line): \(error.message)")
                if !isTerminal { throw AlreadyTold() }
            }
        }
    }
}

/// `fenec FILE 'text' [params]`.
struct OneText {
    let path: String
    let text: String
    let params: String?
    let style: Printer.Style

    func run() async throws {
        let params = try Self.parameters(params)
        let db = try await Fenec.open(path: path)
        do {
            var runner = TextRunner(db: db, style: style)
            try await runner.run(text, params)
        } catch {
            try? await db.close()
            throw error
        }
        try await db.close()
    }

    private static func parameters(_ text: String?) throws -> [Value] {
        guard let text, !text.trimmed.isEmpty else { return [] }
        do {
            if case .array(let params) = try Value.parse(text) { return params }
        } catch let error as FenecError {
            throw UsageError("the parameters are no JSON: \(error.message)")
        }
        throw UsageError("the parameters are a JSON array, its first element $1")
    }
}

/// Runs texts and prints what they answer, with the time each took where that is asked for.
struct TextRunner {
    let db: Fenec
    let style: Printer.Style
    var printer: Printer

    init(db: Fenec, style: Printer.Style) {
        self.db = db
        self.style = style
        printer = Printer(style)
    }

    mutating func run(_ text: String, _ params: [Value]) async throws {
        let start = DispatchTime.now().uptimeNanoseconds
        let answer = try await db.run(text, params: params)
        let nanoseconds = DispatchTime.now().uptimeNanoseconds - start
        try printer.print(answer)
        if style.showsTime { Console.tell(Self.spelled(nanoseconds) + "\n") }
    }

    private static func spelled(_ nanoseconds: UInt64) -> String {
        let milliseconds = Double(nanoseconds) / 1e6
        return milliseconds < 100
            ? String(format: "%.3f ms", milliseconds) : String(format: "%.0f ms", milliseconds)
    }
}

extension String {
    /// Without the white space around it.
    var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
