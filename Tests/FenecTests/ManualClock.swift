import FenecDB
import Foundation

/// Time that moves as a test says.
final class ManualClock: @unchecked Sendable { // everything mutable is guarded by `lock`
    private let lock = NSLock()
    private var now: UInt64 = 1_000_000_000
    private var sleepers: [(deadline: UInt64, wake: CheckedContinuation<Void, Never>)] = []
    private var ticks: [CheckedContinuation<Void, Never>] = []
    private var started = 0

    var clock: FrameClock {
        FrameClock(
            now: { self.locked { self.now } },
            sleep: { nanoseconds in
                await withCheckedContinuation { wake in
                    self.settle {
                        self.started += 1
                        self.sleepers.append((self.now + nanoseconds, wake))
                    }
                }
            })
    }

    /// How many frames have begun.
    var frames: Int { locked { started } }

    /// Lets the frame that runs pass, or the next where none does.
    func tick() async {
        await withCheckedContinuation { tick in settle { self.ticks.append(tick) } }
    }

    private func settle(_ change: () -> Void) {
        var woken: [CheckedContinuation<Void, Never>] = []
        locked {
            change()
            guard let tick = ticks.first, let sleeper = sleepers.first else { return }
            ticks.removeFirst()
            sleepers.removeFirst()
            now = max(now, sleeper.deadline)
            woken = [sleeper.wake, tick]
        }
        for continuation in woken { continuation.resume() }
    }

    private func locked<T>(_ body: () -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }
}
