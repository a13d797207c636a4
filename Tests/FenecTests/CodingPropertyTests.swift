import FenecDB
import Testing

private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
}

/// Draws that several encoders share.
private final class Draws: @unchecked Sendable { // used by one test, one draw after another
    var random: Random
    init(_ random: Random) { self.random = random }
    func below(_ bound: Int) -> Int { random.below(bound) }
}

/// Encodes a value by whichever calls of an encoder the draws say.
private struct Drawn: Encodable, FenecValue {
    let value: Value
    let draws: Draws

    func encode(to encoder: any Encoder) throws {
        switch value {
        case .object(let row):
            var container = encoder.container(keyedBy: Key.self)
            try fill(&container, row)
        case .array(let values):
            var container = encoder.unkeyedContainer()
            try fill(&container, values)
        default:
            var container = encoder.singleValueContainer()
            switch value {
            case .null: try container.encodeNil()
            case .bool(let value): try container.encode(value)
            case .int(let value): try container.encode(value)
            case .double(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            default: try container.encode(value)
            }
        }
    }

    private func fill(_ container: inout KeyedEncodingContainer<Key>, _ row: Row) throws {
        for (name, value) in row {
            let key = Key(stringValue: name)
            let inner = Drawn(value: value, draws: draws)
            switch (draws.below(3), value) {
            case (0, .object(let row)):
                // In two goes: the second container goes on with the first.
                let half = row.count / 2
                var nested = container.nestedContainer(keyedBy: Key.self, forKey: key)
                try fill(&nested, Row(Array(row.prefix(half)).map { ($0.key, $0.value) }))
                var again = container.nestedContainer(keyedBy: Key.self, forKey: key)
                try fill(&again, Row(Array(row.dropFirst(half)).map { ($0.key, $0.value) }))
            case (0, .array(let values)):
                var nested = container.nestedUnkeyedContainer(forKey: key)
                try fill(&nested, values)
            case (1, _): try inner.encode(to: container.superEncoder(forKey: key))
            default: try container.encode(inner, forKey: key)
            }
        }
    }

    private func fill(_ container: inout any UnkeyedEncodingContainer, _ values: [Value]) throws {
        for value in values {
            let inner = Drawn(value: value, draws: draws)
            switch (draws.below(3), value) {
            case (0, .object(let row)):
                var nested = container.nestedContainer(keyedBy: Key.self)
                try fill(&nested, row)
            case (0, .array(let values)):
                var nested = container.nestedUnkeyedContainer()
                try fill(&nested, values)
            case (1, _): try inner.encode(to: container.superEncoder())
            default: try container.encode(inner)
            }
        }
    }
}

/// Decodes any value by all the calls of a decoder in turn.
private struct Mirror: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: Key.self) {
            value = .object(
                Row(
                    try object.allKeys.enumerated().map { place, key in
                        guard object.contains(key) else { throw Missing() }
                        if try object.decodeNil(forKey: key) { return (key.stringValue, .null) }
                        let inner =
                            place % 2 == 0
                            ? try object.decode(Mirror.self, forKey: key)
                            : try Mirror(from: object.superDecoder(forKey: key))
                        return (key.stringValue, inner.value)
                    }))
        } else if var list = try? decoder.unkeyedContainer() {
            var values: [Value] = []
            while !list.isAtEnd {
                guard list.currentIndex == values.count else { throw Missing() }
                if try list.decodeNil() {
                    values.append(.null)
                } else if values.count % 2 == 0 {
                    values.append(try list.decode(Mirror.self).value)
                } else {
                    values.append(try Mirror(from: list.superDecoder()).value)
                }
            }
            guard values.count == list.count else { throw Missing() }
            value = .array(values)
        } else {
            let scalar = try decoder.singleValueContainer()
            if scalar.decodeNil() {
                value = .null
            } else if let bool = try? scalar.decode(Bool.self) {
                value = .bool(bool)
            } else if let integer = try? scalar.decode(Int64.self) {
                value = .int(integer)
            } else if let double = try? scalar.decode(Double.self) {
                value = .double(double)
            } else {
                value = .string(try scalar.decode(String.self))
            }
        }
    }

    private struct Missing: Error {}
}

@Suite struct CodingPropertyTests {
    private func value(_ random: inout Random, depth: Int = 0) -> Value {
        switch random.below(depth < 5 ? 8 : 5) {
        case 0: return .null
        case 1: return .bool(random.below(2) == 0)
        case 2: return .int(random.one(of: [.min, .max, Int64(random.below(100)) - 50]))
        case 3: return .double(random.one(of: [0.5, -1.25, 1e300, .leastNonzeroMagnitude, 0.1]))
        case 4: return .string(random.text())
        case 5: return .array((0..<random.below(5)).map { _ in value(&random, depth: depth + 1) })
        default:
            return .object(
                Row((0..<random.below(5)).map { ("\($0)\(random.text())", value(&random, depth: depth + 1)) }))
        }
    }

    @Test func everyWayToEncodeMakesTheSame() throws {
        var random = Random("everyWayToEncodeMakesTheSame")
        for _ in 0..<500 {
            let value = value(&random)
            let drawn = Drawn(value: value, draws: Draws(random))
            #expect(try drawn.fenecValue() == value)
        }
    }

    @Test func everyWayToDecodeReadsTheSame() throws {
        struct Holder: Decodable { let it: Mirror }
        var random = Random("everyWayToDecodeReadsTheSame")
        for _ in 0..<500 {
            let value = value(&random)
            #expect(try Row([("it", value)]).decode(as: Holder.self).it.value == value)
        }
    }

    @Test func dictionariesOfAnyKeyAreWrittenAlike() throws {
        struct Counts: Codable, FenecValue, Equatable {
            var byNumber: [Int: String]
            var byText: [String: Int]
        }
        let counts = Counts(
            byNumber: Dictionary(uniqueKeysWithValues: (0..<50).map { ($0, "x") }),
            byText: Dictionary(uniqueKeysWithValues: (0..<50).map { ("\($0)", $0) }))
        let value = try counts.fenecValue()
        let sorted = (0..<50).map { "\($0)" }.sorted()
        #expect(value["byNumber"]?.object?.keys == sorted)
        #expect(value["byText"]?.object?.keys == sorted)
        #expect(try value.object?.decode(as: Counts.self) == counts)
    }

    /// A list may be a vector, whose components are written as floats; every other number is its own.
    @Test func doublesInAListReadBackExactly() async throws {
        let midway = 1 + 0x1p-24 // midway between two floats, in more digits than a float has
        #expect(try Value.parse("[\(midway),\(midway.nextUp),1e-300]") == [.double(midway), .double(midway.nextUp), 1e-300])
        let db = try Fenec.memory()
        try await db.execute("create collection t (j json)")
        var random = Random("doublesInAListReadBackExactly")
        for _ in 0..<2000 {
            let float = random.float()
            guard float.isFinite, float.nextUp.isFinite else { continue }
            let double = (Double(float) + Double(float.nextUp)) / 2
            // Nine digits or fewer may be a component's, and stand for the float.
            guard double.description.prefix(while: { $0 != "e" }).filter(\.isNumber).count > 9 else { continue }
            #expect(try Value.parse(Value.array([.double(double)]).json)[0]?.double == double, "\(double)")
        }
        try await db.execute("put t {j: $1}", [midway, 0.1])
        #expect(try await db.query("get t select j") == [["j": [.double(midway), .double(0.1)]]])
    }
}
