/// What a text of FenecQL shows at its first word.
enum Statement {
    private static let reads = ["get", "select", "explain", "collections", "describe"]

    /// Whether it surely writes nothing: one statement that is a read. False where a look at the beginning
    /// does not tell.
    static func isRead(_ text: String) -> Bool {
        let start = text.utf8.drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        let word = start.prefix { $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") }
        return !start.contains(UInt8(ascii: ";")) && reads.contains(String(decoding: word, as: UTF8.self).lowercased())
    }
}
