/// A statement made step by step: names are checked, every value goes over as a parameter.
///
/// ```swift
/// let open = try db.from("jobs").where("done", false)
/// let next = try await open.order("due").limit(20).rows(as: Job.self)
/// try await open.where("id", 7).update(["done": true] as Value)
/// ```
///
/// It is a value: each step returns a new query and leaves the one it was called on as it was. What cannot be a
/// statement is refused with the code `builder` before anything runs, by the step or as the text is made.
public struct Query: Sendable {
    /// What runs a query.
    struct Executor: Sendable {
        let answer: @Sendable (String, [Value]) async throws -> Answer
        /// The answer as it came from the library, where it comes from there.
        let bytes: (@Sendable (String, [Value]) async throws -> AnswerBytes)?
    }

    let clauses: Clauses
    let exec: Executor?

    /// A query bound to nothing, to make texts with.
    public static func from(_ collection: String) throws -> Query {
        Query(clauses: Clauses(collection: try Name.checked(collection, .collection)), exec: nil)
    }

    /// The query as run by `exec`, which is given its text and parameters.
    public func bind(_ exec: @escaping @Sendable (String, [Value]) async throws -> Answer) -> Query {
        Query(clauses: clauses, exec: Executor(answer: exec, bytes: nil))
    }

    /// The query as run by a database, which it does not keep.
    func bound(to db: Fenec) -> Query {
        let exec = Executor(
            answer: { [weak db] text, params in
                guard let db else { throw FenecError.closed }
                return try await db.run(text, params: params)
            },
            bytes: { [weak db] text, params in
                guard let db else { throw FenecError.closed }
                return try await db.bytes(text, params)
            })
        return Query(clauses: clauses, exec: exec)
    }

    public var collection: String { clauses.collection }

    /// The collections the query reads, its own first; nil where a fragment of FenecQL in it may hold a query
    /// of its own and it cannot be told.
    public var reads: [String]? { clauses.reads }

    /// The next step: this query with one thing changed.
    func with(_ change: (inout Clauses) -> Void) -> Query {
        var next = clauses
        change(&next)
        return Query(clauses: next, exec: exec)
    }
}
