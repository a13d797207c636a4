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
    /// How long a thread without work yields before it sleeps: a task that asks for one row after another
    /// then finds it awake.
    private static let yieldNanoseconds: UInt64 = 40_000

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
        let handOver = HandOver<T>()
        submit { handOver.finish(Result(catching: work)) }
        if let result = handOver.resultSoon() { return result }
        // Resumed once, as every job runs once; the checked kind would cost an allocation a call.
        return await withUnsafeContinuation { handOver.resume($0) }
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
        let end = DispatchTime.now().uptimeNanoseconds + Self.yieldNanoseconds
        while first == waiting.count, DispatchTime.now().uptimeNanoseconds < end {
            condition.unlock()
            sched_yield()
            condition.lock()
        }
        isOneAwake = false
    }
}

/// Where a thread of the pool leaves what a job answered, and the task that asked for it takes it up.
private final class HandOver<T: Sendable>: Sendable {
    typealias Outcome = Result<T, any Error>

    /// How long a task yields its thread before it suspends: a row by its id is there by then, and the task is
    /// spared being put aside and taken up again, which takes longer than the row.
    private static var yieldNanoseconds: UInt64 { 10_000 }

    private enum State {
        case running
        case suspended(UnsafeContinuation<Outcome, Never>)
        case finished(Outcome)
    }
    private let state = Locked(State.running)

    func finish(_ outcome: Outcome) {
        let suspended = state.withLock { state -> UnsafeContinuation<Outcome, Never>? in
            defer { state = .finished(outcome) }
            if case .suspended(let continuation) = state { return continuation }
            return nil
        }
        suspended?.resume(returning: outcome)
    }

    /// The outcome, where it comes at once.
    func resultSoon() -> Outcome? {
        let end = DispatchTime.now().uptimeNanoseconds + Self.yieldNanoseconds
        repeat {
            sched_yield()
            if case .finished(let outcome) = state.withLock({ $0 }) { return outcome }
        } while DispatchTime.now().uptimeNanoseconds < end
        return nil
    }

    func resume(_ continuation: UnsafeContinuation<Outcome, Never>) {
        let finished = state.withLock { state -> Outcome? in
            if case .finished(let outcome) = state { return outcome }
            state = .suspended(continuation)
            return nil
        }
        if let finished { continuation.resume(returning: finished) }
    }
}
