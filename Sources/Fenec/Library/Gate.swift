/// Lets calls through to the library while a database is open, and counts them: whoever closes it, or looks
/// at what was written, waits for those under way.
///
/// Behind a lock and not on an actor: a call enters and leaves without a hop.
final class Gate: Sendable {
    enum Life { case open, suspending, suspended, resuming, closing, closed }

    private struct State {
        var life = Life.open
        var handle: UInt64 // another one as the file is opened again
        var lifeChange: [CheckedContinuation<Void, Never>] = []
        /// Calls under way: the app's, and among all also what live queries ask by themselves.
        var ofApp = 0
        var all = 0
        var lastCallEnded: CheckedContinuation<Void, Never>?
        /// A look found calls under way; the last of them asks for it again.
        var owesLook = false
        var lastWriteEnded: UInt64 = 0
    }
    private let state: Locked<State>

    init(handle: UInt64) { state = Locked(State(handle: handle)) }

    var life: Life { state.withLock { $0.life } }

    var handle: UInt64 { state.withLock { $0.handle } }

    /// The handle, where the library has it open.
    var openHandle: UInt64? { state.withLock { $0.life == .open ? $0.handle : nil } }

    // MARK: calls

    /// The handle, for a call that ``leave(wroteAt:)`` ends. Waits while the database is suspended.
    func enter() async throws -> UInt64 {
        while true {
            if let handle = try enterNow() { return handle }
            await change(from: [.suspending, .suspended, .resuming])
        }
    }

    /// The same at once; nil while the database is suspended.
    func enterNow() throws -> UInt64? {
        try state.withLock { state in
            switch state.life {
            case .open:
                state.ofApp += 1
                state.all += 1
                return state.handle
            case .suspending, .suspended, .resuming: return nil
            case .closing, .closed: throw FenecError.closed
            }
        }
    }

    /// True where a look is owed and this call was the last that it waited for.
    func leave(wroteAt time: UInt64?) -> Bool {
        let (last, asks) = state.withLock { state in
            state.ofApp -= 1
            if let time { state.lastWriteEnded = time }
            let asks = state.owesLook && state.ofApp == 0
            if asks { state.owesLook = false }
            return (Self.leave(&state), asks)
        }
        last?.resume()
        return asks
    }

    /// The handle, for a call of a live query's that ``leaveUnasked()`` ends; nil where the database is not open.
    func enterUnasked() -> UInt64? {
        state.withLock { state in
            guard state.life == .open else { return nil }
            state.all += 1
            return state.handle
        }
    }

    func leaveUnasked() { state.withLock { Self.leave(&$0) }?.resume() }

    private static func leave(_ state: inout State) -> CheckedContinuation<Void, Never>? {
        state.all -= 1
        guard state.all == 0 else { return nil }
        defer { state.lastCallEnded = nil }
        return state.lastCallEnded
    }

    /// Whether a look may be taken: no call of the app's is under way. Otherwise the last of them asks again.
    func mayLook() -> Bool {
        state.withLock { state in
            state.owesLook = state.ofApp > 0
            return !state.owesLook
        }
    }

    var lastWriteEnded: UInt64 { state.withLock { $0.lastWriteEnded } }

    // MARK: life

    /// Goes from one of some lives to another, and answers which it was; nil where it was none of them.
    func go(from lives: [Life], to next: Life, handle: UInt64? = nil) -> Life? {
        let (before, waiting) = state.withLock { state -> (Life?, [CheckedContinuation<Void, Never>]) in
            guard lives.contains(state.life) else { return (nil, []) }
            defer {
                state.life = next
                state.lifeChange = []
                if let handle { state.handle = handle }
            }
            return (state.life, state.lifeChange)
        }
        for continuation in waiting { continuation.resume() }
        return before
    }

    /// Waits while the life is one of some.
    func change(from lives: [Life]) async {
        while lives.contains(life) {
            await withCheckedContinuation { continuation in
                let hasChanged = state.withLock { state in
                    guard lives.contains(state.life) else { return true }
                    state.lifeChange.append(continuation)
                    return false
                }
                if hasChanged { continuation.resume() }
            }
        }
    }

    /// Waits for the calls under way; none may enter meanwhile.
    func lastCall() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                guard state.all > 0 else { return true }
                state.lastCallEnded = continuation
                return false
            }
            if isIdle { continuation.resume() }
        }
    }
}
