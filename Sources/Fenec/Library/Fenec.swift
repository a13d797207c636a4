import Foundation

/// A database: a file, or memory.
///
/// ```swift
/// let db = try await Fenec.open(path: "app.fenec")
/// try await db.execute("create collection if not exists jobs (title text, done bool @hash)")
/// try await db.execute("put jobs {title: $1, done: false}", "paint")
/// for row in try await db.query("get jobs where done = false order id") { print(row) }
/// try await db.close()
/// ```
///
/// It may be used from every task and thread at once. Calls suspend and never block: the library works on
/// threads of the package's own, reads beside each other and beside a write's wait for the disk. Calls
/// that one task makes one after another take effect in that order.
public actor Fenec {
    /// How a file is opened.
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Writes wait in a buffer for `sync()`, `flush()` or `close()`.
        public static let noSync = Options(rawValue: 1)
        /// For a file that may become unreadable while it is open: it is never mapped into memory.
        public static let inMemory = Options(rawValue: 2)
        /// No compaction but by the statement `compact`.
        public static let noAutoCompact = Options(rawValue: 4)
    }

    private enum Life { case open, closing, closed }

    private let handle: UInt64
    private var life = Life.open
    private var callsUnderWay = 0
    private var lastCallEnded: CheckedContinuation<Void, Never>? // whoever closes waits here
    private var closeEnded: [CheckedContinuation<Void, Never>] = []

    private init(handle: UInt64) { self.handle = handle }

    /// Letting go of the last reference closes the database as `close()` does, on this very thread. Nobody
    /// is left who could be told of a failure.
    deinit {
        if life == .open { try? Library.close(handle) }
    }

    /// The library's version, `MAJOR.MINOR.PATCH`.
    public static var version: String { Library.version }

    // MARK: opening and closing

    /// Opens the file at `path`, or makes it; its folder must exist.
    public static func open(path: String, options: Options = []) async throws -> Fenec {
        let handle = try await Workers.shared.run { try Library.open(path: path, flags: options.rawValue) }
        return Fenec(handle: handle)
    }

    /// Opens the file a file URL names, or makes it; its folder must exist.
    public static func open(_ url: URL, options: Options = []) async throws -> Fenec {
        guard url.isFileURL else {
            throw FenecError(code: .misuse, message: "\(url.absoluteString) is not the URL of a file")
        }
        return try await open(path: url.path, options: options)
    }

    /// A database that keeps nothing: it is gone when it is closed.
    public static func memory() throws -> Fenec {
        Fenec(handle: try Library.openMemory())
    }

    /// Waits for calls under way, makes everything durable and frees the file, which can be opened again
    /// once this returned. A second `close()` waits for the first and does nothing more.
    public func close() async throws {
        guard life == .open else {
            if life == .closing { await withCheckedContinuation { closeEnded.append($0) } }
            return
        }
        life = .closing
        if callsUnderWay > 0 { await withCheckedContinuation { lastCallEnded = $0 } }
        defer {
            // Closed even where the last write to the disk failed.
            life = .closed
            for waiter in closeEnded { waiter.resume() }
            closeEnded = []
        }
        let handle = handle
        try await Workers.shared.run { try Library.close(handle) }
    }

    // MARK: running text

    /// Runs a text of one statement or several, which land together or not at all, and answers what the
    /// last one answers. `$1` is the first of `params`.
    public nonisolated func run(_ text: String, _ params: any FenecValue...) async throws -> Answer {
        try await run(text, params: Self.values(params))
    }

    /// Runs a text with its parameters in a list.
    public nonisolated func run(_ text: String, params: [Value]) async throws -> Answer {
        try await call { try Library.query($0, text, params) }
    }

    /// The rows a text answers; none where it answers something else.
    ///
    /// ```swift
    /// let rows = try await db.query("get jobs where title = $1", "paint")
    /// ```
    public nonisolated func query(_ text: String, _ params: any FenecValue...) async throws -> [Row] {
        try await run(text, params: Self.values(params)).rows
    }

    /// The rows a text answers, each decoded by the names of its fields.
    ///
    /// ```swift
    /// struct Job: Decodable { var id: Int; var title: String }
    /// let jobs = try await db.query(as: Job.self, "get jobs order id")
    /// ```
    public nonisolated func query<T: Decodable>(
        as type: T.Type, _ text: String, _ params: any FenecValue...
    ) async throws -> [T] {
        try await run(text, params: Self.values(params)).rows.map { try $0.decode(as: type) }
    }

    /// How many documents a text wrote; 0 where it answers something else.
    @discardableResult
    public nonisolated func execute(_ text: String, _ params: any FenecValue...) async throws -> Int {
        try await run(text, params: Self.values(params)).affected
    }

    /// A query of a collection, which is run here. It throws for a bad name alone, and it does not keep the
    /// database open: run after that was let go of, it throws `misuse`.
    public nonisolated func from(_ collection: String) throws -> Query {
        try Query.from(collection).bind { [weak self] text, params in
            guard let self else { throw FenecError.closed }
            return try await self.run(text, params: params)
        }
    }

    /// What was written since the change counter stood at `since`; `UInt64.max` asks for the counter alone.
    public func changes(since: UInt64) async throws -> Changes {
        try await call { try Library.changes($0, since: since) }
    }

    // MARK: durability

    /// Returns once every write so far is on the disk.
    public func sync() async throws { try await call { try Library.sync($0) } }

    /// Hands every write so far to the system: it survives the app, not a loss of power.
    public func flush() async throws { try await call { try Library.flush($0) } }

    /// Makes the file complete by itself and durable.
    public func checkpoint() async throws { try await call { try Library.checkpoint($0) } }

    /// Builds the indexes that an open left for their first use, all or those named (`"notes"`,
    /// `"notes.body"`), and answers how many it built.
    @discardableResult
    public func warm(_ only: [String] = []) async throws -> Int {
        try await call { try Library.warm($0, only) }
    }

    // MARK: calls

    /// Runs `work` on a thread of the package's. The actor is free meanwhile: it only counts, so that
    /// `close()` can wait for the calls that came before it.
    func call<T: Sendable>(_ work: @escaping @Sendable (UInt64) throws -> T) async throws -> T {
        guard life == .open else { throw FenecError.closed }
        callsUnderWay += 1
        defer {
            callsUnderWay -= 1
            if callsUnderWay == 0 {
                lastCallEnded?.resume()
                lastCallEnded = nil
            }
        }
        let handle = handle
        return try await Workers.shared.run { try work(handle) }
    }

    private static func values(_ params: [any FenecValue]) throws -> [Value] {
        try params.map { try $0.fenecValue() }
    }
}
