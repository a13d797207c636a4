/// Reads one JSON value from bytes, strictly, members in order.
///
/// It keeps a stack of its own and refuses more than ``depthLimit`` levels, so that no text can exhaust
/// the thread's.
struct JSONReader {
    static let depthLimit = 512

    /// A list or an object that is not closed yet.
    private struct Open {
        let isObject: Bool
        /// Keys of the object, or of a list the keys of its last object: those of the next are likely the
        /// same, and rows then share one list of them.
        var keys: [String] = []
        /// How many of an object's keys have been read; the rest are the object's before it.
        var keyCount = 0
        var values: [Value] = []
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var at = 0
    private var open: [Open] = []

    /// The one value of `bytes`, which may have white space around it.
    static func read(_ bytes: UnsafeBufferPointer<UInt8>) throws -> Value {
        var reader = JSONReader(bytes: bytes)
        return try reader.document()
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    private mutating func document() throws -> Value {
        while true {
            var value: Value
            skipWhiteSpace()
            switch peek() {
            case UInt8(ascii: "["):
                try push(isObject: false)
                if !takeIfNext(UInt8(ascii: "]")) { continue }
                value = pop()
            case UInt8(ascii: "{"):
                try push(isObject: true)
                if !takeIfNext(UInt8(ascii: "}")) {
                    try key()
                    continue
                }
                value = pop()
            case UInt8(ascii: "\""): value = .string(try string())
            case UInt8(ascii: "t"): value = try word("true", .bool(true))
            case UInt8(ascii: "f"): value = try word("false", .bool(false))
            case UInt8(ascii: "n"): value = try word("null", .null)
            default: value = try number()
            }
            // What was read is an element of the innermost container, which it may be the last of.
            while !open.isEmpty {
                open[open.count - 1].values.append(value)
                skipWhiteSpace()
                if takeIfNext(UInt8(ascii: ",")) {
                    if open[open.count - 1].isObject { try key() }
                    break
                }
                guard takeIfNext(UInt8(ascii: open[open.count - 1].isObject ? "}" : "]")) else {
                    throw unexpected("a comma or the end of the \(open[open.count - 1].isObject ? "object" : "list")")
                }
                value = pop()
            }
            if open.isEmpty {
                skipWhiteSpace()
                guard at == bytes.count else { throw unexpected("the end of the text") }
                return value
            }
        }
    }

    // MARK: containers

    private mutating func push(isObject: Bool) throws {
        guard open.count < Self.depthLimit else {
            throw FenecError(code: .query, message: "JSON nests more than \(Self.depthLimit) levels deep")
        }
        at += 1
        var next = Open(isObject: isObject)
        if isObject, let list = open.last, !list.isObject {
            next.keys = list.keys
            next.values.reserveCapacity(list.keys.count)
        }
        open.append(next)
    }

    private mutating func pop() -> Value {
        var last = open.removeLast()
        guard last.isObject else { return .array(last.values) }
        if last.keyCount < last.keys.count { last.keys.removeLast(last.keys.count - last.keyCount) }
        if let parent = open.indices.last, !open[parent].isObject { open[parent].keys = last.keys }
        return .object(Row(keys: last.keys, values: last.values))
    }

    private mutating func key() throws {
        skipWhiteSpace()
        guard peek() == UInt8(ascii: "\"") else { throw unexpected("a key in quotes") }
        let object = open.count - 1
        let place = open[object].keyCount
        open[object].keyCount += 1
        if place < open[object].keys.count, takeIfNext(quoted: open[object].keys[place]) {
            // The same as the object before had there.
        } else {
            let key = try string()
            let others = open[object].keys.count - place
            if others > 0 { open[object].keys.removeLast(others) }
            open[object].keys.append(key)
        }
        guard takeIfNext(UInt8(ascii: ":")) else { throw unexpected("a colon") }
    }

    /// A string in quotes that is `text`, byte by byte; one that needs an escape is not found.
    private mutating func takeIfNext(quoted text: String) -> Bool {
        let count = text.utf8.count
        guard at + count + 1 < bytes.count, bytes[at + count + 1] == UInt8(ascii: "\"") else { return false }
        var byte = at + 1
        for expected in text.utf8 {
            // A quote or a backslash in the text would stand behind a backslash here.
            guard bytes[byte] == expected, expected != UInt8(ascii: "\\"), expected != UInt8(ascii: "\"") else {
                return false
            }
            byte += 1
        }
        at = byte + 1
        return true
    }

    // MARK: scalars

    private mutating func word(_ text: StaticString, _ value: Value) throws -> Value {
        let length = text.utf8CodeUnitCount
        guard at + length <= bytes.count, (0..<length).allSatisfy({ bytes[at + $0] == text.utf8Start[$0] }) else {
            throw unexpected("a value")
        }
        at += length
        return value
    }

    private mutating func number() throws -> Value {
        let start = at
        if peek() == UInt8(ascii: "-") { at += 1 }
        guard let first = peek(), Self.isDigit(first) else { throw unexpected("a value") }
        at += 1
        if first != UInt8(ascii: "0") { skipDigits() }
        var isWhole = true
        if peek() == UInt8(ascii: ".") {
            isWhole = false
            at += 1
            guard let digit = peek(), Self.isDigit(digit) else { throw unexpected("a digit") }
            skipDigits()
        }
        if peek() == UInt8(ascii: "e") || peek() == UInt8(ascii: "E") {
            isWhole = false
            at += 1
            if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { at += 1 }
            guard let digit = peek(), Self.isDigit(digit) else { throw unexpected("a digit") }
            skipDigits()
        }
        let digits = bytes[start..<at]
        if isWhole, let value = Self.integer(digits) { return .int(value) }
        let text = String(decoding: digits, as: UTF8.self)
        guard let value = Double(text), value.isFinite else {
            throw FenecError(code: .query, message: "JSON position \(start): the number \(text) is too large")
        }
        let inList = open.last.map { !$0.isObject } ?? false
        return .double(inList ? Self.component(value, text) : value)
    }

    private static func integer(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
        let isNegative = digits.first == UInt8(ascii: "-")
        var value: Int64 = 0 // counted below zero, where there is room for one more
        for digit in isNegative ? digits.dropFirst() : digits {
            let (tens, overflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, carried) = tens.subtractingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            if overflowed || carried { return nil }
            value = sum
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    /// An element of a list that may be a vector's component, written with the fewest digits that read
    /// back as a `Float`. Rounded to a double first a few such texts lie midway between two floats and
    /// would become the wrong one; the next double on the right side stands for these.
    private static func component(_ value: Double, _ text: String) -> Double {
        let isMidway = value.bitPattern & 0x1FFF_FFFF == 0x1000_0000
        guard isMidway || value.magnitude < Double(Float.leastNormalMagnitude) else { return value }
        // No component has more digits: such a text is a double's, which it has to remain.
        // More digits than any component has: a double's text, which is that double.
        let mantissa = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }.filter(isDigit)
        guard mantissa.drop(while: { $0 == UInt8(ascii: "0") }).count <= 9 else { return value }
        guard let stored = Float(text), stored.isFinite, stored != Float(value) else { return value }
        return stored > Float(value) ? value.nextUp : value.nextDown
    }

    private mutating func string() throws -> String {
        at += 1
        let start = at
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""):
                let text = String(decoding: bytes[start..<at], as: UTF8.self)
                at += 1
                return text
            case UInt8(ascii: "\\"): return try escapedString(from: start)
            case 0..<0x20: throw unexpected("no raw control character in a string")
            default: at += 1
            }
        }
        throw unexpected("the end of the string")
    }

