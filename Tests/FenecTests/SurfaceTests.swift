import FenecDB
import Foundation
import Testing

private struct Task1: Codable, Sendable, FenecValue {
    var id: Int?
    var title: String
    var done: Bool
}

/// The calls an app makes, spelled as the specification spells them.
@Suite struct SurfaceTests {
    @Test func callsAreSpelledSo() async throws {
        let folder = try Folder()
        let url = URL(fileURLWithPath: folder.file("a.fenec"))
        let db = try await Fenec.open(url, options: [.noSync, .noAutoCompact])
        try await db.execute("create collection if not exists jobs (title text, done bool @hash, embed vector<3>)")
        try await db.execute("alter collection jobs add field tries int")
        try await db.from("jobs").insert(Task1(title: "paint", done: false))
        try await db.from("jobs").insert(["title": "saw", "done": true] as Value)
        try await db.execute("put jobs {title: $1, embed: $2}", "nail", [Float(0.1), 0.2, 0.3])
        let typed = try await db.from("jobs").where("done", false).order("title").rows(as: Task1.self)
        #expect(typed.map(\.title) == ["paint"])
        let one = try await db.from("jobs").where("id", typed[0].id!).first(as: Task1.self)
        #expect(one?.title == "paint")
        let n = try await db.from("jobs").where(.or(["done": true], ["title": ["like": "na"]])).count()
        #expect(n == 2)
        try await db.from("jobs").where("id", 1).update(["done": true] as Value)
        let taken = try await db.from("jobs").where("done", true).limit(2)
            .update(["done": true, "tries": .inc()] as Value, returning: ["*"])
        #expect(taken.map { $0["tries"] } == [1, 1])
        try await db.from("jobs").where("done", true).delete()
        for try await rows in db.live(try db.from("jobs").where("done", false), as: Task1.self) {
            #expect(rows.count == 0)
            break
        }
        for try await rows in try db.live("get jobs count", collections: ["jobs"]) {
            #expect(rows == [["count": 1]])
            break
        }
        try await db.sync()
        try await db.flush()
        try await db.checkpoint()
        try await db.warm(["jobs"])
        try await db.close()
    }

    /// Whether the library ranks by vectors and words together yet; the tests of that wait until it does.
    static func ranks() async throws -> Bool {
        let db = try Fenec.memory()
        try await db.execute("create collection t (s text @text, e vector<2> @hnsw)")
        try await db.execute("put t {s: \"a\", e: [1, 0]}")
        do {
            _ = try await db.query("get t near e $1 match s $2 fuse limit 1", [Float(1), 0], "a")
            return true
        } catch {
            return false
        }
    }

    @Test(.enabled("near and match are in this build") { try await ranks() })
    func rankingsAreSpelledSo() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection jobs (title text @text, embed vector<3> @hnsw(cosine))")
        let vector: [Float] = [0.1, 0.2, 0.3]
        try await db.execute("put jobs {title: $1, embed: $2}", "nail", vector)
        let rows = try await db.query("get jobs near embed $1 limit 5", vector)
        #expect(rows[0]["title"] == "nail")
        #expect(rows[0]["_score"]?.double != nil)
        #expect(rows[0]["embed"]?.floats == vector)
        #expect(try await db.query("get jobs near embed $1 limit 5", [0.1, 0.2, 0.3] as [Double]).count == 1)
        let jobs = try db.from("jobs")
        #expect(try await jobs.near("embed", vector).limit(1).rows().count == 1)
        #expect(try await jobs.match("title", "nail").rows().count == 1)
        #expect(try await jobs.match("title", "nail").near("embed", vector).fuse().limit(3).rows().count == 1)
    }
}
