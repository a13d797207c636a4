#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Decodes the rows of an answer from its bytes, without a tree of values between.
///
/// A row is scanned once for where its fields lie, and its scalars are read from there as they are asked for.
/// Whatever is not plain - a list, an object, an escape in a text, a number where text is wanted - is read
/// into a ``Value`` and decoded as every other is, errors included.
final class RowScanner {
    private struct Field {
        /// Between the quotes.
        var key: Range<Int>
        /// The whole value, quotes and brackets included.
        var value: Range<Int>
        var hasEscape: Bool
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var at: Int
    private var fields: [Field] = []
    /// Where the next key asked for is likely to be: behind the one before.
    private var likely = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>, at: Int) {
        self.bytes = bytes
        self.at = at
    }

    /// The rows of an answer; nil where it has another form than this reads.
    static func decode<T: Decodable>(_ type: T.Type, from bytes: UnsafeBufferPointer<UInt8>) throws -> [T]? {
        let head = "{\"kind\":\"rows\",\"result\":{\"columns\":["
        // Types that are decoded from a form of their own.
        guard type != Row.self, type != Value.self, bytes.starts(with: head.utf8) else { return nil }
        let scanner = RowScanner(bytes, at: head.utf8.count - 1)
        guard scanner.skipValue() != nil, scanner.skip(",\"rows\":[") else { return nil }
        var rows: [T] = []
        if scanner.take(UInt8(ascii: "]")) { return rows }
        repeat {
            let start = scanner.at
            guard scanner.scanRow() else { return nil }
            // The decoder is good until the next row is scanned.
            rows.append(try type.init(from: RowDecoder(row: scanner, whole: start..<scanner.at)))
        } while scanner.take(UInt8(ascii: ","))
        return scanner.take(UInt8(ascii: "]")) ? rows : nil
    }

    // MARK: scanning

    /// False where no object lies here, or one with an escape in a key.
    private func scanRow() -> Bool {
        fields.removeAll(keepingCapacity: true)
        likely = 0
        guard take(UInt8(ascii: "{")) else { return false }
        if take(UInt8(ascii: "}")) { return true }
        repeat {
            guard take(UInt8(ascii: "\"")) else { return false }
            let start = at
            guard skipString() == false, take(UInt8(ascii: ":")) else { return false }
            let key = start..<at - 2
            let value = at
            guard let hasEscape = skipValue() else { return false }
            fields.append(Field(key: key, value: value..<at, hasEscape: hasEscape))
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}"))
    }

    private func take(_ byte: UInt8) -> Bool {
        guard at < bytes.count, bytes[at] == byte else { return false }
        at += 1
        return true
    }

