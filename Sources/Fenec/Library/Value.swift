/// A value as the database holds it: what goes in as a parameter and what comes out in a ``Row``.
///
/// ```swift
/// let job: Value = ["title": "paint", "done": false, "sizes": [1, 2.5]]
/// print(job["title"]?.string ?? "") // paint
/// print(job["sizes"]?[1] == .double(2.5)) // true
/// ```
///
/// Two values are equal by case and content: `.int(1)` is not `.double(1)`, and objects are equal only
/// with the same keys in the same order.
public enum Value: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    /// A vector. As a parameter of its own it crosses to the library as 32-bit floats.
    case floats([Float])
    case array([Value])
    case object(Row)
}

extension Value {
    public var isNull: Bool { self == .null }

    public var bool: Bool? {
        if case .bool(let value) = self { return value }
        return nil
    }

    public var string: String? {
        if case .string(let value) = self { return value }
        return nil
    }

    /// An integer, or a double that is exactly a whole number; nil where it does not fit an `Int`.
    public var int: Int? {
        switch self {
        case .int(let value): return Int(exactly: value)
        case .double(let value): return Int(exactly: value)
        default: return nil
        }
    }

    /// An integer or a double, as a double.
    public var double: Double? {
        switch self {
        case .int(let value): return Double(value)
        case .double(let value): return value
        default: return nil
        }
    }

    /// A list; a vector as a list of doubles.
    public var array: [Value]? {
        switch self {
        case .array(let values): return values
        case .floats(let values): return values.map { .double(Double($0)) }
        default: return nil
        }
    }

    public var object: Row? {
        if case .object(let row) = self { return row }
        return nil
    }

    /// A vector; a list that holds nothing but numbers, each as the nearest `Float`.
    public var floats: [Float]? {
        switch self {
        case .floats(let values):
            return values
        case .array(let values):
            var floats: [Float] = []
            floats.reserveCapacity(values.count)
            for value in values {
                switch value {
                case .int(let number): floats.append(Float(number))
                case .double(let number): floats.append(Float(number))
                default: return nil
                }
            }
            return floats
        default:
            return nil
        }
    }

    /// A member of an object.
    public subscript(key: String) -> Value? {
        if case .object(let row) = self { return row[key] }
        return nil
    }

    /// An element of a list or a vector; nil outside it.
    public subscript(index: Int) -> Value? {
        // No conditional expressions: their nil would be `.null`, which Value has a literal for.
        switch self {
        case .array(let values) where values.indices.contains(index): return values[index]
        case .floats(let values) where values.indices.contains(index): return .double(Double(values[index]))
        default: return nil
        }
    }
}

extension Value: ExpressibleByNilLiteral {
    public init(nilLiteral: ()) { self = .null }
}

extension Value: ExpressibleByBooleanLiteral {
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension Value: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int64) { self = .int(value) }
}

extension Value: ExpressibleByFloatLiteral {
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension Value: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self = .string(value) }
}

extension Value: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: Value...) { self = .array(elements) }
}

extension Value: ExpressibleByDictionaryLiteral {
    /// An object whose members keep the order written.
    public init(dictionaryLiteral elements: (String, Value)...) { self = .object(Row(elements)) }
}

extension Value: CustomStringConvertible {
    public var description: String { json }
}

extension Value: Codable {
    /// Decodes the JSON a decoder holds; only the package's own keeps the order of an object's keys.
    public init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: AnyKey.self) {
            self = .object(
                Row(try object.allKeys.map { ($0.stringValue, try object.decode(Value.self, forKey: $0)) }))
        } else if var list = try? decoder.unkeyedContainer() {
            var values: [Value] = []
            while !list.isAtEnd { values.append(try list.decode(Value.self)) }
            self = .array(values)
        } else {
            let scalar = try decoder.singleValueContainer()
            if scalar.decodeNil() {
                self = .null
            } else if let value = try? scalar.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? scalar.decode(Int64.self) {
                self = .int(value)
            } else if let value = try? scalar.decode(Double.self) {
                self = .double(value)
            } else {
                self = .string(try scalar.decode(String.self))
            }
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let row):
            var container = encoder.container(keyedBy: AnyKey.self)
            for (key, value) in row { try container.encode(value, forKey: AnyKey(stringValue: key)) }
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
        case .floats(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
        default:
            var container = encoder.singleValueContainer()
            switch self {
            case .bool(let value): try container.encode(value)
            case .int(let value): try container.encode(value)
            case .double(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            default: try container.encodeNil()
            }
        }
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }
}
