import Foundation

/// Lines of a file descriptor, as they come.
struct LineReader {
    private static let piece = 1 << 16

    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    private var number = 0

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// The next line without its end, LF or CR LF; nil after the last.
    mutating func next() throws -> String? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                defer { start = end + 1 }
                return try line(to: end)
            }
            if isAtEnd {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return try line(to: buffer.count)
            }
            buffer.removeFirst(start)
            start = 0
            searched = buffer.count
            try readMore()
        }
    }

    private mutating func line(to end: Int) throws -> String {
        number += 1
        let hasReturn = end > start && buffer[end - 1] == 0x0D
        guard let text = String(bytes: buffer[start..<(hasReturn ? end - 1 : end)], encoding: .utf8) else {
            throw CommandError("line \(number) of the input is not UTF-8")
        }
        return text
    }

    private mutating func readMore() throws {
        var bytes = [UInt8](repeating: 0, count: Self.piece)
        while true {
            let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                buffer.append(contentsOf: bytes[..<count])
            } else if count == 0 {
                isAtEnd = true
            } else if errno == EINTR {
                continue
            } else {
                throw CommandError("the input cannot be read: \(String(cString: strerror(errno)))")
            }
            return
        }
    }
}
