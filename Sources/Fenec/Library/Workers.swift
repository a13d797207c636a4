import Foundation

/// Threads for calls of the library, which wait for locks and for the disk and so must not run on a
/// thread of Swift's cooperative pool.
///
/// A call that finds no thread idle starts one: a read must not queue behind another read. Threads that
/// had nothing to do for a while end.
final class Workers: @unchecked Sendable { // everything mutable is guarded by `condition`
    static let shared = Workers()

    /// More threads than calls that can do anything at once: past it they queue for a thread instead of
    /// for a lock. Every wait inside the library is bounded by calls that have a thread, so none is stuck.
    private static let limit = 256
    private static let idleSeconds = 10.0
    /// The parser's recursion is bounded for a stack of this size; Apple's own threads get 512 KiB.
    private static let stackBytes = 4 << 20

    private let condition = NSCondition()
    private var waiting: [@Sendable () -> Void] = [] // from `first` on
    private var first = 0
    private var idle = 0
    private var threads = 0

    /// Runs `work` on a thread of the pool and suspends the caller until it is done.
    func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            submit { continuation.resume(with: Result(catching: work)) }
        }
    }

    private func submit(_ job: @escaping @Sendable () -> Void) {
        condition.lock()
        waiting.append(job)
        let needsThread = waiting.count - first > idle && threads < Self.limit
        if needsThread { threads += 1 } else { condition.signal() }
        condition.unlock()
        if needsThread { start() }
    }

    private func start() {
        let thread = Thread { [self] in
            while let job = next() { job() }
        }
        thread.name = "FenecDB"
        thread.stackSize = Self.stackBytes
        thread.start()
    }

    /// The next job; nil ends the thread that asks.
    private func next() -> (@Sendable () -> Void)? {
        condition.lock()
        defer { condition.unlock() }
        let deadline = Date(timeIntervalSinceNow: Self.idleSeconds)
        while first == waiting.count {
            idle += 1
            let wasWoken = condition.wait(until: deadline)
            idle -= 1
            if !wasWoken, first == waiting.count {
                threads -= 1
                return nil
            }
        }
        let job = waiting[first]
        first += 1
        if first == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            first = 0
        }
        return job
    }
}
