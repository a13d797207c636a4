import Foundation

/// Decodes a `Decodable` from a ``Value`` by the names of its fields.
enum ValueDecoder {
    static func decode<T: Decodable>(_ type: T.Type, from value: Value) throws -> T {
        try decode(type, from: value, path: [])
    }

    static func decode<T: Decodable>(
        _ type: T.Type, from value: Value, path: [any CodingKey]
    ) throws -> T {
        // In two steps: no form at all would cast to an optional type, as a value that is nil.
        if let form = try form(of: type, from: value, path: path), let decoded = form as? T { return decoded }
        // A type that holds itself recurses once a level: bounded for the thread's stack, as what is encoded is.
        guard path.count <= JSONReader.depthLimit else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "a value nests more than \(JSONReader.depthLimit) levels deep"))
        }
        return try type.init(from: NodeDecoder(value: value, codingPath: path))
    }

    /// A decoder of a value, for whoever finds it at `path` of something larger.
    static func decoder(of value: Value, path: [any CodingKey]) -> any Decoder {
        NodeDecoder(value: value, codingPath: path)
    }

    static let superKey: any CodingKey = FieldKey(stringValue: "super")

    static func missing(_ key: any CodingKey, path: [any CodingKey]) -> DecodingError {
        .keyNotFound(
            key, .init(codingPath: path, debugDescription: "the row has no field \"\(key.stringValue)\""))
    }

    /// The types that are read from a form of their own; nil for every other.
    private static func form(of type: Any.Type, from value: Value, path: [any CodingKey]) throws -> Any? {
        if type == Value.self { return value }
        if type == Row.self { return try unwrap(value.object, type, value, path) }
        if type == Date.self {
            let text = try unwrap(value.string, type, value, path)
            return try convert(Timestamp.date(text), "\"\(text)\" is no timestamp", path)
        }
        if type == UUID.self {
            let text = try unwrap(value.string, type, value, path)
            return try convert(UUID(uuidString: text), "\"\(text)\" is no UUID", path)
        }
        if type == URL.self {
            let text = try unwrap(value.string, type, value, path)
            return try convert(URL(string: text), "\"\(text)\" is no URL", path)
        }
        if type == Data.self { return try data(value, path) }
        if type == Decimal.self { return try decimal(value, path) }
        if type == [Float].self { return try unwrap(value.floats, type, value, path) }
        return nil
    }

    private static func data(_ value: Value, _ path: [any CodingKey]) throws -> Data {
        if let text = value.string {
            return try convert(Data(base64Encoded: text), "text that is no base64", path)
        }
        let list = try unwrap(value.array, Data.self, value, path)
        let bytes = list.compactMap { $0.int.flatMap { UInt8(exactly: $0) } }
        return try convert(bytes.count == list.count ? Data(bytes) : nil, "a list that holds more than bytes", path)
    }

    private static func decimal(_ value: Value, _ path: [any CodingKey]) throws -> Decimal {
        switch value {
        case .int(let number):
            return Decimal(number)
        case .double(let number):
            // By its shortest text: Decimal(0.1) would keep the digits of the binary fraction.
            return try convert(Decimal(string: number.description), "a number no decimal can hold", path)
        default:
            return try unwrap(nil, Decimal.self, value, path)
        }
    }

    fileprivate static func unwrap<T>(
        _ found: T?, _ type: Any.Type, _ value: Value, _ path: [any CodingKey]
    ) throws -> T {
        if let found { return found }
        let context = DecodingError.Context(
            codingPath: path, debugDescription: "expected \(type) but found \(value.kind)")
        throw value.isNull ? DecodingError.valueNotFound(type, context) : DecodingError.typeMismatch(type, context)
    }

    fileprivate static func convert<T>(_ converted: T?, _ fault: String, _ path: [any CodingKey]) throws -> T {
        if let converted { return converted }
        throw DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: fault))
    }
}

extension Value {
    fileprivate var kind: String {
        switch self {
        case .null: return "null"
        case .bool: return "a bool"
        case .int, .double: return "a number"
        case .string: return "text"
        case .floats, .array: return "a list"
        case .object: return "an object"
        }
    }
}

