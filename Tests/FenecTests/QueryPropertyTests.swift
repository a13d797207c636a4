import FenecDB
import Testing

/// Chains drawn at random: what the builder does not refuse, the library's parser takes, and it answers the
/// columns that were asked for.
@Suite struct QueryPropertyTests {
    private let fields = ["n", "s", "b", "m.a", "m.b.größe", "id"]

    private func value(_ random: inout Random) -> Value {
        random.one(of: [
            .int(Int64(random.below(5))), .double(random.double()), .string(random.text()), .bool(true), [1, "x"],
        ])
    }

    private func cond(_ random: inout Random, depth: Int = 0) -> Cond {
        switch random.below(depth < 4 ? 8 : 4) {
        case 0:
            return .cmp(random.one(of: fields), random.one(of: ["=", "!=", "<", "lte", "gt", "ge"]), value(&random))
        case 1: return .fields(Row([(random.one(of: fields), random.one(of: [.null, ["not": nil], value(&random)]))]))
        case 2:
            return .cmp(random.one(of: fields), "in", Value.array((0...random.below(3)).map { _ in value(&random) }))
        case 3: return .raw("len(s) > ? or n = ?", random.below(4), random.below(4))
        case 4: return .not(cond(&random, depth: depth + 1))
        case 5: return .and((0..<random.below(4)).map { _ in cond(&random, depth: depth + 1) })
        default: return .or((0..<random.below(4)).map { _ in cond(&random, depth: depth + 1) })
        }
    }

    private func query(_ random: inout Random, on db: Fenec) throws -> (query: Query, columns: [String]?) {
        var query = try db.from("t")
        var columns: [String]?
        for _ in 0..<random.below(4) {
            query = random.below(2) == 0 ? try query.where(cond(&random)) : try query.orWhere(cond(&random))
        }
        if random.below(2) == 0 {
            let picked = Array(fields.shuffled(using: &random).prefix(1 + random.below(3)))
            let length = try Column.expr("len(s) + ?", .int(Int64(random.below(9)))).as("length")
            query = try query.select(picked.map { Column($0) } + [length])
            columns = picked + ["length"]
        }
        for field in fields.prefix(random.below(3)) { query = try query.order(field, random.one(of: ["asc", "DESC"])) }
        if random.below(2) == 0 { query = try query.limit(random.below(5)) }
        if random.below(2) == 0 { query = try query.offset(random.below(3)) }
        if random.below(3) == 0 { query = try query.facet("s", top: 1 + random.below(3)) }
        if random.below(3) == 0 {
            query = try query.lookup(
                "u", on: "t_id", where: random.below(2) == 0 ? .cmp("k", ">", random.below(3)) : nil,
                required: random.below(2) == 0, order: ["k"], limit: random.below(4))
        }
        return (query, columns)
    }

