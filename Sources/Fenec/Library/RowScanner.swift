#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Reads the rows of an answer from its bytes, without a tree of values between.
///
/// A row is passed over once, which finds its fields and reads its numbers; its values are made from there as
/// they are asked for. Whatever is not plain - a list, an object, an escape in a text, a number where text is
/// wanted - is read into a ``Value`` and decoded as every other is, errors included.
final class RowScanner {
    private enum Kind: UInt8 { case null, no, yes, number, text, escapedText, other }

    private struct Field {
        /// Between the quotes.
        var key: UnsafeBufferPointer<UInt8>
        /// The whole value, quotes and brackets included.
        var value = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        var kind = Kind.null
        /// Of a number.
        var decimal = Decimal()
    }

    private var cursor: Cursor
    /// Of the row passed over last, and behind them what rows before it had there. At first the columns.
    private var fields: UnsafeMutablePointer<Field>
    private var capacity: Int
    private var known: Int
    private var count: Int
    /// The names that `fields` has, made once for all rows that have the same; nil where none asked yet.
    private var names: [String]?
    /// What the rows before this one were asked for, in order, and where that is: rows are asked alike.
    private var asked: [(key: String, place: Int?)] = []
    private var next = 0

    /// At the first row of an answer; nil where it has another form than this reads.
    private init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard var cursor = Cursor(bytes), cursor.take("{\"kind\":\"rows\",\"result\":{\"columns\":[") else { return nil }
        var columns: [Field] = []
        columns.reserveCapacity(16)
        if !cursor.take(UInt8(ascii: "]")) {
            repeat {
                guard let key = cursor.plainString() else { return nil }
                columns.append(Field(key: key))
            } while cursor.take(UInt8(ascii: ","))
            guard cursor.take(UInt8(ascii: "]")) else { return nil }
        }
        guard cursor.take(",\"rows\":[") else { return nil }
        self.cursor = cursor
        count = columns.count
        known = count
        capacity = count + 4 // a score, lookups
        fields = .allocate(capacity: capacity)
        fields.initialize(from: columns, count: count)
    }

    deinit { fields.deallocate() }

    /// The rows decoded; nil where the answer has another form than this reads.
    static func decode<T: Decodable>(_ type: T.Type, from bytes: UnsafeBufferPointer<UInt8>) throws -> [T]? {
        // Types that are decoded from a form of their own.
        guard type != Row.self, type != Value.self, let scanner = RowScanner(bytes) else { return nil }
        var rows: [T] = []
        // The decoder is good until the next row is passed over.
        let isRead = try scanner.forEachRow { whole in
            rows.append(try type.init(from: RowDecoder(row: scanner, whole: whole)))
        }
        return isRead ? rows : nil
    }

    /// An answer of rows; nil where it has another form than this reads.
    static func answer(from bytes: UnsafeBufferPointer<UInt8>) throws -> Answer? {
        guard let scanner = RowScanner(bytes) else { return nil }
        let columns = scanner.keys
        var rows: [Row] = []
        guard try scanner.forEachRow({ _ in rows.append(try scanner.row()) }) else { return nil }
        var facets: Value?
        if scanner.cursor.take(",\"facets\":") {
            let start = scanner.cursor.at
            guard scanner.cursor.passList() else { return nil }
            facets = try JSONReader.read(UnsafeBufferPointer(start: start, count: scanner.cursor.at - start))
        }
        guard scanner.cursor.take("}}"), scanner.cursor.isAtEnd else { return nil }
        return .rows(columns: columns, rows: rows, facets: try facets.map(Facets.init) ?? Facets())
    }

    /// False where the rows have another form than this reads.
    private func forEachRow(_ body: (UnsafeBufferPointer<UInt8>) throws -> Void) rethrows -> Bool {
        if cursor.take(UInt8(ascii: "]")) { return true }
        repeat {
            let start = cursor.at
            guard passRow() else { return false }
            try body(UnsafeBufferPointer(start: start, count: cursor.at - start))
        } while cursor.take(UInt8(ascii: ","))
        return cursor.take(UInt8(ascii: "]"))
    }

    /// False where no object lies here, or one with an escape in a key.
    private func passRow() -> Bool {
        next = 0
        // A copy: access to a property is checked each time.
        var cursor = cursor
        guard cursor.take(UInt8(ascii: "{")) else { return false }
        var place = 0
        if !cursor.take(UInt8(ascii: "}")) {
            repeat {
                if place >= known || !cursor.take(quoted: fields[place].key) {
                    // Not as the row before.
                    guard let key = cursor.plainString() else { return false }
                    setKey(key, at: place)
                }
                guard cursor.take(UInt8(ascii: ":")), passValue(&cursor, &fields[place]) else { return false }
                place += 1
            } while cursor.take(UInt8(ascii: ","))
            guard cursor.take(UInt8(ascii: "}")) else { return false }
        }
        if place != count { forgetNames() }
        count = place
        self.cursor = cursor
        return true
    }

    private func setKey(_ key: UnsafeBufferPointer<UInt8>, at place: Int) {
        forgetNames()
        if place < known {
            fields[place].key = key
            return
        }
        if place == capacity {
            let more = UnsafeMutablePointer<Field>.allocate(capacity: 2 * capacity)
            more.moveInitialize(from: fields, count: known)
            fields.deallocate()
            fields = more
            capacity *= 2
        }
        (fields + place).initialize(to: Field(key: key))
        known = place + 1
    }

    private func forgetNames() {
        names = nil
        asked.removeAll(keepingCapacity: true)
    }

    @inline(__always)
    private func passValue(_ cursor: inout Cursor, _ field: inout Field) -> Bool {
        let start = cursor.at
        guard let byte = cursor.peek() else { return false }
        switch byte {
        case UInt8(ascii: "\""):
            cursor.at += 1
            guard let hasEscape = cursor.passString() else { return false }
            field.kind = hasEscape ? .escapedText : .text
        case UInt8(ascii: "n"):
            guard cursor.take("null") else { return false }
            field.kind = .null
        case UInt8(ascii: "t"):
            guard cursor.take("true") else { return false }
            field.kind = .yes
        case UInt8(ascii: "f"):
            guard cursor.take("false") else { return false }
            field.kind = .no
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            guard cursor.passList() else { return false }
            field.kind = .other
        default:
            field.kind = field.decimal.read(&cursor) ? .number : .other
            guard cursor.at > start else { return false }
        }
        field.value = UnsafeBufferPointer(start: start, count: cursor.at - start)
        return true
    }

    // MARK: fields of the row

    var keys: [String] {
        if let names { return names }
        let keys = (0..<count).map { String(decoding: fields[$0].key, as: UTF8.self) }
        names = keys
        return keys
    }

    private func row() throws -> Row {
        // The list of keys is one for all rows that have the same.
        Row(keys: keys, values: try (0..<count).map(value))
    }

    /// The place of a field; nil where the row has none of this name.
    func place(of key: String) -> Int? {
        if next < asked.count, asked[next].key == key {
            next += 1
            return asked[next - 1].place
        }
        if next < asked.count { asked.removeSubrange(next...) }
        var text = key
        let place = text.withUTF8 { text in
            (0..<count).first { place in
                let key = fields[place].key
                return key.count == text.count
                    && (text.isEmpty || memcmp(key.baseAddress!, text.baseAddress!, text.count) == 0)
            }
        }
        // Not without end: a row may be asked for anything, any number of times.
        if next < Self.askedLimit {
            asked.append((key, place))
            next += 1
        }
        return place
    }

    private static let askedLimit = 1000

    func isNull(_ place: Int) -> Bool { fields[place].kind == .null }

    func value(_ place: Int) throws -> Value {
        switch fields[place].kind {
        case .null: return .null
        case .no: return .bool(false)
        case .yes: return .bool(true)
        case .text: return .string(plainText(place))
        case .number:
            if let integer = fields[place].decimal.integer { return .int(integer) }
            if let double = fields[place].decimal.double { return .double(double) }
        case .escapedText, .other: break
        }
        return try JSONReader.read(fields[place].value)
    }

    /// A text without an escape; nil for everything else.
    func text(_ place: Int) -> String? { fields[place].kind == .text ? plainText(place) : nil }

    private func plainText(_ place: Int) -> String {
        let value = fields[place].value
        return String(decoding: UnsafeBufferPointer(rebasing: value[1..<value.count - 1]), as: UTF8.self)
    }

    func bool(_ place: Int) -> Bool? {
        switch fields[place].kind {
        case .yes: return true
        case .no: return false
        default: return nil
        }
    }

    /// A number without fraction and exponent that fits; nil for everything else.
    func integer(_ place: Int) -> Int64? {
        fields[place].kind == .number ? fields[place].decimal.integer : nil
    }

    /// A number that its digits give exactly; nil for everything else.
    func double(_ place: Int) -> Double? { fields[place].kind == .number ? fields[place].decimal.double : nil }
}

