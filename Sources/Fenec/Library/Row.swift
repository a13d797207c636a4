/// Fields and their values in order: a row of an answer, or an object inside one.
///
/// ```swift
/// for row in try await db.query("get jobs select id, title") {
///     print(row["id"]?.int ?? 0, row["title"]?.string ?? "")
/// }
/// ```
///
/// A field that is not there reads nil, one that holds null reads `.null`.
public struct Row: Sendable, Hashable, Sequence, ExpressibleByDictionaryLiteral, CustomStringConvertible {
    /// The names of the fields, in order.
    public private(set) var keys: [String]
    /// The values, in the order of ``keys``.
    public private(set) var values: [Value]

    public init() {
        keys = []
        values = []
    }

    /// Keeps a name that is given twice; a look-up finds the first.
    public init(_ fields: [(String, Value)]) {
        keys = fields.map { $0.0 }
        values = fields.map { $0.1 }
    }

    public init(dictionaryLiteral elements: (String, Value)...) {
        self.init(elements)
    }

    /// Both of one length; see ``computed`` for the exception.
    init(keys: [String], values: [Value]) {
        self.keys = keys
        self.values = values
    }

    /// The parts of a computed value, which is kept as values without keys: a row no JSON reads as and no
    /// other initialiser makes.
    var computed: [Value]? { keys.isEmpty && !values.isEmpty ? values : nil }

    public var count: Int { keys.count }
    public var isEmpty: Bool { keys.isEmpty }

    /// Setting a field that is there keeps its place, a new one goes last, nil removes it.
    public subscript(key: String) -> Value? {
        get {
            guard let place = keys.firstIndex(of: key) else { return nil }
            return values[place]
        }
        set {
            if computed != nil { self = Row() }
            guard let value = newValue else {
                while let place = keys.firstIndex(of: key) {
                    keys.remove(at: place)
                    values.remove(at: place)
                }
                return
            }
            if let place = keys.firstIndex(of: key) {
                values[place] = value
            } else {
                keys.append(key)
                values.append(value)
            }
        }
    }

    public func makeIterator() -> AnyIterator<(key: String, value: Value)> {
        var place = 0
        return AnyIterator {
            guard place < keys.count else { return nil }
            defer { place += 1 }
            return (key: keys[place], value: values[place])
        }
    }

    /// The row as a value of the app's own, its fields by name.
    ///
    /// ```swift
    /// struct Job: Decodable { var id: Int; var title: String }
    /// let job = try row.decode(as: Job.self)
    /// ```
    public func decode<T: Decodable>(as type: T.Type = T.self) throws -> T {
        try ValueDecoder.decode(type, from: .object(self))
    }

    public var description: String { Value.object(self).json }
}

extension Row: Codable {
    public init(from decoder: any Decoder) throws {
        guard let row = try Value(from: decoder).object else {
            throw DecodingError.typeMismatch(
                Row.self, .init(codingPath: decoder.codingPath, debugDescription: "expected an object"))
        }
        self = row
    }

    public func encode(to encoder: any Encoder) throws { try Value.object(self).encode(to: encoder) }
}
