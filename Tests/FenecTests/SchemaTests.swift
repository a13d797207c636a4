import FenecDB
import Foundation
import Testing

@Suite struct SchemaTests {
    private static let schema = "create collection recipe (title text required, remark text)"
    private static let rename = "alter collection recipe rename field note to remark"

    @Test func aSchemaIsAppliedOnce() async throws {
        let db = try Fenec.memory()
        let plan = try await db.schema(Self.schema, apply: false)
        #expect(!plan.applied)
        #expect(plan.statements == [Self.schema])
        #expect(try await db.run("collections") == .schemas([]))
        let first = try await db.schema(Self.schema)
        #expect(first.applied && !first.ran)
        #expect(first.migrations == [])
        #expect(first.statements == [Self.schema])
        let again = try await db.schema(Self.schema)
        #expect(!again.applied && !again.ran)
        #expect(again.migrations.isEmpty && again.statements.isEmpty && again.refusals.isEmpty)
        try await db.close()
    }

    @Test func aRefusalSaysHowToResolveIt() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection recipe (title text required, note text)")
        try await db.execute("put recipe {title: \"soup\", note: \"hot\"}")
        for apply in [true, false] {
            do {
                try await db.schema(Self.schema, apply: apply)
                Issue.record("it is refused")
            } catch let error as SchemaError {
                #expect(error.refusals.map(\.kind) == ["field_not_declared"])
                #expect(error.refusals[0].collection == "recipe")
                #expect(error.refusals[0].field == "note")
                #expect(error.refusals[0].fix.contains(Self.rename))
                #expect(error.description.contains(error.refusals[0].message))
                #expect(error.description.contains(error.refusals[0].fix))
            }
        }
        let plan = try await db.schema(Self.schema, migrations: [Self.rename], apply: false)
        #expect(!plan.applied && plan.ran && plan.migrations == [1])
        #expect(try await db.query("get recipe select note") == [["note": "hot"]])
        let applied = try await db.schema(Self.schema, migrations: [Self.rename])
        #expect(applied.applied && applied.ran && applied.migrations == [1] && applied.statements == [])
        #expect(try await db.query("get recipe select remark") == [["remark": "hot"]])
        try await db.close()
    }

    @Test func aCollectionThatDiffersHasNoField() async throws {
        let db = try Fenec.memory()
        let answer = try await db.compareSchema(["format": 1, "fenecql": .string(Self.schema)], .follow)
        let plan = try SchemaPlan(answer)
        #expect(plan.refusals.map(\.kind) == ["collection_missing"])
        #expect(plan.refusals[0].field == nil)
        try await db.close()
    }

    @Test func textThatIsNoSchemaIsAnError() async throws {
        let db = try Fenec.memory()
        for text in ["nonsense", "create collection t (a int) get t", "create collection t (a int\0)"] {
            await #expect { try await db.schema(text) } throws: { ($0 as? FenecError)?.code == .query }
        }
        await #expect { try await db.schema(Self.schema, migrations: [""]) } throws: {
            ($0 as? FenecError)?.code == .query
        }
        try await db.close()
        await #expect { try await db.schema(Self.schema) } throws: { ($0 as? FenecError)?.code == .misuse }
    }
}

