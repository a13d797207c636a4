import Foundation

/// Threads for calls of the library, which wait for locks and for the disk and so must not run on a
/// thread of Swift's cooperative pool.
///
/// A call that finds no thread idle starts one: a read must not queue behind another read. Threads that
/// had nothing to do for a while end.
final class Workers: @unchecked Sendable { // everything mutable is guarded by `condition`, but for `slot`
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

    private let condition = NSCondition()
    private var waiting: [Job] = [] // from `first` on
    private var first = 0
    private var asleep = 0
    private var threads = 0

    /// Where a thread that is awake is handed a job without the lock. `open`: one waits there; the address of a job,
    /// retained: for it; `closed`: none waits. Only who turns it from `open` hands over, and whoever takes a job
    /// out of it - a thread, or the call that finds it not begun - closes it. Of the one pool there is, and so kept.
    private let slot = AtomicWord()
    private static let closed: UInt = 0
    private static let open: UInt = 1

    /// Runs `work` on a thread of the pool and suspends the caller until it is done.
    func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await result(work).get()
    }

    /// The same, with what it throws in the result.
    func result<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async -> Result<T, any Error> {
        let call = Call(work)
        if let address = handOver(call) {
            if let outcome = call.outcomeSoon() { return outcome }
            // The thread that was awake may be so without a core to itself.
            if takeBack(call, address) { queue(call) }
        } else {
            queue(call)
        }
        while true {
            if let outcome = call.outcomeNow() { return outcome }
            // Resumed once, as every job runs once; the checked kind would cost an allocation a call.
            await withUnsafeContinuation { call.resume($0) }
        }
    }

    /// Gives the job to the thread that is awake; nil where there is none.
    private func handOver(_ job: Job) -> UInt? {
        guard slot.value == Self.open else { return nil }
        let retained = Unmanaged.passRetained(job)
        let address = UInt(bitPattern: retained.toOpaque())
        if slot.turn(from: Self.open, to: address) { return address }
        retained.release()
        return nil
    }

    /// True where the job had not begun, and will not.
    private func takeBack(_ job: Job, _ address: UInt) -> Bool {
        guard slot.turn(from: address, to: Self.closed) else { return false }
        Unmanaged.passUnretained(job).release()
        return true
    }

    private func queue(_ job: Job) {
        condition.lock()
        waiting.append(job)
        let needsThread = waiting.count - first > asleep && threads < Self.limit
        if needsThread { threads += 1 } else { condition.signal() }
        condition.unlock()
        if needsThread { start() }
    }

    private func start() {
        let thread = Thread { [self] in
            while let job = next() { job.run() }
        }
        thread.name = "FenecDB"
        thread.stackSize = Self.stackBytes
        thread.start()
    }

    /// The next job; nil ends the thread that asks.
    private func next() -> Job? {
        condition.lock()
        if first == waiting.count, AtomicWord.hasManyCores, slot.turn(from: Self.closed, to: Self.open) {
            condition.unlock()
            if let job = awaitJob() { return job }
            condition.lock()
        }
        defer { condition.unlock() }
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
        }
        return job
    }

    /// Waits at the open slot for a while. Closed by the call that took its job back, it may have been opened by
    /// another thread since: that one finds it closed, or its job gone, and looks at the queue.
    private func awaitJob() -> Job? {
        slot.wait(nanoseconds: Self.awakeNanoseconds) { $0 != Self.open }
        guard let job = UnsafeRawPointer(bitPattern: slot.exchange(Self.closed) & ~Self.open) else { return nil }
        return Unmanaged<Job>.fromOpaque(job).takeRetainedValue()
    }
}

/// What a thread of the pool is to do, once.
private class Job: @unchecked Sendable { // all it holds is its subclass's
    func run() {}
}

/// A call: what to do, and where a thread of the pool leaves what came of it for the task that asked for it.
///
/// Sendable by its state: who sets it has written what belongs to it before, and who finds it set reads that.
private final class Call<T: Sendable>: Job, @unchecked Sendable {
    typealias Outcome = Result<T, any Error>

    /// How long a task keeps its thread before it suspends: a row by its id is there by then, and the task is
    /// spared being put aside and taken up again, which takes longer than the row.
    private static var keptNanoseconds: UInt64 { 10_000 }
    private static var isBegun: UInt { 0 }
    private static var isSuspended: UInt { 1 }
    private static var isFinished: UInt { 2 }

    private let work: @Sendable () throws -> T
    private let state = AtomicWord()
    private var outcome: Outcome? // with `isFinished`
    private var continuation: UnsafeContinuation<Void, Never>? // with `isSuspended`

    init(_ work: @escaping @Sendable () throws -> T) { self.work = work }

    deinit { state.deallocate() }

    override func run() {
        do { outcome = .success(try work()) } catch { outcome = .failure(error) }
        if state.exchange(Self.isFinished) == Self.isSuspended { continuation?.resume() }
    }

    /// The outcome, where it comes at once.
    func outcomeSoon() -> Outcome? {
        state.wait(nanoseconds: Self.keptNanoseconds) { $0 == Self.isFinished }
        return outcomeNow()
    }

    func outcomeNow() -> Outcome? { state.value == Self.isFinished ? outcome : nil }

    /// Has the task go on once there is an outcome.
    func resume(_ continuation: UnsafeContinuation<Void, Never>) {
        self.continuation = continuation
        if !state.turn(from: Self.isBegun, to: Self.isSuspended) { continuation.resume() }
    }
}
