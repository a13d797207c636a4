import Foundation

/// A value behind a lock. What runs under it is short and never the caller's.
final class Locked<State>: @unchecked Sendable { // `state` is touched by `withLock` alone
    private let lock = NSLock()
    private var state: State

    init(_ state: State) { self.state = state }

    func withLock<T>(_ body: (inout State) throws -> T) rethrows -> T {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}
