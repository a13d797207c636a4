import FenecDB
import Testing

@Suite struct JSONTests {
    @Test(
        arguments: [
            (Value.null, "null"), (true, "true"), (false, "false"), (0, "0"), (.int(.min), "-9223372036854775808"),
            (.int(.max), "9223372036854775807"), (.double(2), "2"), (.double(-0.0), "0"), (.double(0.1), "0.1"),
            (.double(-1.5), "-1.5"), (.double(999_999_999_999_999), "999999999999999"),
            (.double(1e15), "1000000000000000.0"), (.double(1e17), "1e+17"),
            (.double(.leastNonzeroMagnitude), "5e-324"), (.double(.nan), "null"), (.double(.infinity), "null"),
            (.floats([1, 0.1, -0.0]), "[1,0.1,0]"), (.floats([9_999_999]), "[9999999]"),
            (.floats([1e7, 1e8]), "[10000000.0,1e+08]"),
            (.floats([.nan, -.infinity]), "[null,null]"), ([], "[]"), ([:], "{}"), ([1, [2, []]], "[1,[2,[]]]"),
            (["b": ["c": 1], "a": [[:]]], #"{"b":{"c":1},"a":[{}]}"#),
        ] as [(Value, String)])
    func valuesAreWritten(_ value: Value, _ text: String) {
        #expect(value.json == text)
    }

    @Test func stringsAreEscaped() {
        let text = "\"\\\n\r\t\u{8}\u{c}\u{0}\u{1f}/\u{7f}é😀"
        #expect(Value.string(text).json == #""\"\\\n\r\t\b\f\u0000\u001f/"# + "\u{7f}é😀\"")
        #expect((["a\"b": 1] as Value).json == #"{"a\"b":1}"#)
    }

    @Test func aFloatWhoseShortestTextRoundsAwayIsWrittenInFull() throws {
        // Read as a double first, 7.038531e-26 lies midway between two floats and becomes the other one.
        let float = try #require(Float("7.038531e-26"))
        #expect(Float(try #require(Double("7.038531e-26"))) != float)
        let text = Value.floats([float]).json
        #expect(text != "[7.038531e-26]")
        #expect(try Value.parse(text).floats == [float])
        // And a list that holds the shortest text, as the library writes it, reads as that float.
        #expect(try Value.parse("[7.038531e-26]").floats == [float])
    }

    @Test func everyFloatReadsBackAsItself() throws {
        var bits: UInt32 = 12345
        for _ in 0..<20_000 {
            bits = bits &* 1_664_525 &+ 1_013_904_223
            let float = Float(bitPattern: bits)
            guard float.isFinite else { continue }
            #expect(try Value.parse(Value.floats([float]).json).floats == [float])
            let double = Double(bitPattern: UInt64(bits) << 32 | UInt64(bits &* 2_654_435_761))
            guard double.isFinite else { continue }
            #expect(try Value.parse(Value.double(double).json).double == double)
        }
    }

    @Test(
        arguments: [
            ("null", .null), (" \t\r\ntrue ", true), ("-0", 0), ("9223372036854775807", .int(.max)),
            ("-9223372036854775808", .int(.min)), ("9223372036854775808", .double(9_223_372_036_854_775_808)),
            ("1e3", .double(1000)), ("1.0", .double(1)), ("-2.5E-1", .double(-0.25)), ("[]", []), ("{ }", [:]),
            ("[1, 2 ,[3]]", [1, 2, [3]]), (#"{"b":1,"a":{"c":[]}}"#, ["b": 1, "a": ["c": []]]),
            (#""\u00e9\ud83d\ude00\n\/""#, "é😀\n/"), (#""\ud83d""#, "\u{FFFD}"), (#""\ude00x""#, "\u{FFFD}x"),
            (#""\ud83d\u0041""#, "\u{FFFD}A"), (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"), (#""\u0000""#, "\0"),
        ] as [(String, Value)])
    func textsAreRead(_ text: String, _ value: Value) throws {
        #expect(try Value.parse(text) == value)
    }

    @Test(arguments: [
        "", " ", "nul", "nulll", "tru", "01", "-", "1.", ".5", "1e", "+1", "1 2", "[1,]", "[1", "[,1]", "{", "{}x",
        #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "{a:1}", "{1:1}", "\"", #""\x""#, #""\u12g4""#, #""\u12"#, "\"a\nb\"",
        "\"a\\", "]", "[1}", "1e999", "NaN", "'a'", "\u{FEFF}1",
    ])
    func whatIsNoJSONIsRefused(_ text: String) {
        #expect { try Value.parse(text) } throws: { ($0 as? FenecError)?.code == .query }
    }

    @Test func nestingIsBounded() throws {
        let fits = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(try Value.parse(fits).json == fits)
        let deep = String(repeating: "[", count: 1_000_000)
        #expect { try Value.parse(deep) } throws: { ($0 as? FenecError)?.code == .query }
        let objects = String(repeating: #"{"a":"#, count: 513)
        #expect { try Value.parse(objects) } throws: { ($0 as? FenecError)?.code == .query }
    }

    @Test func aKeyGivenTwiceIsKept() throws {
        #expect(try Value.parse(#"{"a":1,"a":2}"#).object?.count == 2)
    }
}
