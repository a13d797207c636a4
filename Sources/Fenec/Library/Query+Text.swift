extension Query {
    /// The read as FenecQL and its parameters; nothing is run.
    public func toFenecQL() throws -> (text: String, params: [Value]) { try clauses.read() }

    /// The `put` of one document or a list of them; with `ifAbsent` those whose id or unique value is taken
    /// are left out.
    public func toInsert(
        _ docs: any FenecValue, ifAbsent: Bool = false, require: Int? = nil, returning: [String]? = nil
    ) throws -> (text: String, params: [Value]) {
        try clauses.insert(docs.fenecValue(), ifAbsent: ifAbsent, ending: .init(returning: returning, require: require))
    }

    /// The `put` of documents that patches those already there, found by id or unique value.
    public func toUpsert(
        _ docs: any FenecValue, _ patch: any FenecValue, require: Int? = nil, returning: [String]? = nil
    ) throws -> (text: String, params: [Value]) {
        try clauses.upsert(
            docs.fenecValue(), patch.fenecValue(), ending: .init(returning: returning, require: require))
    }

    /// The `set` of what the query covers: its filter, or with order and limit so many of it. A query that
    /// covers the whole collection needs `all`.
    public func toUpdate(
        _ patch: any FenecValue, all: Bool = false, require: Int? = nil, returning: [String]? = nil
    ) throws -> (text: String, params: [Value]) {
        try clauses.update(patch.fenecValue(), all: all, ending: .init(returning: returning, require: require))
    }

    /// The `del` of what the query covers; see ``toUpdate(_:all:require:returning:)``.
    public func toDelete(
        all: Bool = false, require: Int? = nil, returning: [String]? = nil
    ) throws -> (text: String, params: [Value]) {
        try clauses.delete(all: all, ending: .init(returning: returning, require: require))
    }
}