    @Test func whatItMakesIsTaken() async throws {
        var random = Random("whatItMakesIsTaken")
        let db = try Fenec.memory()
        try await db.execute("create collection t (n int @sorted, s text, b bool @hash, m json)")
        try await db.execute("create collection u (t_id int @hash, k int)")
        let documents: [Value] = (0..<20).map {
            [
                "n": .int($0), "s": .string(random.text()), "b": .bool($0 % 2 == 0),
                "m": ["a": .int($0), "b": ["größe": "x"]],
            ]
        }
        try await db.from("t").insert(Value.array(documents))
        try await db.from("u").insert((0..<30).map { ["t_id": $0 % 20, "k": $0] })
        for _ in 0..<500 {
            let (query, columns) = try query(&random, on: db)
            let text = try query.toFenecQL().text
            do {
                guard case .rows(let answered, let rows, _) = try await query.answer() else {
                    Issue.record("\(text) is a read")
                    continue
                }
                if let columns { #expect(Array(answered.prefix(columns.count)) == columns, "\(text)") }
                #expect(rows.count <= 20)
                _ = try await query.explain()
            } catch {
                Issue.record("\(text): \(error)")
            }
        }
    }

    // MARK: every clause

    private func ranked(_ random: inout Random, on db: Fenec) throws -> (query: Query, columns: [String]) {
        var query = try db.from("docs").select("title")
        var columns = ["title"]
        if random.below(2) == 0 { query = try query.where("lang", random.one(of: ["de", "en"])) }
        if random.below(3) == 0 {
            let west = -Double(random.below(90))
            query = try query.where(.within("at", [west, -40.0, 90.0, 40.0] as [Double]))
        }
        let vector: [Float] = [random.float(), 0.5]
        switch random.below(3) {
        case 0:
            let ef: Int? = random.one(of: [nil, 40])
            query = try query.near("embed", vector, ef: ef, exact: random.below(2) == 0)
        case 1:
            query = try query.match("body", random.one(of: ["fox", "sly fxo", "\"", ""]), fuzzy: random.below(3))
            if random.below(2) == 0 { query = try query.rerank("embed", vector, candidates: 1 + random.below(50)) }
        default:
            query = try query.near("embed", vector).match("body", "fox", prefix: random.below(2) == 0)
                .fuse(k: random.below(2) == 0 ? nil : 10, candidates: random.below(2) == 0 ? nil : 5)
        }
        if try query.toFenecQL().text.contains(" match ") {
            if random.below(2) == 0 {
                query = try query.highlight("body", pre: "<\(random.text())", post: ">")
                columns.append("highlight(body)")
            }
            if random.below(2) == 0 {
                query = try query.snippet("body", 1 + random.below(9), ellipsis: random.below(2) == 0 ? nil : "…")
                columns.append("snippet(body)")
            }
        }
        return (try query.limit(1 + random.below(9)), columns)
    }

    private func grouped(_ random: inout Random, on db: Fenec) throws -> (query: Query, columns: [String]) {
        var picked: [(column: Column, name: String)] = []
        picked.append((try Column.countDistinct("lang").as("langs"), "langs"))
        picked.append((try Column.first("n", by: "made").as("f"), "f"))
        picked.append((try Column.last("n").as("l"), "l"))
        picked.append((try Column.expr("max(n) + ?", 1).as("more"), "more"))
        for name in ["sum(n)", "avg(n)"] { picked.append((Column(name), name)) }
        picked = Array(picked.shuffled(using: &random).prefix(1 + random.below(4)))
        var query = try db.from("docs")
        if random.below(2) == 0 { query = try query.where("n", [random.one(of: ["lt", "gte"]): random.below(9)]) }
        switch random.below(3) {
        case 0: query = try query.group("lang")
        case 1:
            let zone: String? = random.one(of: [nil, "Asia/Tokyo"])
            let month = try Column.bucket("made", random.one(of: ["1mo", "1d", "90s"]), zone)
            picked.insert((try month.as("m"), "m"), at: 0)
            query = try query.group("m")
        default: break
        }
        query = try query.select(picked.map(\.column))
        if random.below(2) == 0 { query = try query.limit(random.below(4)) }
        return (query, picked.map(\.name))
    }

    @Test func everyClauseIsTaken() async throws {
        var random = Random("everyClauseIsTaken")
        let db = try Fenec.memory()
        try await db.execute(
            """
            create collection docs (title text, body text @text, lang text @hash, n int, at geo, made timestamp,
                embed vector<2> @hnsw)
            """)
        for n in 0..<40 {
            var document = Row()
            document["title"] = .string(random.text())
            document["body"] = .string("the sly fox \(n) " + random.text())
            document["lang"] = n % 2 == 0 ? "de" : "en"
            document["n"] = .int(Int64(n))
            document["at"] = [.double(Double(n)), 10]
            document["made"] = .string("2024-0\(1 + n % 9)-01T00:00:00Z")
            document["embed"] = .floats([Float(n), 1])
            try await db.from("docs").insert(document)
        }
        for _ in 0..<400 {
            let (query, columns) =
                random.below(2) == 0 ? try ranked(&random, on: db) : try grouped(&random, on: db)
            let (text, params) = try query.toFenecQL()
            do {
                guard case .rows(let answered, _, _) = try await query.answer() else {
                    Issue.record("\(text) is a read")
                    continue
                }
                #expect(answered.filter { $0 != "_score" } == columns, "\(text)")
                _ = try await query.explain()
                // The parser takes the text alone too, and the numbers of its parameters are those bound.
                _ = try await db.run("explain " + text, params: params)
            } catch {
                Issue.record("\(text): \(error)")
            }
        }
    }

    @Test func everyWriteIsTaken() async throws {
        var random = Random("everyWriteIsTaken")
        let db = try Fenec.memory()
        try await db.execute("create collection t (k text @unique, n int, m json)")
        for n in 0..<300 {
            let t = try db.from("t")
            let key = "\(random.below(20))"
            do {
                switch random.below(4) {
                case 0:
                    let held: Row = ["k": .string(key), "n": 1]
                    let new: Row = ["k": .string("x\(n)"), "m": value(&random)]
                    let patch: Row = ["n": .inc(.int(Int64(1 + random.below(2)))), "m": .expr("m")]
                    let count = try await t.upsert([held, new], patch)
                    #expect(count == 2)
                case 1:
                    try await t.insert(["k": .string(key), "n": .expr("? + 1", 2)] as Value, ifAbsent: true)
                case 2:
                    let rows = try await t.where("n", ["gte": random.below(5)]).order("id", "desc").limit(2)
                        .update(["n": .inc(-1), "m": value(&random)] as Value, returning: ["id", "n"])
                    #expect(rows.count <= 2)
                    #expect(rows.allSatisfy { $0.keys == ["id", "n"] })
                default:
                    let rows = try await t.where("k", "=", key).delete(returning: ["*"])
                    #expect(rows.count <= 1)
                    #expect(try await t.where("k", key).count() == 0)
                }
            } catch {
                Issue.record("\(error)")
            }
        }
    }

    @Test func whatItWritesIsRead() async throws {
        var random = Random("whatItWritesIsRead")
        let db = try Fenec.memory()
        try await db.execute("create collection t (n int, s text @hash, b bool, m json)")
        for n in 0..<200 {
            let text = random.text() + "\(n)"
            let document: Value = ["n": .int(Int64(n)), "s": .string(text), "m": ["x": value(&random)]]
            #expect(try await db.from("t").insert(document) == 1)
            let found = try await db.from("t").where("s", text).first()
            #expect(found?["n"] == .int(Int64(n)))
            #expect(
                try await db.from("t").where("s", text).update(["n": .inc(1), "b": .expr("n >= ?", 0)] as Value) == 1)
            #expect(
                try await db.from("t").where(["s": .string(text), "b": true]).select("n").rows() == [
                    ["n": .int(Int64(n) + 1)]
                ])
        }
    }
}
