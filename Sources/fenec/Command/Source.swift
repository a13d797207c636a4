import Foundation

/// Data to import, unchanging: a file mapped into memory, or what a pipe delivered until it ended.
///
/// Not `Data`, whose elements cost a checked access each.
final class Source: @unchecked Sendable { // `bytes` is never written
    let bytes: UnsafeBufferPointer<UInt8>
    private let isMapped: Bool

    /// nil: standard input.
    init(path: String?) throws {
        let name = path ?? "standard input"
        let descriptor = path.map { open($0, O_RDONLY | O_CLOEXEC) } ?? 0
        guard descriptor >= 0 else { throw Self.refused(name) }
        defer { if path != nil { close(descriptor) } }
        var about = stat()
        guard fstat(descriptor, &about) == 0 else { throw Self.refused(name) }
        if path != nil, about.st_mode & S_IFMT == S_IFREG, about.st_size > 0 {
            guard let size = Int(exactly: about.st_size),
                let start = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), start != MAP_FAILED
            else { throw Self.refused(name) }
            bytes = UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: size)
            isMapped = true
        } else {
            bytes = try Self.copy(Self.everything(of: descriptor, name))
            isMapped = false
        }
    }

    init(text: String) {
        bytes = Self.copy(Array(text.utf8))
        isMapped = false
    }

    deinit {
        if isMapped {
            munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
        } else {
            bytes.deallocate()
        }
    }

    private static func copy(_ bytes: [UInt8]) -> UnsafeBufferPointer<UInt8> {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = copy.initialize(from: bytes)
        return UnsafeBufferPointer(copy)
    }

    private static func everything(of descriptor: Int32, _ name: String) throws -> [UInt8] {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = piece.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                all += piece[..<count]
            } else if count == 0 {
                return all
            } else if errno != EINTR {
                throw refused(name)
            }
        }
    }

    private static func refused(_ name: String) -> CommandError {
        CommandError("\(name) cannot be read: \(String(cString: strerror(errno)))")
    }
}
