import FenecDB
import Foundation
import Testing

@Suite struct DecodingTests {
    private struct Numbers: Decodable, Equatable {
        var i: Int
        var d: Double
        var f: Float
        var u: UInt8
    }

    @Test func numbersDecodeAsJSONDecoderDoes() throws {
        let row: Row = ["i": 2.0, "d": 3, "f": 4, "u": 255, "other": "ignored"]
        #expect(try row.decode(as: Numbers.self) == Numbers(i: 2, d: 3, f: 4, u: 255))
        for bad in [
            ["i": 2.5, "d": 3, "f": 4, "u": 1], ["i": "2", "d": 3, "f": 4, "u": 1], ["i": 2, "d": 3, "f": 4, "u": 256],
            ["i": 2, "d": "3", "f": 4, "u": 1], ["i": 2, "d": 3, "f": 1e300, "u": 1], ["d": 3, "f": 4, "u": 1],
            ["i": nil, "d": 3, "f": 4, "u": 1], ["i": true, "d": 3, "f": 4, "u": 1],
        ] as [Row] {
            #expect(throws: DecodingError.self) { try bad.decode(as: Numbers.self) }
        }
    }

    private struct Child: Decodable, Equatable { var id: Int }
    private struct Parent: Decodable, Equatable {
        enum CodingKeys: String, CodingKey {
            case name, note, tags, vector, at, score = "_score", count = "count(*)", children = "child"
        }
        var name: String?
        var note: String?
        var tags: [String]
        var vector: [Float]
        var at: Date
        var score: Float
        var count: Int
        var children: [Child]
    }

    @Test func rowsDecodeByTheNamesOfTheirColumns() throws {
        let row = try #require(
            try Value.parse(
                #"{"note":null,"tags":["a"],"vector":[7.038531e-26,1,0.1],"at":"2024-03-05T10:20:30Z","#
                    + #""count(*)":3,"_score":0.25,"child":[{"id":1,"x":2}]}"#
            ).object)
        let parent = try row.decode(as: Parent.self)
        #expect(
            parent
                == Parent(
                    name: nil, note: nil, tags: ["a"], vector: [Float("7.038531e-26")!, 1, 0.1],
                    at: Date(timeIntervalSince1970: 1_709_634_030), score: 0.25, count: 3, children: [Child(id: 1)]))
    }

    private struct Forms: Decodable {
        var date: Date?
        var uuid: UUID?
        var url: URL?
        var data: Data?
        var value: Value?
        var row: Row?
    }

    @Test(arguments: [
        ("1969-12-31T23:59:59.999Z", -0.001), ("2000-02-29T12:00:00Z", 951_825_600),
        ("0000-03-01T00:00:00Z", -62_162_035_200), ("12000-01-01T00:00:00Z", 316_516_204_800),
        ("-0001-01-01T00:00:00Z", -62_198_755_200),
    ])
    func timestampsDecodeAsDates(_ text: String, _ seconds: Double) throws {
        let date = try #require(try Row([("date", .string(text))]).decode(as: Forms.self).date)
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.0001)
    }

    @Test(
        arguments: [
            ["date": "yesterday"], ["date": "2023-02-29T00:00:00Z"], ["date": "2023-01-01"], ["date": 5],
            ["uuid": "x"], ["url": ""], ["data": "not base64!"], ["data": [256]], ["data": ["a"]], ["row": 1],
        ] as [Row])
    func whatHasNotItsFormIsRefused(_ row: Row) {
        #expect(throws: DecodingError.self) { try row.decode(as: Forms.self) }
    }

    @Test func listsOfOptionalsDecode() throws {
        struct Lists: Decodable {
            var texts: [String?]
            var dates: [Date?]
            var table: [String: Int?]
        }
        let row: Row = ["texts": ["a", nil], "dates": [nil, "1970-01-01T00:00:01Z"], "table": ["x": 1, "y": nil]]
        let lists = try row.decode(as: Lists.self)
        #expect(lists.texts == ["a", nil])
        #expect(lists.dates == [nil, Date(timeIntervalSince1970: 1)])
        #expect(lists.table == ["x": 1, "y": nil])
    }

    @Test func formsDecode() throws {
        let row: Row = [
            "uuid": "e621e1f8-c36c-495a-93fc-0c247a3e6e5f", "url": "https://example.org", "data": "AAE=",
            "value": ["b": 1, "a": [2]], "row": ["z": 1, "a": 2],
        ]
        let forms = try row.decode(as: Forms.self)
        #expect(forms.uuid?.uuidString == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        #expect(forms.url?.absoluteString == "https://example.org")
        #expect(forms.data == Data([0, 1]))
        #expect(forms.value == ["b": 1, "a": [2]])
        #expect(forms.row?.keys == ["z", "a"])
        #expect(try (["data": [0, 1]] as Row).decode(as: Forms.self).data == Data([0, 1]))
    }

    private final class Chain: Decodable {
        let next: Chain?
        let list: [Chain]?
    }

    @Test func whatNestsTooDeepForTheStackIsRefused() throws {
        for key in ["next", "list"] {
            var row: Row = [:]
            for _ in 0..<200 { row = [key: key == "list" ? [.object(row)] : .object(row)] }
            _ = try row.decode(as: Chain.self)
            for _ in 0..<500 { row = [key: key == "list" ? [.object(row)] : .object(row)] }
            #expect(throws: DecodingError.self) { try row.decode(as: Chain.self) }
        }
    }

    @Test func datesRoundTripToTheMillisecond() throws {
        for seconds in [0.0, -0.001, 1_789_821_296.789, -62_135_596_800.5, 253_402_300_799.999] {
            let date = Date(timeIntervalSince1970: seconds)
            let back = try #require(try Row([("date", date.fenecValue())]).decode(as: Forms.self).date)
            #expect(abs(back.timeIntervalSince1970 - seconds) < 0.0006)
        }
    }
}
