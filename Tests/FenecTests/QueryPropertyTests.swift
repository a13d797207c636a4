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
