/// What bringing a database to a schema did, or would do.
public struct SchemaPlan: Sendable, Equatable {
    /// Something was written.
    public let applied: Bool
    /// The migrations ran; of a database that began with this schema they were only recorded. Means
    /// nothing beside empty ``migrations``.
    public let ran: Bool
    /// The numbers of the migrations, from 1.
    public let migrations: [Int]
    /// What was added, as FenecQL.
    public let statements: [String]
    /// Differences that are not resolved by adding; empty in a plan that is returned.
    public let refusals: [SchemaRefusal]
}

/// A difference between the schema in code and the database that is not resolved by adding: it could lose
/// data or could mean two things.
public struct SchemaRefusal: Sendable, Equatable {
    /// `type_changed`, `field_not_declared`, …
    public let kind: String
    public let collection: String
    /// A field, or a whole path into one; nil for a collection.
    public let field: String?
    /// What differs.
    public let message: String
    /// How to resolve it.
    public let fix: String
}

/// The schema in code was refused, and nothing was written.
///
/// ```swift
/// do {
///     try await db.schema(text)
/// } catch let error as SchemaError {
///     for refusal in error.refusals { print(refusal.message, refusal.fix) }
/// }
/// ```
public struct SchemaError: Error, CustomStringConvertible, Sendable {
    public let refusals: [SchemaRefusal]

    /// Each message and its fix, a line each.
    public var description: String {
        refusals.map { "\($0.message)\n    \($0.fix)" }.joined(separator: "\n")
    }
}
