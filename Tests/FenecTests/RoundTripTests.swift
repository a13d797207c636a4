import FenecDB
import Foundation
import Testing

private enum Form: Codable, Equatable {
    case plain
    case sized(width: Int, name: String?)
    case listed([Double])
}

private struct Thing: Codable, FenecValue, Equatable {
    enum CodingKeys: String, CodingKey {
        case whole, number, text, flag, at, vector, bytes, key, form, counts, tags, inner = "inner_thing"
    }
    var whole: Int64?
    var number: Double?
    var text: String
    var flag: Bool
    var at: Date
    var vector: [Float]
    var bytes: Data
    var key: UUID
    var form: Form
    var counts: [String: Int]
    var tags: [String?]
    var inner: [Thing]

    init(_ random: inout Random, depth: Int = 0) {
        whole = random.one(of: [nil, Int64.min, Int64.max, 0, Int64(random.below(1000))])
        number = random.one(of: [nil, random.double()])
        text = random.text()
        flag = random.below(2) == 0
        at = Date(timeIntervalSince1970: Double(random.below(4_000_000) - 2_000_000) * 977.123)
        vector = (0..<random.below(4)).map { _ in random.float() }
        bytes = Data((0..<random.below(5)).map { _ in UInt8(random.below(256)) })
        key = UUID()
        form = random.one(of: [
            .plain, .sized(width: random.below(9), name: random.text()), .listed([0.5, random.double()]),
        ])
        counts = Dictionary(uniqueKeysWithValues: (0..<random.below(4)).map { ("\($0)\(random.text())", $0) })
        tags = (0..<random.below(3)).map { _ in random.one(of: [nil, random.text()]) }
        inner = depth < 3 ? (0..<random.below(3)).map { _ in Thing(&random, depth: depth + 1) } : []
    }

    /// As it comes back: dates to the millisecond.
    var rounded: Thing {
        var thing = self
        thing.at = Date(timeIntervalSince1970: (at.timeIntervalSince1970 * 1000).rounded() / 1000)
        thing.inner = inner.map(\.rounded)
        return thing
    }
}

@Suite struct RoundTripTests {
    @Test func whatIsEncodedDecodes() throws {
        var random = Random("whatIsEncodedDecodes")
        for _ in 0..<200 {
            let thing = Thing(&random)
            let value = try thing.fenecValue()
            let expected = thing.rounded
            #expect(try value.object?.decode(as: Thing.self) == expected)
            // And through the text that crosses to the library.
            #expect(try Value.parse(value.json).object?.decode(as: Thing.self) == expected)
        }
    }

    private func value(_ random: inout Random, depth: Int = 0) -> Value {
        switch random.below(depth < 4 ? 8 : 6) {
        case 0: return .null
        case 1: return .bool(random.below(2) == 0)
        case 2: return .int(random.one(of: [.min, .max, Int64(random.below(100)) - 50]))
        case 3: return .double(random.double())
        case 4: return .string(random.text())
        case 5: return .floats([random.float(), random.float()])
        case 6: return .array((0..<random.below(4)).map { _ in value(&random, depth: depth + 1) })
        default:
            return .object(
                Row((0..<random.below(4)).map { ("\($0)\(random.text())", value(&random, depth: depth + 1)) }))
        }
    }

    /// Equal as JSON is: whole doubles are integers, a vector is the list of its numbers.
    private func isSame(_ left: Value, _ right: Value) -> Bool {
        if case .floats = left { return left.floats == right.floats }
        if let left = left.double, let right = right.double { return left == right }
        switch (left, right) {
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
        case (.object(let left), .object(let right)):
            return left.keys == right.keys && zip(left.values, right.values).allSatisfy { isSame($0, $1) }
        default: return left == right
        }
    }

    @Test func whatIsWrittenParses() throws {
        var random = Random("whatIsWrittenParses")
        for _ in 0..<1000 {
            let value = value(&random)
            #expect(isSame(value, try Value.parse(value.json)), "\(value.json)")
        }
    }

