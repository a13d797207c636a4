import FenecDB
import Foundation
import Testing

@testable import fenec

@Suite struct StatementReaderTests {
    private func texts(_ input: String) throws -> [String] {
        var lines = input.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[...]
        var reader = StatementReader { _ in lines.popFirst() }
        var texts: [String] = []
        while let text = try reader.next() { texts.append("\(text.line): \(text.text)") }
        return texts
    }

    @Test func aTextEndsAtASemicolonAnEmptyLineOrTheEnd() throws {
        #expect(try texts("get a;\nget b\n  limit 1\n\nget c") == ["1: get a;", "2: get b\n  limit 1", "5: get c"])
        #expect(
            try texts("put a {n: 1}; get a\nget b; -- that is all\nget c") == [
                "1: put a {n: 1}; get a\nget b; -- that is all", "3: get c",
            ])
    }

    @Test func quotesAndCommentsHideTheirContent() throws {
        #expect(try texts("put a {t: \"x;\n\ny\"};\nget a") == ["1: put a {t: \"x;\n\ny\"};", "4: get a"])
        #expect(try texts("put a {t: 'it\\';\n'}\n\nget a") == ["1: put a {t: 'it\\';\n'}", "4: get a"])
        #expect(try texts("get a # not yet;\nlimit 1;") == ["1: get a # not yet;\nlimit 1;"])
        #expect(try texts("get a -- it's\nlimit 1;") == ["1: get a -- it's\nlimit 1;"])
    }

    @Test func commentsGoWithTheTextBelowThem() throws {
        #expect(try texts("# title\n\n# one\nget a;\n;\n\n# end\n") == ["3: # one\nget a;"])
        #expect(try texts("\n\n") == [])
    }
}

@Suite struct DisplayTests {
    @Test func controlCharactersAreWrittenOut() {
        #expect(DisplayText.visible("a\nb\t\u{1B}[31m\u{202E}x\u{7F}") == #"a\nb\t\u001b[31m\u202ex\u007f"#)
        #expect(DisplayText.visible("👩‍👩‍👧 é") == "👩‍👩‍👧 é")
    }

    @Test func widthIsThatOfTheTerminal() {
        #expect(DisplayText.width("abc") == 3)
        #expect(DisplayText.width("日本") == 4)
        #expect(DisplayText.width("e\u{301}") == 1)
        #expect(DisplayText.width("👩‍👩‍👧") == 2)
        #expect(DisplayText.cut("日本語", to: 5) == "日本…")
        #expect(DisplayText.cut("abc", to: 3) == "abc")
    }

    @Test func tablesAlign() {
        let rows: [Row] = [["name": "日本", "n": 5], ["name": "a", "n": 1234]]
        #expect(
            Table(columns: ["name", "n"], rows: rows).lines(width: 80) == [
                "name     n", "────  ────", "日本     5", "a     1234",
            ])
    }

    @Test func tablesFitTheTerminal() {
        let rows: [Row] = [["a": .string(String(repeating: "x", count: 300)), "b": "short", "c": nil]]
        for width in [20, 40, 80] {
            for line in Table(columns: ["a", "b", "c"], rows: rows).lines(width: width) {
                #expect(DisplayText.width(line) <= max(width, 28))
            }
        }
    }
}

@Suite struct CSVTests {
    private func records(_ text: String) -> [String] {
        var reader = CSVReader(Source(text: text), from: 0)
        var records: [String] = []
        while let record = reader.next() {
            let cells = record.cells.map { $0.isQuoted ? "<\($0.text)>" : $0.text }.joined(separator: "|")
            records.append("\(record.line): " + (record.fault.map { "! \($0)" } ?? cells))
        }
        return records
    }

