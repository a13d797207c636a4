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

    /// What opens a file again.
    private struct File {
        let path: String
        let options: Options
    }

    private let file: File?
    private let gate: Gate
    let watches = Watches()
    package nonisolated var isWatched: Bool { !watches.isEmpty }
    private let clock: FrameClock
    private var frameRuns = false

    private init(handle: UInt64, file: File? = nil, clock: FrameClock = .system) {
        gate = Gate(handle: handle)
        self.file = file
        self.clock = clock
    }

    /// Letting go of the last reference closes the database as `close()` does, on this very thread. Nobody
    /// is left who could be told of a failure.
    deinit {
        watches.end()
        if let handle = gate.openHandle { try? Library.close(handle) }
    }

    /// The library's version, `MAJOR.MINOR.PATCH`.
    public static var version: String { Library.version }

    // MARK: opening and closing

    /// Opens the file at `path`, or makes it; its folder must exist.
    public static func open(path: String, options: Options = []) async throws -> Fenec {
        let handle = try await Workers.shared.run { try Library.open(path: path, flags: options.rawValue) }
        return Fenec(handle: handle, file: File(path: path, options: options))
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
        try memory(clock: .system)
    }

    package static func memory(clock: FrameClock) throws -> Fenec {
        Fenec(handle: try Library.openMemory(), clock: clock)
    }

    /// Ends the live queries, waits for calls under way, makes everything durable and frees the file, which
    /// can be opened again once this returned. A second `close()` waits for the first and does nothing more.
    public func close() async throws {
        var before: Gate.Life?
        repeat {
            await gate.change(from: [.suspending, .resuming, .closing])
            guard gate.life != .closed else { return }
            before = gate.go(from: [.open, .suspended], to: .closing)
        } while before == nil
        watches.end()
        // Closed even where the last write to the disk failed.
        defer { _ = gate.go(from: [.closing], to: .closed) }
        if before == .open { try await closeFile() }
    }

    private func closeFile() async throws {
        await gate.lastCall()
        let handle = gate.handle
        try await Workers.shared.run { try Library.close(handle) }
    }

    // MARK: suspending

    /// Waits for calls under way, makes everything durable and closes the file until ``resume()``: no
    /// descriptor is left open and no lock held. Calls made meanwhile wait.
    ///
    /// For an app whose file lies in a shared container: the system ends a suspended process that holds a
    /// lock there. Does nothing on a database in memory, nor the second time.
    public func suspend() async throws {
        guard file != nil else { return }
        while gate.go(from: [.open], to: .suspending) == nil {
            guard gate.life != .suspended else { return }
            guard gate.life != .closing, gate.life != .closed else { throw FenecError.closed }
            await gate.change(from: [.suspending, .resuming])
        }
        // The file is closed even where the last write to the disk failed.
        defer { _ = gate.go(from: [.suspending], to: .suspended) }
        try await closeFile()
    }

    /// Opens the file again and lets the calls that waited go on. What it throws leaves the database
    /// suspended, so that it may be tried again.
    public func resume() async throws {
        guard let file else { return }
        while gate.go(from: [.suspended], to: .resuming) == nil {
            guard gate.life != .open else { return }
            guard gate.life != .closing, gate.life != .closed else { throw FenecError.closed }
            await gate.change(from: [.suspending, .resuming])
        }
        do {
            let handle = try await Workers.shared.run {
                try Library.open(path: file.path, flags: file.options.rawValue)
            }
            _ = gate.go(from: [.resuming], to: .open, handle: handle)
        } catch {
            _ = gate.go(from: [.resuming], to: .suspended)
            throw error
        }
        watches.catchUp()
        await takeLook()
    }

    // MARK: running text

    /// Runs a text of one statement or several, which land together or not at all, and answers what the
    /// last one answers. `$1` is the first of `params`.
    public nonisolated func run(_ text: String, _ params: any FenecValue...) async throws -> Answer {
        try await run(text, params: Self.values(params))
    }

    /// Runs a text with its parameters in a list.
    public nonisolated func run(_ text: String, params: [Value]) async throws -> Answer {
        try await bytes(text, params).answer()
    }

    /// What a text answers, as it came from the library.
    nonisolated func bytes(_ text: String, _ params: [Value]) async throws -> AnswerBytes {
        try await call(mayWrite: !Statement.isRead(text)) { try Library.query($0, text, params) }
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
        try await bytes(text, Self.values(params)).rows(as: type)
    }

    /// How many documents a text wrote; 0 where it answers something else.
    @discardableResult
    public nonisolated func execute(_ text: String, _ params: any FenecValue...) async throws -> Int {
        try await run(text, params: Self.values(params)).affected
    }

    /// A query of a collection, which is run here. It throws for a bad name alone, and it does not keep the
    /// database open: run after that was let go of, it throws `misuse`.
    public nonisolated func from(_ collection: String) throws -> Query {
        try Query.from(collection).bound(to: self)
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

    /// Links the vectors that are not yet, and makes the file complete by itself and durable.
    public func checkpoint() async throws { try await call { try Library.checkpoint($0) } }

    /// Builds the indexes that an open left for their first use, all or those named (`"notes"`,
    /// `"notes.body"`), reads search indexes from the file, waits until every vector is linked, and
    /// answers how many indexes it built.
    @discardableResult
    public func warm(_ only: [String] = []) async throws -> Int {
        try await call { try Library.warm($0, only) }
    }

    // MARK: calls

    /// Runs `job` on a thread of the package's; nothing else waits meanwhile, but for `close()`.
    nonisolated func call<T: Sendable>(
        mayWrite: @autoclosure () -> Bool = false, _ job: @escaping @Sendable (UInt64) throws -> T
    ) async throws -> T {
        let handle: UInt64
        if let open = try gate.enterNow() { handle = open } else { handle = try await gate.enter() }
        let result = await Workers.shared.result { try job(handle) }
        let isWatched = isWatched
        let mayHaveWritten = isWatched && mayWrite()
        let asks = gate.leave(wroteAt: mayHaveWritten ? clock.now() : nil)
        if isWatched, mayHaveWritten || asks { await askForLook() }
        return try result.get()
    }

    /// The same for what a live query asks; nil where the database is not open.
    private nonisolated func ask<T: Sendable>(
        _ job: @escaping @Sendable (UInt64) throws -> T
    ) async -> Result<T, any Error>? {
        guard let handle = gate.enterUnasked() else { return nil }
        let result = await Workers.shared.result { try job(handle) }
        gate.leaveUnasked()
        return result
    }

    private static func values(_ params: [any FenecValue]) throws -> [Value] {
        try params.map { try $0.fenecValue() }
    }

    // MARK: live queries

    /// One run of a live query; nil where the database is not open.
    nonisolated func run(_ watch: Watch) async -> Watch.Outcome? {
        let watches = watches
        let outcome = await ask { handle in
            let piece = try watch.source.statement.get()
            // Before the query, which so reads all of it.
            let seq = try Library.changes(handle, since: .max).seq
            let owesLook = watches.begins(watch, at: seq)
            return (Result { try Library.query(handle, piece.text, piece.params) }, owesLook)
        }
        switch outcome {
        case nil:
            watch.missesRun()
            return nil
        case .failure(let error):
            return .failure(error)
        case .success((let answer, let owesLook)):
            if owesLook { await askForLook() }
            return answer
        }
    }

    /// Has what was written looked at a frame later, once writes pause: looks asked for meanwhile are one.
    private func askForLook() {
        guard !frameRuns else { return }
        frameRuns = true
        let clock = clock
        Task { [weak self] in
            var left: UInt64? = FrameClock.frame
            while let wait = left {
                await clock.sleep(wait)
                left = await self?.endFrame()
            }
        }
    }

    /// A frame has passed. Nil, or how long to wait because writes go on.
    private func endFrame() async -> UInt64? {
        let passed = clock.now() &- gate.lastWriteEnded
        if passed < FrameClock.pause { return FrameClock.pause - passed }
        frameRuns = false
        if gate.mayLook() { await takeLook() }
        return nil
    }

    private func takeLook() async {
        guard let cursor = watches.cursorOfLook() else { return }
        // What the library cannot tell of is told of by the runs.
        guard case .success(let changes)? = await ask({ try Library.changes($0, since: cursor) }) else { return }
        watches.wake(for: changes)
    }
}
