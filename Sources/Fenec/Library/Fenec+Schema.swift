import Foundation

extension Fenec {
    /// Brings the database to a schema: a text of `create collection` and `create index`, which an app has
    /// as a resource and hands over after each open.
    ///
    /// ```swift
    /// let text = try String(contentsOf: Bundle.main.url(forResource: "schema", withExtension: "fenecql")!, encoding: .utf8)
    /// try await db.schema(text, migrations: ["alter collection jobs rename field title to name"])
    /// ```
    ///
    /// What is new is added. Anything else that differs throws a ``SchemaError`` that says how to resolve
    /// it, most of it by a migration: FenecQL that runs once. The list of migrations only grows. All of it
    /// lands or nothing does, and where there is nothing to do nothing is written.
    ///
    /// With `apply: false` nothing is written either way: the plan tells what would be.
    @discardableResult
    public func schema(_ fenecql: String, migrations: [String] = [], apply: Bool = true) async throws -> SchemaPlan {
        let description: Value = [
            "format": 1, "fenecql": .string(fenecql), "migrations": .array(migrations.map { .string($0) }),
        ]
        let answer = try await compareSchema(description, apply ? .apply : .plan)
        let plan = try SchemaPlan(answer)
        guard plan.refusals.isEmpty else { throw SchemaError(refusals: plan.refusals) }
        return plan
    }

    /// What `fenec_schema` does with a description.
    package enum SchemaMode: UInt32, Sendable { case plan, apply, follow, describe }

    /// The answer as it came, refusals included.
    package func compareSchema(_ description: Value, _ mode: SchemaMode) async throws -> Value {
        try await call(mayWrite: mode == .apply) { try Library.schema($0, description, mode.rawValue) }
    }

    /// The description of a file that may be in use by another process, which is not opened: nothing is
    /// made, locked or written. Not for a file this process has open.
    package static func describeFile(at path: String) async throws -> Value {
        try await Workers.shared.run { try Library.describe(path: path) }
    }
}

extension SchemaPlan {
    package init(_ answer: Value) throws {
        guard let applied = answer["applied"]?.bool, let ran = answer["ran"]?.bool,
            let migrations = answer["migrations"]?.array, let statements = answer["statements"]?.array,
            let refusals = answer["refusals"]?.array
        else { throw FenecError.unreadable }
        self.init(
            applied: applied, ran: ran, migrations: migrations.compactMap(\.int),
            statements: statements.compactMap(\.string), refusals: try refusals.map(SchemaRefusal.init))
    }
}

extension SchemaRefusal {
    fileprivate init(_ answer: Value) throws {
        guard let kind = answer["kind"]?.string, let collection = answer["collection"]?.string,
            let message = answer["message"]?.string, let fix = answer["fix"]?.string
        else { throw FenecError.unreadable }
        self.init(kind: kind, collection: collection, field: answer["field"]?.string, message: message, fix: fix)
    }
}