private struct FieldKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }
}

private struct NodeDecoder: Decoder {
    let value: Value
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let row = try ValueDecoder.unwrap(value.object, Row.self, value, codingPath)
        return KeyedDecodingContainer(KeyedValues<Key>(row: row, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let list = try ValueDecoder.unwrap(value.array, [Value].self, value, codingPath)
        return ListedValues(values: list, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        SingleValue(value: value, codingPath: codingPath)
    }
}

/// Scalars as `JSONDecoder` takes them: a whole double serves as an integer, an integer as a double, a
/// text never as a number.
private struct SingleValue: SingleValueDecodingContainer {
    let value: Value
    let codingPath: [any CodingKey]

    func decodeNil() -> Bool { value.isNull }
    func decode(_ type: Bool.Type) throws -> Bool { try ValueDecoder.unwrap(value.bool, type, value, codingPath) }
    func decode(_ type: String.Type) throws -> String { try ValueDecoder.unwrap(value.string, type, value, codingPath) }
    func decode(_ type: Double.Type) throws -> Double { try ValueDecoder.unwrap(value.double, type, value, codingPath) }

    func decode(_ type: Float.Type) throws -> Float {
        if case .int(let number) = value { return Float(number) }
        let number = Float(try ValueDecoder.unwrap(value.double, type, value, codingPath))
        return try ValueDecoder.convert(number.isFinite ? number : nil, "a number no Float can hold", codingPath)
    }

    func decode(_ type: Int.Type) throws -> Int { try whole() }
    func decode(_ type: Int8.Type) throws -> Int8 { try whole() }
    func decode(_ type: Int16.Type) throws -> Int16 { try whole() }
    func decode(_ type: Int32.Type) throws -> Int32 { try whole() }
    func decode(_ type: Int64.Type) throws -> Int64 { try whole() }
    func decode(_ type: UInt.Type) throws -> UInt { try whole() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try whole() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try whole() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try whole() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try whole() }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try ValueDecoder.decode(type, from: value, path: codingPath)
    }

    private func whole<T: FixedWidthInteger>() throws -> T {
        let fault = "a number that \(T.self) cannot hold"
        switch value {
        case .int(let number): return try ValueDecoder.convert(T(exactly: number), fault, codingPath)
        case .double(let number): return try ValueDecoder.convert(T(exactly: number), fault, codingPath)
        default: return try ValueDecoder.unwrap(nil, T.self, value, codingPath)
        }
    }
}

private struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: Row
    let codingPath: [any CodingKey]

    var allKeys: [Key] { row.keys.compactMap { Key(stringValue: $0) } }
    func contains(_ key: Key) -> Bool { row[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try ValueDecoder.decode(type, from: value(key), path: codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder {
        let key = ValueDecoder.superKey
        return NodeDecoder(value: row[key.stringValue] ?? .null, codingPath: codingPath + [key])
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: Key) throws -> NodeDecoder {
        NodeDecoder(value: try value(key), codingPath: codingPath + [key])
    }

    private func value(_ key: Key) throws -> Value {
        if let value = row[key.stringValue] { return value }
        throw ValueDecoder.missing(key, path: codingPath)
    }
}

private struct ListedValues: UnkeyedDecodingContainer {
    let values: [Value]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(values: [Value], codingPath: [any CodingKey]) {
        self.values = values
        self.codingPath = codingPath
    }

    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex >= values.count }

    mutating func decodeNil() throws -> Bool {
        guard try current().isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let element = try ValueDecoder.decode(type, from: current(), path: path)
        currentIndex += 1
        return element
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try superDecoder().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = NodeDecoder(value: try current(), codingPath: path)
        currentIndex += 1
        return decoder
    }

    private var path: [any CodingKey] { codingPath + [FieldKey(intValue: currentIndex)] }

    private func current() throws -> Value {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Value.self, .init(codingPath: path, debugDescription: "the list ends here"))
        }
        return values[currentIndex]
    }
}