    private func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard at + count <= bytes.count, memcmp(bytes.baseAddress! + at, text.utf8Start, count) == 0 else {
            return false
        }
        at += count
        return true
    }

    /// The rest of a string whose quote was taken: whether it holds an escape, nil where it has no end.
    private func skipString() -> Bool? {
        var hasEscape = false
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""):
                at += 1
                return hasEscape
            case UInt8(ascii: "\\"):
                hasEscape = true
                at += 2
            default: at += 1
            }
        }
        return nil
    }

    /// One value of any depth: whether it is a text with an escape, nil where it has no end.
    private func skipValue() -> Bool? {
        guard at < bytes.count else { return nil }
        switch bytes[at] {
        case UInt8(ascii: "\""):
            at += 1
            return skipString()
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            var depth = 0
            while at < bytes.count {
                let byte = bytes[at]
                at += 1
                switch byte {
                case UInt8(ascii: "\""):
                    guard skipString() != nil else { return nil }
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"):
                    depth -= 1
                    if depth == 0 { return false }
                default: break
                }
            }
            return nil
        default:
            let start = at
            while at < bytes.count {
                switch bytes[at] {
                case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"): return at > start ? false : nil
                default: at += 1
                }
            }
            return nil
        }
    }

    // MARK: fields of the row

    var keys: [String] { fields.map { String(decoding: bytes[$0.key], as: UTF8.self) } }

    /// The place of a field; nil where the row has none of this name.
    func place(of key: String) -> Int? {
        var key = key
        return key.withUTF8 { key in
            for place in likely..<fields.count where isNamed(place, key) { return found(place) }
            for place in 0..<min(likely, fields.count) where isNamed(place, key) { return found(place) }
            return nil
        }
    }

    private func isNamed(_ place: Int, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
        let name = fields[place].key
        return name.count == key.count
            && (key.isEmpty || memcmp(bytes.baseAddress! + name.lowerBound, key.baseAddress!, key.count) == 0)
    }

    private func found(_ place: Int) -> Int {
        likely = place + 1
        return place
    }

    func isNull(_ place: Int) -> Bool { bytes[fields[place].value.lowerBound] == UInt8(ascii: "n") }

    func value(_ place: Int) throws -> Value { try value(fields[place].value) }

    func value(_ range: Range<Int>) throws -> Value {
        try JSONReader.read(UnsafeBufferPointer(rebasing: bytes[range]))
    }

    /// A text without an escape; nil for everything else.
    func text(_ place: Int) -> String? {
        let field = fields[place]
        guard !field.hasEscape, bytes[field.value.lowerBound] == UInt8(ascii: "\"") else { return nil }
        let inside = field.value.lowerBound + 1..<field.value.upperBound - 1
        return String(decoding: UnsafeBufferPointer(rebasing: bytes[inside]), as: UTF8.self)
    }

    func bool(_ place: Int) -> Bool? {
        switch bytes[fields[place].value.lowerBound] {
        case UInt8(ascii: "t"): return true
        case UInt8(ascii: "f"): return false
        default: return nil
        }
    }

    /// A number without fraction and exponent that fits; nil for everything else.
    func integer(_ place: Int) -> Int64? {
        let digits = bytes[fields[place].value]
        return Decimal(digits).flatMap { $0.exponent == 0 ? $0.integer : nil }
    }

    /// A number that its digits give exactly; nil for everything else.
    func double(_ place: Int) -> Double? { Decimal(bytes[fields[place].value])?.double }

    /// A number in decimal digits, few enough to be exact.
    private struct Decimal {
        private let isNegative: Bool
        private let digits: UInt64
        let exponent: Int

        /// Nil where it is no plain decimal number, or has more than 18 digits.
        init?(_ text: Slice<UnsafeBufferPointer<UInt8>>) {
            var at = text.startIndex
            isNegative = text.first == UInt8(ascii: "-")
            if isNegative { at += 1 }
            var digits: UInt64 = 0
            var count = 0
            var point: Int?
            while at < text.endIndex {
                let byte = text.base[at]
                if byte == UInt8(ascii: "."), point == nil {
                    point = count
                } else if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
                    digits = digits &* 10 &+ UInt64(byte &- UInt8(ascii: "0"))
                    count += 1
                } else {
                    return nil
                }
                at += 1
            }
            guard count > 0, count <= 18 else { return nil }
            self.digits = digits
            exponent = point.map { $0 - count } ?? 0
        }

        var integer: Int64 { isNegative ? -Int64(digits) : Int64(digits) }

        /// One correctly rounded division of two exact doubles; nil where these would not be exact.
        var double: Double? {
            guard digits <= 1 << 53, exponent >= -22 else { return nil }
            let magnitude = Double(digits) / Self.powers[-exponent]
            return isNegative ? -magnitude : magnitude
        }

        private static let powers: [Double] = [
            1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
            1e19, 1e20, 1e21, 1e22,
        ]
    }
}

/// The decoder of one row.
private struct RowDecoder: Decoder {
    let row: RowScanner
    let whole: Range<Int>
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowFields<Key>(row: row))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try decoder().unkeyedContainer() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { try decoder().singleValueContainer() }

    private func decoder() throws -> any Decoder { ValueDecoder.decoder(of: try row.value(whole), path: []) }
}

private struct RowFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: RowScanner
    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] { row.keys.compactMap { Key(stringValue: $0) } }
    func contains(_ key: Key) -> Bool { row.place(of: key.stringValue) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { row.isNull(try place(key)) }

    // Scalars, read in place where they are plain.

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decode(key, row.bool) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try decode(key, row.text) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decode(key, row.double) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try decode(key) { row.integer($0).flatMap(Int.init(exactly:)) }
    }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try decode(key, row.integer) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try decodeIfPresent(key, row.bool) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try decodeIfPresent(key, row.text) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try decodeIfPresent(key, row.double)
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try decodeIfPresent(key) { row.integer($0).flatMap(Int.init(exactly:)) }
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try decodeIfPresent(key, row.integer)
    }

    // Everything else.

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try ValueDecoder.decode(type, from: row.value(place(key)), path: [key])
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        let key = ValueDecoder.superKey
        let value = try row.place(of: key.stringValue).map { try row.value($0) }
        return ValueDecoder.decoder(of: value ?? .null, path: [key])
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: Key) throws -> any Decoder {
        ValueDecoder.decoder(of: try row.value(place(key)), path: [key])
    }

    private func place(_ key: Key) throws -> Int {
        if let place = row.place(of: key.stringValue) { return place }
        throw ValueDecoder.missing(key, path: [])
    }

    @inline(__always)
    private func decode<T: Decodable>(_ key: Key, _ plain: (Int) -> T?) throws -> T {
        let place = try place(key)
        return try plain(place) ?? ValueDecoder.decode(T.self, from: row.value(place), path: [key])
    }

    @inline(__always)
    private func decodeIfPresent<T: Decodable>(_ key: Key, _ plain: (Int) -> T?) throws -> T? {
        guard let place = row.place(of: key.stringValue), !row.isNull(place) else { return nil }
        return try plain(place) ?? ValueDecoder.decode(T.self, from: row.value(place), path: [key])
    }
}
