import FenecDB
import Foundation
import Testing

private enum Command {
    static func run(_ arguments: [String], input: String = "") async throws -> Program.Outcome {
        try await Program("fenec").run(arguments, input: input)
    }
}

@Suite struct CommandTests {
    @Test func oneTextIsRun() async throws {
        let file = try Folder()
        let path = file.file("a.fenec")
        let made = try await Command.run([path, "create collection t (name text, n int)"])
        #expect(made.status == 0)
        #expect(made.lines == [#"{"ok":"collection `t` created"}"#])
        #expect(
            try await Command.run([path, "put t {name: $1, n: $2}", #"["a\u0001b", 5]"#]).output == "{\"affected\":1}\n"
        )
        #expect(try await Command.run([path, "get t"]).output == "{\"id\":1,\"name\":\"a\\u0001b\",\"n\":5}\n")
        let table = try await Command.run(["--table", path, "get t"])
        #expect(table.lines == ["id  name      n", "──  ────────  ─", #" 1  a\u0001b  5"#, "1 row"])
    }

    @Test func theShellRunsTextsUntilAnError() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let outcome = try await Command.run(
            [path],
            input: """
                # made first
                create collection t (n int);
                put t {n: 1}; put t {n: 2}
                get t select n

                get nowhere
                """)
        #expect(outcome.status == 1)
        #expect(outcome.lines == [#"{"ok":"collection `t` created"}"#, #"{"n":1}"#, #"{"n":2}"#])
        #expect(outcome.error.hasPrefix("fenec: line 6: not found: "))
    }

    @Test func aCallThatMakesNoSenseEndsWithTwo() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        for arguments in [
            [], ["--none", path], ["import", path], ["export", path], ["export", path, "a b"], [path, "get t", "{}"],
            [path, "get t", "[1"], [path, "a", "[]", "b"], ["import", "--format", "xml", path, "t"],
            ["import", "--rename", "x", path, "t"], ["import", "--type"],
        ] {
            let outcome = try await Command.run(arguments)
            #expect(outcome.status == 2, "\(arguments)")
            #expect(outcome.error.hasPrefix("fenec: "))
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        let help = try await Command.run(["--help"])
        #expect(help.status == 0)
        #expect(help.output.contains("fenec import FILE COLLECTION"))
        #expect(try await Command.run(["--version"]).output == "fenec \(Fenec.version)\n")
    }