    /// The rest of a string that began at `start` and holds a backslash at the position now.
    private mutating func escapedString(from start: Int) throws -> String {
        var text = Array(bytes[start..<at])
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<0x20:
                at -= 1
                throw unexpected("no raw control character in a string")
            default: text.append(byte)
            }
        }
        throw unexpected("the end of the string")
    }

    private mutating func escape(into text: inout [UInt8]) throws {
        guard let byte = peek() else { throw unexpected("an escape") }
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "u"):
            let unit = try hexUnit()
            var scalar = Unicode.Scalar(UInt32(unit))
            if UTF16.isLeadSurrogate(unit), at + 1 < bytes.count, bytes[at] == UInt8(ascii: "\\"),
                bytes[at + 1] == UInt8(ascii: "u")
            {
                let resume = at
                at += 2
                let low = try hexUnit()
                if UTF16.isTrailSurrogate(low) {
                    scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + UInt32(low) - 0xDC00)
                } else {
                    at = resume
                }
            }
            text.append(contentsOf: String(Character(scalar ?? "\u{FFFD}")).utf8)
        default:
            at -= 1
            throw unexpected("an escape")
        }
    }

    private mutating func hexUnit() throws -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw unexpected("four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            at += 1
        }
        return unit
    }

    // MARK: bytes

    private func peek() -> UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func takeIfNext(_ byte: UInt8) -> Bool {
        skipWhiteSpace()
        guard peek() == byte else { return false }
        at += 1
        return true
    }

    private mutating func skipWhiteSpace() {
        while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { at += 1 }
    }

    private mutating func skipDigits() {
        while let byte = peek(), Self.isDigit(byte) { at += 1 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private func unexpected(_ wanted: String) -> FenecError {
        FenecError(code: .query, message: "JSON position \(at): expected \(wanted)")
    }
}

extension Value {
    /// Reads a text that holds one JSON value. Keys keep their order; a number without a fraction or an
    /// exponent that fits 64 bits is an `int`, any other a `double`.
    public static func parse(_ text: String) throws -> Value {
        var text = text
        return try text.withUTF8 { try JSONReader.read($0) }
    }
}