    @Test func whatIsStoredReadsBack() async throws {
        var random = Random("whatIsStoredReadsBack")
        let db = try Fenec.memory()
        try await db.execute("create collection t (j json, s text, f float, n int, e vector<3>)")
        for _ in 0..<200 {
            let json = value(&random)
            let text = random.text()
            let vector = [random.float(), random.float(), random.float()]
            let number = random.double()
            let row = try await db.from("t").insert(
                ["j": json, "s": .string(text), "f": .double(number), "e": .floats(vector)] as Value, returning: ["*"])[
                    0]
            #expect(isSame(json, try #require(row["j"])), "\(json.json)")
            #expect(row["s"]?.string?.unicodeScalars.elementsEqual(text.unicodeScalars) ?? false)
            #expect(row["f"]?.double == number)
            #expect(row["e"]?.floats == vector)
        }
    }

    /// Rows are decoded from bytes, or from values; both have to say the same, of an error too.
    private func expectSame<T: Decodable & Equatable>(_ type: T.Type, _ db: Fenec, _ text: String) async throws {
        let rows = try await db.query(text)
        do {
            #expect(try await db.query(as: type, text) == rows.map { try $0.decode(as: type) }, "\(text)")
        } catch let error as DecodingError {
            #expect { try rows.map { try $0.decode(as: type) } } throws: { "\($0)" == "\(error)" }
        }
    }

    private struct Loose: Codable, Equatable {
        var id: Int?
        var n: Double?
        var s: String?
        var f: Float?
        var u: UInt8?
        var b: Bool?
        var j: Value?
        var e: [Float]?
        var at: Date?
    }
    private struct Strict: Codable, Equatable {
        var n: Int
        var s: String
    }
    private struct Odd: Decodable, Equatable {
        enum CodingKeys: String, CodingKey { case score = "a \" key", length = "len" }
        var score: Int?
        var length: Int
    }
    private struct Keys: Decodable, Equatable {
        struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { return nil }
        }
        var names: [String]
        var nulls: [Bool]
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            names = container.allKeys.map(\.stringValue)
            nulls = try container.allKeys.map { try container.decodeNil(forKey: $0) }
        }
    }

    @Test func rowsDecodeFromBytesAsFromValues() async throws {
        var random = Random("rowsDecodeFromBytesAsFromValues")
        let db = try Fenec.memory()
        try await db.execute(
            "create collection t (n float, s text, f float, u int, b bool, j json, e vector<2>, at timestamp)")
        try await db.execute("put t {}")
        try await db.execute("put t {n: 1, s: \"\", u: 256, f: 1e300}")
        for _ in 0..<100 {
            let document = Row([
                ("n", .double(random.double())), ("s", .string(random.text())),
                ("f", .double(Double(random.below(1000)) / 8)), ("u", .int(Int64(random.below(250)))),
                ("b", .bool(random.below(2) == 0)), ("j", value(&random)), ("e", .floats([random.float(), 0.1])),
                ("at", .int(Int64(random.below(1_000_000_000)))),
            ])
            try await db.execute("put t $1", document)
        }
        for condition in ["", " where id = 1", " where id = 2", " where u < 200", " where n is null", " where id > 2"] {
            try await expectSame(Loose.self, db, "get t\(condition)")
            try await expectSame(Strict.self, db, "get t\(condition)")
            try await expectSame(Keys.self, db, "get t\(condition)")
            try await expectSame(Row.self, db, "get t\(condition)")
            try await expectSame([String: Value].self, db, "get t\(condition)")
            try await expectSame([Int].self, db, "get t\(condition)")
            try await expectSame(Odd.self, db, "get t select len(s) as len\(condition)")
        }
        try await expectSame(Strict.self, db, "collections")
        try await expectSame(Strict.self, db, "put t {s: \"x\"}")
        #expect(try await db.query(as: Strict.self, "get t where id = 0") == [])
    }

    @Test func nestingPastTheLimitIsAnError() throws {
        final class Node: Codable, Sendable, FenecValue {
            let next: Node?
            init(_ next: Node?) { self.next = next }
        }
        var node = Node(nil)
        for _ in 0..<400 { node = Node(node) }
        var depth = 0
        var value: Value? = try node.fenecValue()
        while let inner = value?["next"] {
            depth += 1
            value = inner
        }
        #expect(depth == 400)
        for _ in 0..<1000 { node = Node(node) }
        #expect { try node.fenecValue() } throws: { ($0 as? FenecError)?.code == .type }
        #expect { try Value.parse(String(repeating: "[", count: 100_000)) } throws: {
            ($0 as? FenecError)?.code == .query
        }
    }
}
