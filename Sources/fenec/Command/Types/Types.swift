import FenecDB
import Foundation

/// `fenec types --lang L FILE [-o OUT] [--name PACKAGE]`.
struct Types {
    static let usage = """
        fenec types --lang swift|kotlin|dart FILE [-o OUT] [--name PACKAGE]

          FILE            a schema (*.fenecql), or a database, which is only read and may be in use
          --lang L        swift, kotlin (or kt), dart
          -o, --out OUT   writes OUT, over what is there, instead of standard output
          --name PACKAGE  Kotlin's package, in lower case (fenecschema)

        Writes a type for the rows of each collection, collections whose name begins with _ aside. Ends with
        0, or with 2 and one line on standard error.

        """

    let language: any TypeLanguage
    let file: String
    let out: String?

    /// Says what went wrong in one line; never throws.
    static func run(_ words: [String]) async -> Int32 {
        do {
            guard let types = try parse(words) else {
                var output = Output.standard
                output.write(usage)
                try output.flush()
                return 0
            }
            try await types.run()
            return 0
        } catch is NoFile {
            Console.tell(usage)
        } catch let error as UsageError {
            tell("fenec types: \(error.message)")
        } catch {
            tell("\(error)")
        }
        return 2
    }

    private struct NoFile: Error {}

    private static func tell(_ message: String) {
        Console.tell(DisplayText.visible(message.replacingOccurrences(of: "\n", with: " ")) + "\n")
    }

    /// nil: help is asked for.
    static func parse(_ words: [String]) throws -> Types? {
        var options = Options(words)
        var lang: String?
        var out: String?
        var package = "fenecschema"
        while let option = options.next() {
            switch option {
            case "-h", "--help": return nil
            case "--lang": lang = try options.value(of: option)
            case "-o", "--out": out = try options.value(of: option)
            case "--name": package = try options.value(of: option).lowercased()
            default: throw UsageError("there is no option \(option)")
            }
        }
        guard let file = options.operands.last else { throw NoFile() }
        return Types(language: try language(lang, package: package), file: file, out: out)
    }

    private static func language(_ name: String?, package: String) throws -> any TypeLanguage {
        switch name {
        case "swift": return SwiftTypes()
        case "dart": return DartTypes()
        case "kotlin", "kt":
            let parts = package.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard parts.allSatisfy({ KotlinTypes.canSpell($0) && !TypeName.isWord($0, of: KotlinTypes.reserved) }) else {
                throw UsageError("\(package) is no package of Kotlin")
            }
            return KotlinTypes(package: package)
        case nil: throw UsageError("--lang is missing: swift, kotlin or dart")
        case let name?: throw UsageError("there is no language \(name): swift, kotlin or dart")
        }
    }

    private func run() async throws {
        let text: String
        let count: Int
        do {
            let schema = file.hasSuffix(".fenecql") ? try SchemaText(contentsOf: file) : nil
            let declared: DeclaredSchema
            if let schema {
                declared = try await schema.declared()
            } else {
                declared = try DeclaredSchema(description: await Fenec.describeFile(at: file))
            }
            count = declared.collections.count
            do {
                text = try TypeWriter(language: language, source: file).text(of: declared)
            } catch let name as UnspeakableName {
                throw CommandError(told(name, in: schema))
            }
        } catch {
            throw CommandError("\(file): \(error)")
        }
        var output = Output.standard
        guard let out else {
            output.write(text)
            return try output.flush()
        }
        try await ReplacedFile.write(to: out) { output in
            output.write(text)
            try output.flush()
        }
        Console.tell("\(DisplayText.visible(out)): \(Printer.counted(count, "collection"))\n")
    }

    private func told(_ name: UnspeakableName, in schema: SchemaText?) -> String {
        let line = schema?.line(of: name.collection, name.field) ?? 0
        let place = line > 0 ? "line \(line): " : ""
        let what = name.field.map { "the field `\(name.collection).\($0)`" } ?? "the collection `\(name.collection)`"
        return "\(place)\(what) cannot be spelled in \(language.name.capitalized), where it would be `\(name.made)`"
    }
}