/// A number in decimal digits, few enough to be exact.
private struct Decimal {
    private var isNegative = false
    private var digits: UInt64 = 0
    private var decimals = 0

    /// Passes over a number and reads it; false where it is none, has an exponent, or more than 18 digits.
    @inline(__always)
    mutating func read(_ cursor: inout Cursor) -> Bool {
        let start = cursor.at
        isNegative = cursor.take(UInt8(ascii: "-"))
        let first = cursor.at
        var digits: UInt64 = 0
        var point: UnsafePointer<UInt8>?
        while let byte = cursor.peek() {
            let digit = byte &- UInt8(ascii: "0")
            if digit < 10 {
                digits = digits &* 10 &+ UInt64(digit)
            } else if byte == UInt8(ascii: "."), point == nil {
                point = cursor.at
            } else {
                break
            }
            cursor.at += 1
        }
        let count = cursor.at - first - (point == nil ? 0 : 1)
        decimals = point.map { cursor.at - $0 - 1 } ?? 0
        self.digits = digits
        if count > 0, count <= 18, cursor.isAtEndOfValue { return true }
        cursor.at = start
        cursor.passWord()
        return false
    }

    var integer: Int64? {
        guard decimals == 0 else { return nil }
        return isNegative ? -Int64(digits) : Int64(digits)
    }