    @Test func recordsAreReadAsTheRFCHasThem() {
        #expect(
            records("a,b\r\n1,\"x, \"\"y\"\"\r\nz\"\n,\"\"\n\nlast,") == [
                "1: a|b", "2: 1|<x, \"y\"\r\nz>", "4: |<>", "6: last|",
            ])
    }

    @Test func aBadRecordIsNamedAndTheNextOneRead() {
        #expect(
            records("a,\"b\"c\nd,e\nf,\"g\nh,i\n") == [
                "1: ! has something after a closing quote", "2: d|e", "3: ! opens a quote that is not closed", "4: h|i",
            ])
    }

    @Test func cellsAreWrittenToReadBack() {
        for text in ["", "plain", "a,b", "a\"b", "a\nb", "  x "] {
            for quoted in [true, false] {
                let cell = CSVCell(text: text, isQuoted: quoted)
                var reader = CSVReader(Source(text: cell.written + ",x"), from: 0)
                #expect(reader.next()?.cells.first?.text == text)
            }
        }
    }

    @Test func cellsHaveTheValueOfTheirType() {
        func value(_ text: String, _ type: FieldType, quoted: Bool = false) -> Value? {
            type.value(of: CSVCell(text: text, isQuoted: quoted))
        }
        #expect(value("", .text) == .null)
        #expect(value("", .text, quoted: true) == "")
        #expect(value("", .int, quoted: true) == .null)
        #expect(value("TRUE", .bool) == true)
        #expect(value("2", .bool) == nil)
        #expect(value("007", .int) == 7)
        #expect(value("1.0", .int) == 1.0)
        #expect(value("x", .int) == nil)
        #expect(value("nan", .float) == nil)
        #expect(value("1709634030000", .timestamp) == 1_709_634_030_000)
        #expect(value("2024-03-05", .timestamp) == "2024-03-05")
        #expect(value("[1,2]", .list) == [1, 2])
        #expect(value("1", .list) == nil)
        #expect(value(#""a""#, .json) == "a")
        #expect(value("a", .json) == nil)
    }
}

@Suite struct InferenceTests {
    private func types(_ text: String, _ format: DataFormat) throws -> [String: String] {
        let survey = try Survey(try RecordReader(Source(text: text), format)) { _ in }
        return Dictionary(
            uniqueKeysWithValues: survey.columns.map {
                ($0.name, $0.type(isCSV: survey.isCSV, quotesMean: survey.quotesMeanText))
            })
    }

    @Test func typesOfJSONTakeEveryValue() throws {
        let lines = """
            {"b":true,"i":1,"f":1,"t":"2024-03-05T10:20:30Z","d":"2024-03-05","s":"2024-03-05","l":[1],"v":[0.5,1],\
            "j":{"a":1},"m":1,"n":null,"e":[],"big":9007199254740993,"w":[["a"]],"x":[{"a":1}],"p":["2024-01-01"]}
            {"b":false,"i":-2,"f":2.5,"t":"2024-03-05 10:20+02:00","d":"1999-12-31","s":"later","l":[null,3],"v":[],\
            "j":null,"m":"x","n":null,"e":[],"big":0.5,"w":[],"x":[],"p":null}
            """
        #expect(
            try types(lines, .jsonLines) == [
                "b": "bool", "i": "int", "f": "float", "t": "timestamp", "d": "timestamp", "s": "text", "l": "[int]",
                "v": "[float]", "j": "json", "m": "json", "n": "text", "e": "json", "big": "json", "w": "[[text]]",
                "x": "json", "p": "[timestamp]",
            ])
    }

    @Test(arguments: [
        ("2024-02-29", true), ("2023-02-29", false), ("2024-13-01", false), ("2024-1-1", false),
        ("2024-01-01T25:00", false), ("2024-01-01T10:00:00.123Z", true), ("2024-01-01T10:00:00.1234Z", false),
        ("2024-01-01T10:00:00+0200", true), ("2024-01-01T10:00:00+02", true), ("2024-01-01T", false),
        ("2024-01-01T10:00:00Zx", false), ("20240101", false),
    ])
    func onlyWhatATimestampKeepsWholeIsOne(_ text: String, _ isTime: Bool) {
        #expect(Observed.isTime(text) == isTime)
    }

    @Test func typesOfCSVAreThoseOfEveryCell() throws {
        let text = """
            id,name,zip,price,ok,at,tags,mixed,none
            1,Ada,01234,1.5,true,2024-01-01,"[""a""]",1,
            2,"Bob, Sr.",+49,2,false,2024-01-02,,x,
            """
        #expect(
            try types(text, .csv) == [
                "id": "int", "name": "text", "zip": "text", "price": "float", "ok": "bool", "at": "timestamp",
                "tags": "[text]", "mixed": "text", "none": "text",
            ])
    }

    @Test func quotesMarkTextUnlessEveryCellHasThem() throws {
        #expect(try types("n,s\n1,\"2\"\n3,\"4\"\n", .csv) == ["n": "int", "s": "text"])
        #expect(try types("\"n\",\"s\"\n\"1\",\"2\"\n", .csv) == ["n": "int", "s": "int"])
    }

    @Test func namesBecomeNamesOfFields() {
        #expect(Name.made(from: "Installed-Size") == "Installed_Size")
        #expect(Name.made(from: "2nd") == "_2nd")
        #expect(Name.made(from: "") == "_")
        #expect(Name.isValid("şehir_2"))
        #expect(!Name.isValid("a b"))
        #expect(!Name.isValid("2a"))
        #expect(!Name.isValid(""))
    }
}