@Suite struct SchemaCommandTests {
    @Test func aFileIsBroughtToASchema() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let one = try folder.file("1.fenecql", holding: "create collection recipe (title text required, note text)")
        let plan = try await Program("fenec").run(["schema", "plan", path, one])
        #expect(plan.status == 0)
        #expect(
            plan.output == """
                {"kind":"schema","applied":false,"ran":false,"migrations":[],"statements":\
                ["create collection recipe (title text required, note text)"],"refusals":[]}

                """)
        #expect(!FileManager.default.fileExists(atPath: path))
        let applied = try await Program("fenec").run(["schema", "apply", "--text", path, one])
        #expect(applied.status == 0)
        #expect(applied.lines == ["+ create collection recipe (title text required, note text)", "applied"])
        let again = try await Program("fenec").run(["schema", "apply", "--text", path, one])
        #expect(again.lines == ["nothing to do"])

        let two = try folder.file("2.fenecql", holding: "create collection recipe (title text required, remark text)")
        for action in ["plan", "apply"] {
            let refused = try await Program("fenec").run(["schema", action, "--text", path, two])
            #expect(refused.status == 3)
            #expect(refused.lines[0] == "+ alter collection recipe add field remark text")
            #expect(refused.lines[1] == "! field_not_declared recipe.note")
            #expect(refused.lines.last == "refused: 1 difference, nothing was written")
        }
        let migrations = try folder.file("m.json", holding: "[\"alter collection recipe rename field note to remark\"]")
        let planned = try await Program("fenec").run(
            ["schema", "plan", "--text", "--migrations", migrations, path, two])
        #expect(planned.lines == ["migration 1, would be run", "an apply would do this"])
        let moved = try await Program("fenec").run(["schema", "apply", "--text", "--migrations=\(migrations)", path, two])
        #expect(moved.status == 0)
        #expect(moved.lines == ["migration 1, run", "applied"])
        let older = try await Program("fenec").run(["schema", "apply", path, two])
        #expect(older.status == 1)
        #expect(older.error.contains("older"))
    }

    @Test func whatIsNoSchemaIsToldOfItsFileAndMakesNone() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let good = try folder.file("good.fenecql", holding: "create collection a (x int)")
        let bad = try folder.file("bad.fenecql", holding: "create collection a (x int")
        let list = try folder.file("list.json", holding: "[1]")
        let none = try folder.file("none.json", holding: "{}")
        for action in ["plan", "apply"] {
            for (arguments, told) in [
                ([path, bad], "\(bad): query error: schema description: the description: position 26: "),
                (["--migrations", list, path, good], "\(list): query error: schema description: the description: migration 1 "),
                (["--migrations", none, path, good], "\(none): holds no JSON array of migrations"),
                (["--migrations", folder.file("gone"), path, good], "\(folder.file("gone")): cannot be read: "),
            ] {
                let run = try await Program("fenec").run(["schema", action] + arguments)
                #expect(run.status == 1)
                #expect(run.error.contains(told), "\(run.error)")
            }
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func aMigrationMayHoldAnyCharacter() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection a (x text)")
        let migrations = ["put a {x: '\0\u{1F98A}'}"]
        #expect(try await db.schema("create collection a (x text)", migrations: migrations).ran)
        #expect(try await db.schema("create collection a (x text)", migrations: migrations).migrations == [])
        #expect(try await db.from("a").select("x").rows() == [["x": "\0\u{1F98A}"]])
    }

    @Test func aSchemaIsReadBack() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let text = """
            create collection t (a text required collate und @text(k1=1.2, b=0.4, prefix=6, prefix_min=2, chars), \
            b timestamp @ttl(90m), c [int] @hash, d vector<3, f16> @hnsw(l2, m=8, ef_construction=200, ef_search=100, \
            quant=int8), m json)
            create index on t (m.x.y) @unique

            """
        let schema = try folder.file("s.fenecql", holding: text)
        #expect(try await Program("fenec").run(["schema", "apply", path, schema]).status == 0)
        let db = try await Fenec.open(path: path) // it may be in use
        #expect(try await Program("fenec").run(["schema", "describe", "--text", path]).output == text)
        #expect(
            try await Program("fenec").run(["schema", "describe", path]).output.hasPrefix(
                #"{"format":1,"collections":[{"name":"t","#))
        let out = folder.file("out.fenecql")
        #expect(try await Program("fenec").run(["schema", "describe", path, out]).output == "")
        #expect(try String(contentsOfFile: out, encoding: .utf8) == text)
        try await db.close()
    }

    @Test func aCallThatMakesNoSenseEndsWithTwo() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        for arguments in [
            [], ["plan"], ["plan", path], ["apply", path], ["describe"], ["alter", path, "s"], ["plan", "--none", path, "s"],
            ["describe", "--migrations", "m", path],
        ] {
            #expect(try await Program("fenec").run(["schema"] + arguments).status == 2, "\(arguments)")
        }
        for arguments in [["plan", path, folder.file("s")], ["apply", path, folder.file("s")], ["describe", path]] {
            #expect(try await Program("fenec").run(["schema"] + arguments).status == 1, "\(arguments)")
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
