import CFenec
import Foundation

/// A word that one thread writes and another waits for, without a lock. What was written before it was set is seen
/// by who finds it set.
///
/// It is a reference to memory of its own, which its owner lets go of.
struct AtomicWord: @unchecked Sendable { // read and written atomically alone
    private let word: UnsafeMutablePointer<UInt>

    init() {
        word = .allocate(capacity: 1)
        word.initialize(to: 0)
    }

    func deallocate() { word.deallocate() }

    var value: UInt { word_load(word) }

    /// What it was before.
    func exchange(_ value: UInt) -> UInt { word_exchange(word, value) }

    /// Sets it where it is `from`, and answers whether it was.
    func turn(from: UInt, to: UInt) -> Bool { word_turn(word, from, to) }

    /// Waits awake, for a short while, until the value is one that is waited for.
    func wait(nanoseconds: UInt64, until isAwaited: (UInt) -> Bool) {
        guard Self.hasManyCores else { return }
        var start: UInt64?
        while true {
            for _ in 0..<64 {
                if isAwaited(value) { return }
                word_pause()
            }
            let now = DispatchTime.now().uptimeNanoseconds
            let waited = now - (start ?? now)
            if waited >= nanoseconds { return }
            start = start ?? now
            // By then the thread waited for may be without a core.
            if waited > Self.patience { sched_yield() }
        }
    }

    /// Whether the thread waited for can run meanwhile.
    static let hasManyCores = ProcessInfo.processInfo.activeProcessorCount > 1
    private static let patience: UInt64 = 10_000
}
