extension Answer {
    /// The answer of the library, which is one of four kinds.
    init(json bytes: UnsafeBufferPointer<UInt8>) throws {
        if let rows = try RowScanner.answer(from: bytes) {
            self = rows
            return
        }
        let answer = try JSONReader.read(bytes)
        switch answer["kind"]?.string {
        case "rows":
            guard let result = answer["result"]?.object, let columns = result["columns"]?.array,
                let rows = result["rows"]?.array
            else { throw FenecError.unreadable }
            self = .rows(
                columns: columns.compactMap(\.string), rows: rows.compactMap(\.object),
                facets: try Facets(result["facets"]))
        case "affected":
            guard let count = answer["count"]?.int else { throw FenecError.unreadable }
            self = .affected(count)
        case "ok":
            self = .ok(answer["message"]?.string ?? "")
        case "schemas":
            guard let collections = answer["collections"]?.array else { throw FenecError.unreadable }
            self = .schemas(collections.compactMap(\.object))
        default:
            throw FenecError.unreadable
        }
    }
}

extension Facets {
    init(_ value: Value?) throws {
        self.init()
        for (field, counts) in value?.object ?? Row() {
            let counts = try (counts.array ?? []).map { entry -> FacetCount in
                guard let value = entry["value"], let count = entry["count"]?.int else { throw FenecError.unreadable }
                return FacetCount(value: value, count: count)
            }
            append(field, counts)
        }
    }
}

extension Changes {
    init(json bytes: UnsafeBufferPointer<UInt8>) throws {
        let answer = try JSONReader.read(bytes)
        guard let seq = Self.counter(answer["seq"]), let horizon = Self.counter(answer["horizon"]) else {
            throw FenecError.unreadable
        }
        self.init(seq: seq, horizon: horizon, collections: answer["collections"]?.array?.compactMap(\.string))
    }

    /// Counters are unsigned, so one past `Int64.max` was read as a double.
    private static func counter(_ value: Value?) -> UInt64? {
        switch value {
        case .int(let number): return UInt64(exactly: number)
        case .double(let number): return UInt64(exactly: number)
        default: return nil
        }
    }
}

extension FenecError {
    /// The library and this package were not built from one source.
    static let unreadable = FenecError(code: .panic, message: "internal error: an answer of an unknown form")
}
