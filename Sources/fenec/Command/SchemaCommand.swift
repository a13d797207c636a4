import FenecDB
import Foundation

/// `fenec schema plan|apply FILE SCHEMA`, `fenec schema describe FILE [OUT]`.
struct SchemaCommand {
    enum Action: String { case plan, apply, describe }

    /// What the process ends with where the schema is refused.
    static let refused: Int32 = 3

    let action: Action
    let path: String
    /// A file to read; where the schema is described, one to write.
    let schema: String?
    /// A file that holds a JSON array.
    let migrations: String?
    let isText: Bool

    func run() async throws -> Int32 {
        if action == .describe {
            try await describe()
            return 0
        }
        let description = try await description()
        // Without a file a plan is that of an empty one, which needs none to be made.
        let isThere = FileManager.default.fileExists(atPath: path)
        let db = action == .plan && !isThere ? try Fenec.memory() : try await Fenec.open(path: path)
        let answer: Value
        do {
            answer = try await db.compareSchema(description, action == .plan ? .plan : .apply)
        } catch {
            try? await db.close()
            throw error
        }
        try await db.close()
        let plan = try SchemaPlan(answer)
        var output = Output.standard
        output.write(isText ? Self.told(plan, action) : "\(answer)\n")
        try output.flush()
        return plan.refusals.isEmpty ? 0 : Self.refused
    }

    /// Looked at before the database is opened: what is no schema makes none, and is told of its own file.
    private func description() async throws -> Value {
        let schema = schema ?? ""
        var description: Row = ["format": 1, "fenecql": .string(try Self.text(of: schema))]
        try await Self.check(description, of: schema)
        if let migrations {
            let text = try Self.text(of: migrations)
            guard case .array(let list)? = try? Value.parse(text) else {
                throw CommandError("\(migrations): holds no JSON array of migrations")
            }
            description["migrations"] = .array(list)
            try await Self.check(description, of: migrations)
        }
        return .object(description)
    }

    private static func check(_ description: Row, of file: String) async throws {
        let db = try Fenec.memory()
        let found: (any Error)?
        do {
            _ = try await db.compareSchema(.object(description), .follow)
            found = nil
        } catch {
            found = error
        }
        try await db.close()
        if let found { throw CommandError("\(file): \(found)") }
    }

    private static func text(of file: String) throws -> String {
        do {
            return try SchemaText(contentsOf: file).text
        } catch {
            throw CommandError("\(file): \(error)")
        }
    }

    // MARK: for people

    /// What is added with `+`, what is refused with `!`, how it is resolved below it.
    static func told(_ plan: SchemaPlan, _ action: Action) -> String {
        var lines: [String] = []
        if !plan.migrations.isEmpty {
            let numbers = plan.migrations.map(String.init).joined(separator: ", ")
            let noun = plan.migrations.count == 1 ? "migration" : "migrations"
            let verb = plan.applied ? "" : "would be "
            let fate = plan.ran ? "\(verb)run" : "\(verb)recorded without running: the file is new"
            lines.append("\(noun) \(numbers), \(fate)")
        }
        lines += plan.statements.map { "+ \(DisplayText.visible($0))" }
        for refusal in plan.refusals {
            let place = refusal.field.map { "\(refusal.collection).\($0)" } ?? refusal.collection
            lines.append("! \(refusal.kind) \(DisplayText.visible(place))")
            lines.append("    \(DisplayText.visible(refusal.message))")
            lines.append("    fix: \(DisplayText.visible(refusal.fix))")
        }
        lines.append(outcome(plan, action))
        return lines.joined(separator: "\n") + "\n"
    }

    private static func outcome(_ plan: SchemaPlan, _ action: Action) -> String {
        if !plan.refusals.isEmpty {
            return "refused: \(Printer.counted(plan.refusals.count, "difference")), nothing was written"
        }
        if plan.applied { return "applied" }
        return plan.statements.isEmpty && plan.migrations.isEmpty ? "nothing to do" : "an apply would do this"
    }

    // MARK: describing

    /// The file may be in use: it is not opened.
    private func describe() async throws {
        let answer = try await Fenec.describeFile(at: path)
        let text = try DeclaredSchema(description: answer).statements.map { $0 + "\n" }.joined()
        if let schema {
            try await ReplacedFile.write(to: schema) { output in
                output.write(text)
                try output.flush()
            }
        } else {
            var output = Output.standard
            output.write(isText ? text : "\(answer)\n")
            try output.flush()
        }
    }
}
