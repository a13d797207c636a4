import CFenec
import Foundation

/// A small number that one thread writes and another waits for, without a lock.
///
/// It is a reference to memory of its own, which its owner lets go of.
struct AtomicWord: @unchecked Sendable { // read and written atomically alone
    private let word: UnsafeMutablePointer<UInt32>

    init() {
        word = .allocate(capacity: 1)
        word.initialize(to: 0)
    }

    func deallocate() { word.deallocate() }

    var value: UInt32 { word_load(word) }
    func set(_ value: UInt32) { word_store(word, value) }

    /// What it was before.
    func exchange(_ value: UInt32) -> UInt32 { word_exchange(word, value) }

    /// Waits awake, for a short while, until it has a value, and answers whether it has.
    func wait(for value: UInt32, nanoseconds: UInt64) -> Bool {
        guard Self.hasManyCores else { return self.value == value }
        var start: UInt64?
        while true {
            for _ in 0..<64 {
                if self.value == value { return true }
                word_pause()
            }
            let now = DispatchTime.now().uptimeNanoseconds
            let waited = now - (start ?? now)
            if waited >= nanoseconds { return self.value == value }
            start = start ?? now
            // By then the thread waited for may be without a core.
            if waited > Self.patience { sched_yield() }
        }
    }

    private static let hasManyCores = ProcessInfo.processInfo.activeProcessorCount > 1
    private static let patience: UInt64 = 5_000
}
