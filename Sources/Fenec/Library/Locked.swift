import Foundation

/// A value behind a lock. What runs under it is short and never the caller's.
final class Locked<State>: @unchecked Sendable { // `state` is touched by `withLock` alone
    // A mutex of the system's and no NSLock, which is an object of its own: there is one a call.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var state: State

    init(_ state: State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @inline(__always)
    func withLock<T>(_ body: (inout State) throws -> T) rethrows -> T {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
