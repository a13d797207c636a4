import FenecDB
import Foundation
import Testing

private func value(_ value: any FenecValue) throws -> Value { try value.fenecValue() }

@Suite struct FenecValueTests {
    @Test func standardTypesHaveTheirValues() throws {
        #expect(try value(Value.int(1)) == 1)
        #expect(try value(["a": 1] as Row) == ["a": 1])
        #expect(try value("a") == "a")
        #expect(try value("abc".prefix(1)) == "a")
        #expect(try value(true) == true)
        #expect(try value(Int8(-3)) == -3)
        #expect(try value(UInt32.max) == .int(4_294_967_295))
        #expect(try value(UInt64(7)) == 7)
        #expect(try value(Float(0.1)) == .double(Double(Float(0.1))))
        #expect(try value(0.1) == .double(0.1))
        #expect(
            try value(UUID(uuidString: "e621e1f8-c36c-495a-93fc-0c247a3e6e5f")!)
                == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        #expect(try value(Data([0, 255])) == [0, 255])
        #expect(try value(Int?.none) == .null)
        #expect(try value(Int?.some(4)) == 4)
        #expect(try value([Float(0.5)]) == .floats([0.5]))
        #expect(try value([Float]()) == .floats([]))
        #expect(try value([0.5]) == .array([.double(0.5)]))
        #expect(try value([Int]()) == .array([]))
        #expect(try value([1, nil]) == [1, nil])
        #expect(try value(["b": 1, "a": 2, "é": 3, "Z": 4]) == (["Z": 4, "a": 2, "b": 1, "é": 3] as Value))
        #expect(try value([["x": [Float(1)]]]) == .array([["x": .floats([1])]]))
    }

    @Test func anIntegerOutOfRangeIsRefused() throws {
        #expect { try value(UInt64.max) } throws: { ($0 as? FenecError)?.code == .type }
        #expect { try value(UInt.max) } throws: { ($0 as? FenecError)?.code == .type }
        #expect(try value(UInt64(Int64.max)) == .int(.max))
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-0.001, "1969-12-31T23:59:59.999Z"),
            (1_789_821_296.789, "2026-09-19T12:34:56.789Z"), (951_782_400, "2000-02-29T00:00:00.000Z"),
            (-2_203_977_600, "1900-02-28T00:00:00.000Z"), (253_402_300_799, "9999-12-31T23:59:59.000Z"),
            (-62_167_219_200, "0000-01-01T00:00:00.000Z"), (0.0004, "1970-01-01T00:00:00.000Z"),
            (-0.0004, "1970-01-01T00:00:00.000Z"), (59.9996, "1970-01-01T00:01:00.000Z"),
        ] as [(Double, String)])
    func datesAreISOText(_ seconds: Double, _ text: String) throws {
        #expect(try value(Date(timeIntervalSince1970: seconds)) == .string(text))
    }

    @Test func aDateThatIsNoneIsRefused() {
        for seconds in [Double.nan, .infinity, 1e300] {
            #expect { try value(Date(timeIntervalSince1970: seconds)) } throws: { ($0 as? FenecError)?.code == .type }
        }
    }

    // MARK: Codable

    private enum Color: String, Codable { case red }
    private enum Form: Codable, Equatable { case round(Int), square }
    private struct Inner: Codable, Equatable {
        var z: Int
        var a: String
    }
    private struct Everything: Codable, FenecValue, Equatable {
        var title: String
        var missing: Int?
        var at: Date
        var vector: [Float]
        var score: Float
        var key: UUID
        var link: URL
        var bytes: Data
        var price: Decimal
        var counts: [String: Int]
        var color: Color
        var form: Form
        var inner: [Inner]
        var list: [Double]
        var json: Value
    }

    private static let everything = Everything(
        title: "t", missing: nil, at: Date(timeIntervalSince1970: 1.5), vector: [0.1, 2], score: 0.5,
        key: UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!, link: URL(string: "https://example.org/a")!,
        bytes: Data([1, 2]), price: Decimal(string: "1.25")!, counts: ["b": 2, "a": 1], color: .red, form: .round(3),
        inner: [Inner(z: 1, a: "x")], list: [0.1], json: ["q": 1, "b": [nil]])

    @Test func codableTypesKeepTheOrderOfTheirKeys() throws {
        let expected: Value = [
            "title": "t", "at": "1970-01-01T00:00:01.500Z", "vector": .floats([0.1, 2]), "score": 0.5,
            "key": "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "link": "https://example.org/a", "bytes": [1, 2],
            "price": 1.25, "counts": ["a": 1, "b": 2], "color": "red", "form": ["round": ["_0": 3]],
            "inner": [["z": 1, "a": "x"]], "list": [0.1], "json": ["q": 1, "b": [nil]],
        ]
        #expect(try Self.everything.fenecValue() == expected)
    }

    @Test func codableTypesReadBack() throws {
        let row = try #require(try Self.everything.fenecValue().object)
        #expect(try row.decode(as: Everything.self) == Self.everything)
        // And through JSON, as the library answers.
        let answered = try #require(try Value.parse(row.description).object)
        #expect(try answered.decode(as: Everything.self) == Self.everything)
    }

    private struct ByHand: Encodable, FenecValue {
        enum Key: String, CodingKey { case a, b, c, d }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encodeNil(forKey: .a)
            try container.encode(1, forKey: .b)
            var nested = container.nestedContainer(keyedBy: Key.self, forKey: .c)
            try nested.encode("x", forKey: .d)
            var list = container.nestedUnkeyedContainer(forKey: .d)
            try list.encode(1)
            try list.encodeNil()
            var inner = list.nestedUnkeyedContainer()
            try inner.encode(true)
            #expect(list.count == 3)
            try container.encode(2, forKey: .b)
            try "up".encode(to: container.superEncoder())
        }
    }
    private struct Nothing: Encodable, FenecValue {
        func encode(to encoder: any Encoder) {}
    }
    private struct TooLarge: Encodable, FenecValue { var n = UInt64.max }

    @Test func encodersAnswerEveryCall() throws {
        #expect(
            try ByHand().fenecValue()
                == ["a": nil, "b": 2, "c": ["d": "x"], "d": [1, nil, [true]], "super": "up"] as Value)
        #expect(try Nothing().fenecValue() == .null)
        #expect { try TooLarge().fenecValue() } throws: { ($0 as? FenecError)?.code == .type }
    }
}
