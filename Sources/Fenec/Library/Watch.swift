/// One live query at work: it runs when it is told to, one run after another, and tells each outcome in the
/// order of the runs.
///
/// It does not keep its database: the database has it in its ``Watches``, and ends it as it goes.
final class Watch: Sendable {
    typealias Outcome = Result<AnswerBytes, any Error>

    /// What runs, or why it cannot.
    struct Source: Sendable {
        let statement: Result<Piece, any Error>
        /// The collections whose writes are of interest; nil: every write is.
        let reads: [String]?

        init(_ query: Query) {
            statement = Result {
                let (text, params) = try query.toFenecQL()
                return Piece(text: text, params: params)
            }
            reads = query.reads
        }

        init(_ text: String, params: [Value], collections: [String]?) {
            statement = .success(Piece(text: text, params: params))
            reads = collections
        }
    }

    private struct State {
        var hasStopped = false
        /// What the change counter showed as the last run began: what was written until then it has read.
        var seen: UInt64?
        /// A run came while the database was suspended.
        var missedRun = false
        var end: (@Sendable () -> Void)?
    }

    let source: Source
    private let state = Locked(State())
    /// Runs asked for while one is under way are one. A signal names the count of changes that its run has
    /// to have read; nil asks for a run whatever was read before.
    private let signals: AsyncStream<UInt64?>
    private let signal: AsyncStream<UInt64?>.Continuation

    init(_ source: Source) {
        self.source = source
        (signals, signal) = AsyncStream.makeStream(of: UInt64?.self, bufferingPolicy: .bufferingNewest(1))
    }

    var hasStopped: Bool { state.withLock { $0.hasStopped } }

    /// Begins with a run at once. `tell` answers whether to go on; `end` is called where the database ends
    /// the query, and not where ``stop()`` does.
    func start(
        on db: Fenec, tell: @escaping @Sendable (Outcome) async -> Bool, end: @escaping @Sendable () -> Void
    ) {
        state.withLock { $0.end = $0.hasStopped ? nil : end }
        let isOpen = db.watches.add(self)
        signal.yield(nil)
        Task { [weak db] in
            for await wanted in signals where needsRun(wanted) {
                guard !hasStopped else { break } // one signal may be left
                let outcome: Outcome?
                if case .failure(let error) = source.statement {
                    outcome = .failure(error)
                } else if isOpen {
                    outcome = await db?.run(self)
                } else {
                    outcome = .failure(FenecError.closed)
                }
                guard let outcome else { continue }
                guard !hasStopped, await tell(outcome), isOpen, (try? source.statement.get()) != nil else { break }
            }
            stop()
            db?.watches.remove(self)
        }
    }

    /// No run after this one, and what one under way answers is dropped.
    func stop() {
        state.withLock {
            $0.hasStopped = true
            $0.end = nil
        }
        signal.finish()
    }

    /// As ``stop()``, by the database.
    func end() {
        let end = state.withLock { state in
            defer { state.end = nil }
            state.hasStopped = true
            return state.end
        }
        signal.finish()
        end?()
    }

    // MARK: runs

    /// Asks for a run that reads everything up to a number of the change counter.
    func wake(toRead seq: UInt64?) { signal.yield(seq) }

    func begins(at seq: UInt64) { state.withLock { $0.seen = seq } }

    func missesRun() { state.withLock { $0.missedRun = true } }

    func catchUp() {
        let missed = state.withLock { state in
            defer { state.missedRun = false }
            return state.missedRun
        }
        if missed { wake(toRead: nil) }
    }

    func isTouched(by changes: Changes) -> Bool {
        guard let written = changes.collections, let reads = source.reads else { return changes.collections != [] }
        return written.contains { name in reads.contains { $0.isSame(as: name) } }
    }

    private func needsRun(_ wanted: UInt64?) -> Bool {
        guard let wanted else { return true }
        return state.withLock { ($0.seen ?? 0) < wanted }
    }
}
