import Foundation

/// Threads for calls of the library, which wait for locks and for the disk and so must not run on a
/// thread of Swift's cooperative pool.
///
/// A call that finds no thread idle starts one: a read must not queue behind another read. Threads that
/// had nothing to do for a while end.
final class Workers: @unchecked Sendable { // everything mutable is guarded by `condition`, but for `hasWork`
    static let shared = Workers()

    /// More threads than calls that can do anything at once: past it they queue for a thread instead of
    /// for a lock. Every wait inside the library is bounded by calls that have a thread, so none is stuck.
    private static let limit = 256
    private static let idleSeconds = 10.0
    /// The parser's recursion is bounded for a stack of this size; Apple's own threads get 512 KiB.
    private static let stackBytes = 4 << 20
    /// How long a thread without work stays awake: a task that asks for one row after another then finds it so,
    /// and need not have it woken.
    private static let awakeNanoseconds: UInt64 = 20_000

    private typealias Job = @Sendable () -> Void

    private let condition = NSCondition()
    private var waiting: [Job] = [] // from `first` on
    private var first = 0
    private var asleep = 0
    private var isOneAwake = false // without work: it takes the next job without a signal
    private var threads = 0
    /// Whether there may be a job: what the thread that is awake looks at, without taking the lock.
    private let hasWork = AtomicWord() // 0 or 1; of the one pool there is, and so kept

    /// Runs `work` on a thread of the pool and suspends the caller until it is done.
    func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await result(work).get()
    }

    /// The same, with what it throws in the result.
    func result<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async -> Result<T, any Error> {
        let handOver = HandOver<T>()
        let isTaken = submit {
            do { handOver.finish(.success(try work())) } catch { handOver.finish(.failure(error)) }
        }
        if isTaken {
            if let outcome = handOver.outcomeSoon() { return outcome }
            wakeAnother()
        }
        // Resumed once, as every job runs once; the checked kind would cost an allocation a call.
        return await withUnsafeContinuation { handOver.resume($0) }
    }

    /// True where a thread that is awake takes the job at once.
    private func submit(_ job: @escaping Job) -> Bool {
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
        // After the lock was let go of, or the thread that sees it would have to wait for the lock.
        hasWork.set(1)
        if needsThread { start() }
        return others == 0
    }

    private func start() {
        let thread = Thread { [self] in
            while let job = next() { job() }
        }
        thread.name = "FenecDB"
        thread.stackSize = Self.stackBytes
        thread.start()
    }

    /// The thread that is awake may be so without a core to itself.
    private func wakeAnother() {
        condition.lock()
        if first < waiting.count, asleep > 0 { condition.signal() }
        condition.unlock()
    }

    /// The next job; nil ends the thread that asks.
    private func next() -> Job? {
        condition.lock()
        defer { condition.unlock() }
        stayAwakeForAWhile()
        while first == waiting.count {
            asleep += 1
            let wasWoken = condition.wait(until: Date(timeIntervalSinceNow: Self.idleSeconds))
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
            hasWork.set(0)
        }
        return job
    }

    /// With the lock held, as it is again afterwards.
    private func stayAwakeForAWhile() {
        guard first == waiting.count, !isOneAwake else { return }
        isOneAwake = true
        condition.unlock()
        _ = hasWork.wait(for: 1, nanoseconds: Self.awakeNanoseconds)
        condition.lock()
        isOneAwake = false
    }
}

/// Where a thread of the pool leaves what a job answered, and the task that asked for it takes it up.
///
/// Sendable by its state: who sets it has written what belongs to it before, and who finds it set reads that.
private final class HandOver<T: Sendable>: @unchecked Sendable {
    typealias Outcome = Result<T, any Error>

    /// How long a task keeps its thread before it suspends: a row by its id is there by then, and the task is
    /// spared being put aside and taken up again, which takes longer than the row.
    private static var keptNanoseconds: UInt64 { 10_000 }
    private static var isSuspended: UInt32 { 1 }
    private static var isFinished: UInt32 { 2 }

    private let state = AtomicWord()
    private var outcome: Outcome? // with `isFinished`
    private var continuation: UnsafeContinuation<Outcome, Never>? // with `isSuspended`

    deinit { state.deallocate() }

    func finish(_ outcome: Outcome) {
        self.outcome = outcome
        if state.exchange(Self.isFinished) == Self.isSuspended { continuation?.resume(returning: outcome) }
    }

    /// The outcome, where it comes at once.
    func outcomeSoon() -> Outcome? {
        state.wait(for: Self.isFinished, nanoseconds: Self.keptNanoseconds) ? outcome : nil
    }

    func resume(_ continuation: UnsafeContinuation<Outcome, Never>) {
        self.continuation = continuation
        if state.exchange(Self.isSuspended) == Self.isFinished, let outcome {
            continuation.resume(returning: outcome)
        }
    }
}