    @Test func importMakesACollection() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let data = try folder.file(
            "d.jsonl",
            holding: """
                {"id": 7, "First Name": "Ada", "at": "2024-01-01T00:00:00Z", "tags": ["x"], "meta": {"b": 0.10, "a": 1}}

                {"First Name": "日本", "tags": [], "n": 12345678901234567}

                """)
        let outcome = try await Command.run(["import", path, "people", data])
        #expect(outcome.status == 0)
        #expect(outcome.error.contains("2 documents into people"))
        #expect(outcome.error.contains("First_Name"))
        #expect(
            try await Command.run([path, "get people"]).lines == [
                #"{"id":7,"First_Name":"Ada","at":"2024-01-01T00:00:00Z","tags":["x"],"meta":{"a":1,"b":0.1},"n":null}"#,
                #"{"id":8,"First_Name":"日本","at":null,"tags":[],"meta":null,"n":12345678901234567}"#,
            ])
    }

    @Test func aBadLineIsNamedAndNothingStays() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        var lines = (0..<2500).map { #"{"n": \#($0), "name": "x\#($0)"}"# }
        lines[1700] = #"{"n": 5, "name": "again"}"#
        let data = try folder.file("d.jsonl", holding: lines.joined(separator: "\n"))
        _ = try await Command.run([path, "create collection t (n int @unique, name text); put t {n: -1}"])

        let refused = try await Command.run(["import", path, "t", data])
        #expect(refused.status == 1)
        #expect(refused.error.contains("line 1701 is refused: duplicate: "))
        #expect(try await Command.run([path, "get t count"]).output == "{\"count\":1}\n")

        let kept = try await Command.run(["import", "--keep-going", path, "t", data])
        #expect(kept.status == 1)
        #expect(kept.error.contains("line 1701 is refused: duplicate: "))
        #expect(kept.error.contains("2499 documents into t, 1 line passed over"))
        #expect(try await Command.run([path, "get t count"]).output == "{\"count\":2500}\n")
    }

    @Test func aFaultOfTheDataMakesNoCollection() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        for (data, fault) in [
            ("{\"a\":1}\n{\"a\":\n", "line 2 is no JSON"), ("[1]", "line 1 is JSON but no object"),
            ("{\"id\":\"x\",\"a\":1}", "would be the document's id"), ("", "no fields"), ("{}", "no fields"),
        ] {
            let outcome = try await Command.run(["import", path, "t"], input: data)
            #expect(outcome.status == 1)
            #expect(outcome.error.contains(fault), "\(outcome.error)")
        }
        for (data, fault) in [
            ("a,b\n1\n", "line 2 has 1 cells, the line of names has 2"), ("a,a\n", "stands there twice"),
            ("a\n\"x", "line 2 opens a quote that is not closed"),
        ] {
            let outcome = try await Command.run(["import", "--format", "csv", path, "t"], input: data)
            #expect(outcome.status == 1)
            #expect(outcome.error.contains(fault), "\(outcome.error)")
        }
        #expect(try await Command.run([path, "collections"]).output == "")
    }

    @Test func namesAndTypesAreAsAsked() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let data = #"{"id": "x", "a.b": 1, "a_b": 2, "zip": "07", "n": 3}"#
        let outcome = try await Command.run(
            ["import", "--rename", "id=key", "--type=n=float @sorted", path, "t"], input: data)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(
            try await Command.run([path, "get t"]).lines
                == [#"{"id":1,"key":"x","a_b_2":1,"a_b":2,"zip":"07","n":3}"#])
        #expect(
            try await Command.run([path, "describe t"]).output.contains(
                #"{"name":"n","type":"float","index":"sorted"}"#))

        // Into a collection that is there: its fields, and paths into its json fields.
        _ = try await Command.run([path, "create collection j (meta json, n int)"])
        #expect(try await Command.run(["import", path, "j"], input: #"{"meta.a": 1, "n": 2.0}"#).status == 0)
        #expect(try await Command.run([path, "get j"]).lines == [#"{"id":1,"meta":{"a":1},"n":2}"#])
        for (options, fault) in [
            (["--rename", "q=n"], "the data has no field q"), (["--type", "x=int"], "j is there"),
            (["--rename", "x=n"], "would both be the field n"), ([], "j has no field \"x\""),
        ] {
            let refused = try await Command.run(["import"] + options + [path, "j"], input: #"{"x": 1, "n": 2}"#)
            #expect(refused.status == 1)
            #expect(refused.error.contains(fault), "\(refused.error)")
        }
        #expect(try await Command.run([path, "get j count"]).output == "{\"count\":1}\n")
    }

    @Test func documentsThatAreThereStayUnlessReplaced() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        _ = try await Command.run([path, "create collection t (n int); put t {n: 1}"])
        let data = "{\"id\": 2, \"n\": 2}\n{\"id\": 1, \"n\": 3}"
        let refused = try await Command.run(["import", path, "t"], input: data)
        #expect(refused.status == 1)
        #expect(refused.error.contains("line 2 is refused: duplicate: "))
        #expect(try await Command.run([path, "get t select n"]).lines == [#"{"n":1}"#])
        #expect(try await Command.run(["import", "--replace", path, "t"], input: data).status == 0)
        #expect(try await Command.run([path, "get t select n"]).lines == [#"{"n":3}"#, #"{"n":2}"#])
    }

    @Test func whatIsExportedIsImportedAgain() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let fields = """
            b bool, i int @unique, f float, t text, at timestamp, by bytes, v vector<2>, l [text], j json, g geo, \
            s sparse<9>
            """
        let db = try await Fenec.open(path: path)
        try await db.execute("create collection t (\(fields))")
        try await db.execute(
            "put t {b: true, i: $1, f: 0.1, t: $2, at: 5, by: $3, v: [0.1, 2], l: [\"a,b\", \"\"], j: $4, g: [1.5, 2], s: \"{1:0.5}/9\"}",
            Int.max, "a \"quoted\"\r\nline, é", Data([0, 255]), ["q": [1, 2.5, nil], "s": "x"] as Value)
        try await db.execute("put t {t: \"\", j: \"text\"}")
        try await db.execute("put t {}")
        try await db.execute("put t {id: 5000, t: \"007\", j: 12}")
        let expected = try await db.query("get t")
        try await db.close()

        for format in ["jsonl", "csv"] {
            let out = folder.file("out.\(format)")
            let exported = try await Command.run(["export", path, "t", out])
            #expect(exported.status == 0)
            #expect(exported.error == "")
            let other = folder.file("\(format).fenec")
            _ = try await Command.run([other, "create collection t (\(fields))"])
            let imported = try await Command.run(["import", other, "t", out])
            #expect(imported.status == 0, "\(imported.error)")
            let copy = try await Fenec.open(path: other)
            #expect(try await copy.query("get t") == expected)
            try await copy.close()
        }
    }

    @Test func exportSaysWhatIsMissing() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        #expect(try await Command.run(["export", path, "t"]).status == 1)
        #expect(!FileManager.default.fileExists(atPath: path))
        _ = try await Command.run([path, "create collection t (n int)"])
        #expect(try await Command.run(["export", path, "u"]).error.contains("no collection u"))
        #expect(try await Command.run(["export", path, "t", folder.file("none/out")]).status == 1)
        let empty = try await Command.run(["export", "--format=csv", path, "t"])
        #expect(empty.status == 0)
        #expect(empty.output == "id,n\r\n")
    }

    @Test func exportGoesThroughLinksAndPipes() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        _ = try await Command.run([path, "create collection t (n int); put t {n: 1}"])
        let target = try folder.file("target", holding: "old")
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        #expect(try await Command.run(["export", path, "t", link]).status == 0)
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "{\"id\":1,\"n\":1}\n")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)

        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        async let exported = Command.run(["export", path, "t", pipe])
        let read = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try FileHandle(forReadingFrom: URL(fileURLWithPath: pipe)).readToEnd() })
            }
        }
        #expect(try await exported.status == 0)
        #expect(read == Data("{\"id\":1,\"n\":1}\n".utf8))
    }

    @Test func manyPagesAreExported() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let lines = (1...4500).map { "\($0)" }.joined(separator: "\n")
        #expect(try await Command.run(["import", "--format=csv", path, "t"], input: "n\n\(lines)\n").status == 0)
        _ = try await Command.run([path, "del t where n > 2000 and n < 3000"])
        let exported = try await Command.run(["export", "--format=csv", path, "t"])
        let expected = ["id,n"] + (Array(1...2000) + Array(3000...4500)).map { "\($0),\($0)" }
        #expect(exported.output == expected.joined(separator: "\r\n") + "\r\n")
    }
}
