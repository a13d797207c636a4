import Foundation

/// Bytes for a file descriptor, gathered. A write that fails is told by the next `flush()`.
struct Output {
    static var standard: Output { Output(descriptor: 1) }
    private static let gathered = 1 << 16

    let descriptor: Int32
    private var buffer: [UInt8] = []
    private var failure: Int32 = 0

    init(descriptor: Int32) { self.descriptor = descriptor }

    mutating func write(_ text: String) {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= Self.gathered { drain() }
    }

    mutating func flush() throws {
        drain()
        if failure != 0 {
            throw CommandError("the output cannot be written: \(String(cString: strerror(failure)))")
        }
    }

    private mutating func drain() {
        var start = 0
        while start < buffer.count, failure == 0 {
            let written = buffer.withUnsafeBytes { bytes in
                Foundation.write(descriptor, bytes.baseAddress! + start, bytes.count - start)
            }
            if written >= 0 {
                start += written
            } else if errno != EINTR {
                failure = errno
            }
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
