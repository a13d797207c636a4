/// Writes values as JSON: no white space, members in order.
///
/// It walks a stack of its own, so that however deep a value nests, the thread's stack does not.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    /// A computed value was among what was written; it has no JSON.
    private(set) var metComputed = false

    mutating func write(_ value: Value) {
        var open: [(container: Value, next: Int)] = []
        var current = value
        while true {
            switch current {
            case .array:
                bytes.append(UInt8(ascii: "["))
                open.append((current, 0))
            case .object(let row):
                if row.computed != nil { metComputed = true }
                bytes.append(UInt8(ascii: "{"))
                open.append((current, 0))
            default:
                writeScalar(current)
            }
            guard let next = nextElement(&open) else { return }
            current = next
        }
    }

    /// Writes a list of elements that are made one after another.
    mutating func writeList(of count: Int, _ element: (Int) -> Value) {
        bytes.append(UInt8(ascii: "["))
        for place in 0..<count {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            write(element(place))
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Writes what comes before the next element of the innermost container and returns it, closing the
    /// containers that have no more; nil when none is left.
    private mutating func nextElement(_ open: inout [(container: Value, next: Int)]) -> Value? {
        while let (container, next) = open.last {
            switch container {
            case .array(let values) where next < values.count:
                if next > 0 { bytes.append(UInt8(ascii: ",")) }
                open[open.count - 1].next += 1
                return values[next]
            case .object(let row) where next < row.count:
                if next > 0 { bytes.append(UInt8(ascii: ",")) }
                open[open.count - 1].next += 1
                writeString(row.keys[next])
                bytes.append(UInt8(ascii: ":"))
                return row.values[next]
            case .array:
                bytes.append(UInt8(ascii: "]"))
            default:
                bytes.append(UInt8(ascii: "}"))
            }
            open.removeLast()
        }
        return nil
    }

    private mutating func writeScalar(_ value: Value) {
        switch value {
        case .bool(let value): writeText(value ? "true" : "false")
        case .int(let value): writeText(String(value))
        case .double(let value): writeDouble(value)
        case .string(let value): writeString(value)
        case .floats(let values): writeFloats(values)
        default: writeText("null")
        }
    }

    private mutating func writeText(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func writeDouble(_ value: Double) {
        if !value.isFinite {
            writeText("null")
        } else if abs(value) < 1e15, value == value.rounded(.towardZero) {
            writeText(String(Int64(value)))
        } else {
            writeText(value.description)
        }
    }

    private mutating func writeFloats(_ values: [Float]) {
        bytes.append(UInt8(ascii: "["))
        for (place, value) in values.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            if !value.isFinite {
                writeText("null")
            } else if abs(value) < 1e7, value == value.rounded(.towardZero) {
                writeText(String(Int64(value)))
            } else {
                // Whoever reads the text reads a double first and rounds that: where the shortest text of
                // the Float would round away, the double's own has digits enough.
                let shortest = value.description
                let readBack = Double(shortest).map { Float($0) }
                writeText(readBack == value ? shortest : Double(value).description)
            }
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func writeString(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            var start = 0 // of what has not been written yet
            for (place, byte) in utf8.enumerated() {
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
                bytes.append(contentsOf: utf8[start..<place])
                writeEscape(byte)
                start = place + 1
            }
            bytes.append(contentsOf: utf8[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func writeEscape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): writeText("\\\"")
        case UInt8(ascii: "\\"): writeText("\\\\")
        case 0x0A: writeText("\\n")
        case 0x0D: writeText("\\r")
        case 0x09: writeText("\\t")
        case 0x08: writeText("\\b")
        case 0x0C: writeText("\\f")
        default: writeText((byte < 0x10 ? "\\u000" : "\\u00") + String(byte, radix: 16))
        }
    }
}

extension Value {
    /// The value as JSON without white space. Numbers that are not finite are written `null`.
    public var json: String {
        var writer = JSONWriter()
        writer.write(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
