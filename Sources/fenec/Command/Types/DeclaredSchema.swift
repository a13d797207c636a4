import FenecDB

/// Collections as a schema declares them, out of a description of the library's (`FENEC_SCHEMA_DESCRIBE`):
/// every option stands in it.
struct DeclaredSchema {
    struct Collection {
        let name: String
        let fields: [DeclaredField]
    }

    let collections: [Collection]

    init(description: Value) throws {
        guard let collections = description["collections"]?.array else { throw CommandError("no description") }
        self.collections = try collections.map { collection in
            guard let name = collection["name"]?.string, let fields = collection["fields"]?.array else {
                throw CommandError("no description")
            }
            return Collection(name: name, fields: try fields.map(DeclaredField.init))
        }
    }
}

/// A field of a collection.
struct DeclaredField {
    /// An index on a path into a json field.
    struct Path {
        let path: String
        let index: String
    }

    let name: String
    let type: DeclaredType
    let spelledType: String
    let isRequired: Bool
    let collation: String?
    /// As FenecQL with every option, `@ttl(30m)`.
    let index: String?
    let paths: [Path]

    init(_ description: Value) throws {
        guard let name = description["name"]?.string, let spelled = description["type"]?.string else {
            throw CommandError("no description")
        }
        self.name = name
        spelledType = spelled
        type = DeclaredType(spelled)
        isRequired = description["required"]?.bool ?? false
        collation = description["collate"]?.string
        index = description["index"].map(Self.spelled)
        paths = (description["paths"]?.array ?? []).map {
            Path(path: $0["path"]?.string ?? "", index: Self.spelled($0["index"] ?? .null))
        }
    }

    /// The field in a statement.
    var statement: String {
        [
            name, spelledType, isRequired ? "required" : nil, collation.map { "collate \($0)" }, index,
        ].compactMap { $0 }.joined(separator: " ")
    }

    /// What its type in a program loses.
    var note: String {
        [
            spelledType, collation.map { "collate \($0)" }, index, isRequired ? "required" : nil,
        ].compactMap { $0 }.joined(separator: " ")
    }

    private static func spelled(_ index: Value) -> String {
        func number(_ name: String) -> String { index[name]?.json ?? "" }
        func option(_ name: String) -> String { index[name].map { ", \(name)=\($0.json)" } ?? "" }
        switch index["kind"]?.string {
        case "ttl":
            return "@ttl(\(duration(index["ms"]?.int ?? 0)))"
        case "text":
            let chars = index["chars"]?.bool == true ? ", chars" : ""
            return "@text(k1=\(number("k1")), b=\(number("b"))\(option("prefix"))\(option("prefix_min"))\(chars))"
        case "hnsw":
            let quant = index["quant"]?.string.map { ", quant=\($0)" } ?? ""
            let size = "m=\(number("m")), ef_construction=\(number("ef_construction")), ef_search=\(number("ef_search"))"
            return "@hnsw(\(index["metric"]?.string ?? ""), \(size)\(quant))"
        case let kind:
            return "@\(kind ?? "")"
        }
    }

    /// In the largest unit that divides it.
    private static func duration(_ ms: Int) -> String {
        for (unit, length) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)] where ms % length == 0 {
            return "\(ms / length)\(unit)"
        }
        return "\(ms)ms"
    }
}

extension DeclaredSchema {
    /// The statements that make it, a line each: read as a schema they give it again.
    var statements: [String] {
        collections.flatMap { collection in
            let fields = collection.fields.map(\.statement).joined(separator: ", ")
            return ["create collection \(collection.name) (\(fields))"]
                + collection.fields.flatMap { field in
                    field.paths.map { "create index on \(collection.name) (\(field.name).\($0.path)) \($0.index)" }
                }
        }
    }
}

/// A type of the language, as far as a program's types tell it apart.
indirect enum DeclaredType: Equatable {
    case bool, int, float, text, timestamp, bytes, json, geo, vector, sparse
    case list(DeclaredType)

    init(_ spelled: String) {
        if spelled.hasPrefix("[") {
            self = .list(DeclaredType(String(spelled.dropFirst().dropLast())))
            return
        }
        switch spelled.prefix(while: { $0 != "<" }) {
        case "bool": self = .bool
        case "int": self = .int
        case "float": self = .float
        case "timestamp": self = .timestamp
        case "bytes": self = .bytes
        case "json": self = .json
        case "geo": self = .geo
        case "vector": self = .vector
        case "sparse": self = .sparse
        default: self = .text
        }
    }
}
