import CFenec

/// An answer of the library as it came: JSON that is the library's until it is let go of.
final class AnswerBytes: @unchecked Sendable { // never written; freed with the last reference
    private let start: UnsafeMutablePointer<CChar>?
    private let count: Int

    /// Takes over what a call handed out.
    init(start: UnsafeMutablePointer<CChar>?, count: Int) {
        self.start = start
        self.count = start == nil ? 0 : count
    }

    deinit { fenec_free_string(start) }

    func withBytes<T>(_ body: (UnsafeBufferPointer<UInt8>) throws -> T) rethrows -> T {
        let raw = start.map { UnsafeRawPointer($0).assumingMemoryBound(to: UInt8.self) }
        return try body(UnsafeBufferPointer(start: raw, count: count))
    }

    func answer() throws -> Answer { try withBytes(Answer.init(json:)) }

    /// The rows, each decoded by the names of its fields; none for another kind of answer.
    func rows<T: Decodable>(as type: T.Type) throws -> [T] {
        if let rows = try withBytes({ try RowScanner.decode(type, from: $0) }) { return rows }
        return try answer().rows.map { try $0.decode(as: type) }
    }
}