    /// One correctly rounded division of two exact doubles; nil where these would not be exact.
    var double: Double? {
        guard digits <= 1 << 53 else { return nil }
        let magnitude = Double(digits) / Self.powers[decimals]
        return isNegative ? -magnitude : magnitude
    }

    private static let powers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    ]
}

/// A place in JSON that the library wrote.
private struct Cursor {
    var at: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>

    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return nil }
        at = start
        end = start + bytes.count
    }

    var isAtEnd: Bool { at == end }

    var isAtEndOfValue: Bool {
        switch peek() {
        case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"): return true
        default: return false
        }
    }

    @inline(__always)
    func peek() -> UInt8? { at < end ? at.pointee : nil }

    @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        guard at < end, at.pointee == byte else { return false }
        at += 1
        return true
    }

    mutating func take(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard end - at >= count, memcmp(at, text.utf8Start, count) == 0 else { return false }
        at += count
        return true
    }

    /// A string that is the same as one elsewhere, given by what stands between its quotes.
    @inline(__always)
    mutating func take(quoted text: UnsafeBufferPointer<UInt8>) -> Bool {
        let count = text.count + 2
        guard end - at >= count, memcmp(at, text.baseAddress! - 1, count) == 0 else { return false }
        at += count
        return true
    }

    /// What stands between the quotes of a string; nil where there is none, or one with an escape.
    mutating func plainString() -> UnsafeBufferPointer<UInt8>? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = at
        guard passString() == false else { return nil }
        return UnsafeBufferPointer(start: start, count: at - start - 1)
    }

    /// Passes over the rest of a string whose quote was taken: whether it holds an escape, nil where it has no end.
    @inline(__always)
    mutating func passString() -> Bool? {
        var hasEscape = false
        while true {
            passPlainWords()
            guard at < end else { return nil }
            switch at.pointee {
            case UInt8(ascii: "\""):
                at += 1
                return hasEscape
            case UInt8(ascii: "\\"):
                hasEscape = true
                guard end - at >= 2 else { return nil }
                at += 2
            default: at += 1
            }
        }
    }

    /// Passes over bytes that are neither a quote nor a backslash, eight at a time.
    @inline(__always)
    private mutating func passPlainWords() {
        while end - at >= 8 {
            let word = UInt64(littleEndian: UnsafeRawPointer(at).loadUnaligned(as: UInt64.self))
            let found = Self.zeros(word ^ 0x2222_2222_2222_2222) | Self.zeros(word ^ 0x5C5C_5C5C_5C5C_5C5C)
            guard found == 0 else {
                at += found.trailingZeroBitCount / 8
                return
            }
            at += 8
        }
    }

    /// The highest bit of the first byte that is zero, and of none before it.
    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    /// Passes over a list or an object of any depth; false where it has no end.
    mutating func passList() -> Bool {
        var depth = 0
        while at < end {
            let byte = at.pointee
            at += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard passString() != nil else { return false }
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
                if depth == 0 { return true }
            default: break
            }
            if depth == 0 { return false }
        }
        return false
    }

    /// Passes over a number or a word.
    mutating func passWord() { while at < end, !isAtEndOfValue { at += 1 } }
}

/// The decoder of one row.
private struct RowDecoder: Decoder {
    let row: RowScanner
    let whole: UnsafeBufferPointer<UInt8>
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowFields<Key>(row: row))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try decoder().unkeyedContainer() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { try decoder().singleValueContainer() }

    private func decoder() throws -> any Decoder { ValueDecoder.decoder(of: try JSONReader.read(whole), path: []) }
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
