import Foundation

/// The time by which live queries wait a frame after a write, so that a burst of writes is one.
package struct FrameClock: Sendable {
    /// A frame at 60 Hz.
    static let frame: UInt64 = 16_000_000
    /// The pause that ends a burst: writes that follow one another sooner belong together.
    static let pause: UInt64 = 10_000_000

    /// Nanoseconds, from any start.
    let now: @Sendable () -> UInt64
    let sleep: @Sendable (_ nanoseconds: UInt64) async -> Void

    package init(now: @escaping @Sendable () -> UInt64, sleep: @escaping @Sendable (UInt64) async -> Void) {
        self.now = now
        self.sleep = sleep
    }

    package static let system = FrameClock(
        now: { DispatchTime.now().uptimeNanoseconds }, sleep: { try? await Task.sleep(nanoseconds: $0) })
}
