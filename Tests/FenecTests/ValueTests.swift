import FenecDB
import Foundation
import Testing

@Suite struct ValueTests {
    @Test func literalsMakeTheirCases() {
        let who = "Ada"
        let value: Value = [
            "nothing": nil, "yes": true, "whole": 3, "part": 2.5, "text": "a", "made": "hi \(who)", "list": [1, "b"],
            "inner": ["z": 1, "a": 2],
        ]
        guard case .object(let row) = value else {
            Issue.record("a dictionary literal makes an object")
            return
        }
        #expect(row.keys == ["nothing", "yes", "whole", "part", "text", "made", "list", "inner"])
        #expect(row.values[0] == .null)
        #expect(row.values[1] == .bool(true))
        #expect(row.values[2] == .int(3))
        #expect(row.values[3] == .double(2.5))
        #expect(row.values[4] == .string("a"))
        #expect(row.values[5] == .string("hi Ada"))
        #expect(row.values[6] == .array([.int(1), .string("b")]))
        #expect(value["inner"]?.object?.keys == ["z", "a"])
    }

    @Test func equalityIsByCaseAndContent() {
        #expect(Value.int(1) != .double(1))
        #expect(Value.floats([1]) != .array([.double(1)]))
        #expect((["a": 1, "b": 2] as Value) != (["b": 2, "a": 1] as Value))
        #expect((["a": 1, "b": 2] as Value) == (["a": 1, "b": 2] as Value))
    }

    @Test func accessorsAnswerWhatFits() {
        #expect(Value.null.isNull)
        #expect(!Value.int(0).isNull)
        #expect(Value.bool(true).bool == true)
        #expect(Value.int(1).bool == nil)
        #expect(Value.string("a").string == "a")
        #expect(Value.int(7).int == 7)
        #expect(Value.double(7).int == 7)
        #expect(Value.double(7.5).int == nil)
        #expect(Value.double(1e300).int == nil)
        #expect(Value.double(.nan).int == nil)
        #expect(Value.int(7).double == 7)
        #expect(Value.string("7").double == nil)
        #expect(Value.floats([1, 2.5]).array == [.double(1), .double(2.5)])
        #expect(Value.array([1, 2.5]).floats == [1, 2.5])
        #expect(Value.array([]).floats == [])
        #expect(Value.array([1, "a"]).floats == nil)
        #expect(Value.array([1, nil]).floats == nil)
        #expect(Value.floats([0.5]).floats == [0.5])
        let list: Value = [1, 2]
        #expect(list[1] == 2)
        #expect(list[2] == nil)
        #expect(list[-1] == nil)
        #expect(Value.floats([0.5])[0] == .double(0.5))
        #expect(list["a"] == nil)
        #expect(Value.int(1)[0] == nil)
    }

    @Test func rowsKeepTheirOrder() {
        var row: Row = ["b": 1, "a": nil]
        #expect(row["b"] == 1)
        #expect(row["a"] == .null)
        #expect(row["c"] == nil)
        row["c"] = 3
        row["b"] = 10
        #expect(row.keys == ["b", "a", "c"])
        #expect(row.values == [10, nil, 3])
        row["a"] = nil
        #expect(row.keys == ["b", "c"])
        #expect(row.count == 2)
        #expect(!row.isEmpty)
        #expect(Row().isEmpty)
        #expect(row.map { "\($0.key)=\($0.value.json)" } == ["b=10", "c=3"])
        #expect(row.description == #"{"b":10,"c":3}"#)
    }

    @Test func rowsKeepANameGivenTwice() {
        let row = Row([("a", 1), ("a", 2)])
        #expect(row.count == 2)
        #expect(row["a"] == 1)
        #expect(row.description == #"{"a":1,"a":2}"#)
    }
}
