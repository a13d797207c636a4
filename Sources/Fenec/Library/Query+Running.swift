extension Query {
    /// The rows.
    public func rows() async throws -> [Row] { try await answer().rows }

    /// The rows, each decoded by the names of its fields.
    public func rows<T: Decodable>(as type: T.Type) async throws -> [T] {
        try await decoded(clauses.read(), as: type)
    }

    /// The rows with their facets.
    public func answer() async throws -> Answer { try await run(clauses.read()) }

    /// The first row, which is all that is read.
    public func first() async throws -> Row? { try await run(with { $0.limit = 1 }.clauses.read()).rows.first }

    /// The first row, decoded by the names of its fields.
    public func first<T: Decodable>(as type: T.Type) async throws -> T? {
        try await decoded(with { $0.limit = 1 }.clauses.read(), as: type).first
    }

    /// How many rows there are.
    public func count() async throws -> Int {
        try await run(clauses.read(counting: true)).rows.first?["count"]?.int ?? 0
    }

    /// How the read is done, a line a step.
    public func explain() async throws -> [String] {
        let (text, params) = try clauses.read()
        return try await run(("explain " + text, params)).rows.compactMap { $0["plan"]?.string }
    }

    /// Writes one document or a list of them and answers how many it wrote; with `ifAbsent` those whose id or
    /// unique value is taken are left out. An empty list sends nothing.
    @discardableResult
    public func insert(_ docs: any FenecValue, ifAbsent: Bool = false, require: Int? = nil) async throws -> Int {
        try await insert(docs, ifAbsent, require, nil)?.affected ?? 0
    }

    /// Writes documents and answers fields of what it wrote.
    @discardableResult
    public func insert(
        _ docs: any FenecValue, ifAbsent: Bool = false, require: Int? = nil, returning: [String]
    ) async throws -> [Row] {
        try await insert(docs, ifAbsent, require, returning)?.rows ?? []
    }

    /// Writes documents, patches those already there, and answers how many of both.
    @discardableResult
    public func upsert(_ docs: any FenecValue, _ patch: any FenecValue, require: Int? = nil) async throws -> Int {
        try await upsert(docs, patch, require, nil)?.affected ?? 0
    }

    /// Writes documents, patches those already there, and answers fields of both.
    @discardableResult
    public func upsert(
        _ docs: any FenecValue, _ patch: any FenecValue, require: Int? = nil, returning: [String]
    ) async throws -> [Row] {
        try await upsert(docs, patch, require, returning)?.rows ?? []
    }

    /// Patches what the query covers and answers how many documents that are.
    @discardableResult
    public func update(_ patch: any FenecValue, all: Bool = false, require: Int? = nil) async throws -> Int {
        try await run(toUpdate(patch, all: all, require: require)).affected
    }

    /// Patches what the query covers and answers fields of it.
    @discardableResult
    public func update(
        _ patch: any FenecValue, all: Bool = false, require: Int? = nil, returning: [String]
    ) async throws -> [Row] {
        try await run(toUpdate(patch, all: all, require: require, returning: returning)).rows
    }

    /// Deletes what the query covers and answers how many documents that were.
    @discardableResult
    public func delete(all: Bool = false, require: Int? = nil) async throws -> Int {
        try await run(toDelete(all: all, require: require)).affected
    }

    /// Deletes what the query covers and answers fields of it.
    @discardableResult
    public func delete(all: Bool = false, require: Int? = nil, returning: [String]) async throws -> [Row] {
        try await run(toDelete(all: all, require: require, returning: returning)).rows
    }

    // MARK: the executor

    private func run(_ statement: (text: String, params: [Value])) async throws -> Answer {
        try await executor().answer(statement.text, statement.params)
    }

    private func decoded<T: Decodable>(
        _ statement: (text: String, params: [Value]), as type: T.Type
    ) async throws -> [T] {
        let executor = try executor()
        if let bytes = executor.bytes { return try await bytes(statement.text, statement.params).rows(as: type) }
        return try await executor.answer(statement.text, statement.params).rows.map { try $0.decode(as: type) }
    }

    private func executor() throws -> Executor {
        guard let exec else { throw FenecError.refused("the query is bound to no database: make it with db.from") }
        return exec
    }

    private func insert(
        _ docs: any FenecValue, _ ifAbsent: Bool, _ require: Int?, _ returning: [String]?
    ) async throws -> Answer? {
        guard let docs = try some(docs) else { return nil }
        return try await run(toInsert(docs, ifAbsent: ifAbsent, require: require, returning: returning))
    }

    private func upsert(
        _ docs: any FenecValue, _ patch: any FenecValue, _ require: Int?, _ returning: [String]?
    ) async throws -> Answer? {
        guard let docs = try some(docs) else { return nil }
        return try await run(toUpsert(docs, patch, require: require, returning: returning))
    }

    /// Documents; nil where the list of them is empty and nothing is sent.
    private func some(_ docs: any FenecValue) throws -> Value? {
        _ = try executor()
        let value = try docs.fenecValue()
        guard let list = value.array, list.isEmpty else { return value }
        return Value?.none
    }
}
