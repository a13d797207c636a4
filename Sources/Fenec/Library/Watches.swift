/// The live queries of one database, and the place in its changes up to which they have been told.
final class Watches: Sendable {
    private struct State {
        var all: [ObjectIdentifier: Watch] = [:]
        /// From where to ask for changes; nil before the first run of the first query has begun.
        var cursor: UInt64?
        /// A look came before there was a cursor.
        var owesLook = false
        var hasEnded = false
    }
    private let state = Locked(State())

    var isEmpty: Bool { state.withLock { $0.all.isEmpty } }

    /// False where the database was closed.
    func add(_ watch: Watch) -> Bool {
        state.withLock { state in
            guard !state.hasEnded else { return false }
            state.all[ObjectIdentifier(watch)] = watch
            return true
        }
    }

    func remove(_ watch: Watch) {
        state.withLock { state in
            state.all[ObjectIdentifier(watch)] = nil
            if state.all.isEmpty {
                state.cursor = nil
                state.owesLook = false
            }
        }
    }

    /// Ends all of them, and those that come later too.
    func end() {
        let ended = state.withLock { state in
            defer { state.all = [:] }
            state.hasEnded = true
            return Array(state.all.values)
        }
        for watch in ended { watch.end() }
    }

    // MARK: runs and looks

    /// A run reads everything up to `seq`. True where a look is owed, which can be taken now.
    func begins(_ watch: Watch, at seq: UInt64) -> Bool {
        watch.begins(at: seq)
        return state.withLock { state in
            guard state.cursor == nil, state.all[ObjectIdentifier(watch)] != nil else { return false }
            defer { state.owesLook = false }
            state.cursor = seq
            return state.owesLook
        }
    }

    /// From where a look asks; nil where it has nothing to ask.
    func cursorOfLook() -> UInt64? {
        state.withLock { state in
            state.owesLook = state.cursor == nil && !state.all.isEmpty
            return state.cursor
        }
    }

    /// Wakes the queries that what a look found is of interest to.
    func wake(for changes: Changes) {
        let touched = state.withLock { state in
            state.cursor = state.cursor.map { max($0, changes.seq) }
            return state.all.values.filter { $0.isTouched(by: changes) }
        }
        for watch in touched { watch.wake(toRead: changes.seq) }
    }

    /// After a suspension: what ought to have run meanwhile runs.
    func catchUp() {
        for watch in state.withLock({ Array($0.all.values) }) { watch.catchUp() }
    }
}
