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

    /// How often a thread without work yields before it sleeps: a task that asks for one row after another
    /// then finds it awake. Some tens of microseconds.
    private static let yields = 100

    private let condition = NSCondition()
    private var waiting: [@Sendable () -> Void] = [] // from `first` on
    private var first = 0
    private var asleep = 0
    private var isOneAwake = false // without work: it yields, and takes the next job without a signal
    private var threads = 0

    /// Runs `work` on a thread of the pool and suspends the caller until it is done.
    func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await result(work).get()
    }

    /// The same, with what it throws in the result.
    func result<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async -> Result<T, any Error> {
        // Resumed once, as every job runs once; the checked kind would cost an allocation a call.
        await withUnsafeContinuation { continuation in
            submit { continuation.resume(returning: Result(catching: work)) }
        }
    }

    private func submit(_ job: @escaping @Sendable () -> Void) {
        condition.lock()
        waiting.append(job)
        let others = waiting.count - first - (isOneAwake ? 1 : 0)
        let needsThread = others > asleep && threads < Self.limit
        if needsThread {
            threads += 1
        } else if others > 0 {
            condition.signal()
        }
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
        yieldForAWhile()
        let deadline = Date(timeIntervalSinceNow: Self.idleSeconds)
        while first == waiting.count {
            asleep += 1
            let wasWoken = condition.wait(until: deadline)
            asleep -= 1
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

    /// With the lock held, as it is again afterwards.
    private func yieldForAWhile() {
        guard first == waiting.count, !isOneAwake else { return }
        isOneAwake = true
        for _ in 0..<Self.yields where first == waiting.count {
            condition.unlock()
            sched_yield()
            condition.lock()
        }
        isOneAwake = false
    }
}
