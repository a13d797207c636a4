import Foundation

/// Why a call failed: what kind of failure, and the message that says what to do about it.
///
/// ```swift
/// do {
///     try await db.execute("put users {email: $1}", "a@b.c")
/// } catch let error as FenecError where error.code == .duplicate {
///     print(error.message)
/// }
/// ```
public struct FenecError: Error, CustomStringConvertible, Sendable, Equatable {
    /// The kinds of failure; the raw values are the return codes of the C interface.
    public enum Code: Int32, Sendable {
        case type = 1
        case notFound = 2
        case exists = 3
        case duplicate = 4
        case corrupt = 5
        case query = 6
        case io = 7
        case plugin = 8
        case readOnly = 9
        case denied = 10
        case panic = 11
        case misuse = 12
        case locked = 13
        case unmet = 14
        /// A chain of the query builder that was refused before anything ran.
        case builder = 100
    }

    public let code: Code
    public let message: String
    /// HTTP status of a server's refusal.
    public let status: Int?
    /// The statement, from 0, that stopped a text of several or a batch.
    public let at: Int?
    /// How many statements of a failed batch stayed applied.
    public let completed: Int?
    /// The tenant quota a server named.
    public let quota: String?
    /// Seconds a server asked to wait.
    public let retryAfter: Double?

    public init(code: Code, message: String) {
        self.init(code: code, message: message, at: nil)
    }

    init(
        code: Code, message: String, at: Int?, status: Int? = nil, completed: Int? = nil, quota: String? = nil,
        retryAfter: Double? = nil
    ) {
        self.code = code
        self.message = message
        self.at = at
        self.status = status
        self.completed = completed
        self.quota = quota
        self.retryAfter = retryAfter
    }

    public var description: String { message }
}

extension FenecError: LocalizedError {
    public var errorDescription: String? { message }
}

extension FenecError {
    /// A call on a database that was closed, or is being closed.
    static let closed = FenecError(code: .misuse, message: "the database was closed")
}
