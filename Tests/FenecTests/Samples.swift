import FenecDB
import Foundation
import Testing

/// The samples of README.md and of the documentation, word for word: `make test-docs` finds each of them
/// in this file or beside it, and here they run.
@Suite struct Samples {
    @Test func readme() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")

        struct Todo: Codable, FenecValue {
            var id: Int?
            var title: String
            var done = false
        }

        let db = try await Fenec.open(path: path)
        try await db.schema("create collection todo (title text required, done bool @hash)")
        let todos = try db.from("todo")
        try await todos.insert([Todo(title: "paint the fence"), Todo(title: "fix the saw")])
        try await todos.where("title", "~", "SAW").update(["done": true])
        for todo in try await todos.where("done", false).order("title").rows(as: Todo.self) { print(todo.title) }

        for try await open in db.live(try todos.where("done", false), as: Todo.self) {
            print(open.count, "to do") // now, and again after each write
            break
        }
        try await db.close()
    }

    @Test func landingPage() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")

        let db = try await Fenec.open(path: path)
        try await db.schema("create collection todo (title text required, done bool @hash)")
        try await db.from("todo").insert(["title": "paint the fence", "done": false] as Value)
        let open = try await db.from("todo").where("done", false).rows()
        #expect(open.count == 1)
        try await db.close()
    }

    @Test func gettingStarted() async throws {
        let box = try Folder()
        let path = box.file("a.fenec")

        let db = try await Fenec.open(path: path)
        let folder = try FileManager.default.url(
            for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        let url = folder.appendingPathComponent("app.fenec")
        #expect(url.lastPathComponent == "app.fenec")
        try await db.schema("create collection jobs (title text required, done bool @hash, due timestamp @sorted)")
        struct Job: Codable, FenecValue {
            var id: Int?
            var title: String
            var done = false
            var due: Date?
        }
        let jobs = try db.from("jobs")
        try await jobs.insert([Job(title: "paint the fence", due: Date()), Job(title: "fix the saw")])
        let open = try await jobs.where("done", false).order("due").rows(as: Job.self)
        let first = try await jobs.where("id", 1).first(as: Job.self)
        let count = try await jobs.where("done", false).count()
        #expect(open.map(\.title) == ["paint the fence", "fix the saw"] || open.count == 2)
        #expect(first?.id == 1)
        #expect(count == 2)
        for row in try await jobs.select("id", "title").rows() {
            print(row["id"]?.int ?? 0, row["title"]?.string ?? "")
        }
        let late = try await db.query(
            as: Job.self, "get jobs where not done and due < now() - $1 order due", 86_400_000)
        try await db.execute("set jobs {done: true} where title ~ $1 require 1", "fence")
        #expect(late.isEmpty)
        #expect(try await jobs.where("done", true).count() == 1)
        try await db.close()
    }

    @Test func queries() async throws {
        let db = try Fenec.memory()
        try await db.schema(
            """
            create collection books (title text, lang text, year int @sorted, price float, stock int, tags [text],
                owner text, added timestamp, isbn text @unique)
            create collection loans (book_id int @hash, who text, back timestamp)
            """)
        try await db.from("books").insert(
            [
                ["title": "The sly old fox", "lang": "en", "year": 1995, "price": 8.5, "stock": 5, "tags": ["signed"]],
                ["title": "Der Bau", "lang": "de", "year": 2001, "price": 12.0, "stock": 0],
                ["title": "Dunes", "lang": "en", "year": 2004, "price": 30.0, "stock": 1],
            ] as Value)
        try await db.from("loans").insert(["book_id": 1, "who": "Ada"] as Value)

        let books = try db.from("books")
        let english = try books.where("lang", "en")
        let recent = try await english.where("year", ">=", 2000).order("year", "desc").limit(20).rows()
        let cheap = try await english.where("price", "<", 10).count()
        #expect(recent.count == 1)
        #expect(cheap == 1)

        let found =
            try await books
            .where(["lang": "en", "year": ["gte": 1990, "lt": 2000]])
            .where(.or(["tags": ["has": "signed"]], .not(["owner": nil])))
            .where(.raw("len(title) > ?", 12))
            .rows()
        #expect(found.count == 1)

        let perYear =
            try await books
            .select("year", "count(*)", .expr("avg(price) * ?", 1.19).as("gross"))
            .group("year").order("year")
            .rows()
        let counts = perYear.map { ($0["year"]?.int, $0["count"]?.int) }
        #expect(counts.count == 3)

        struct Loan: Codable, FenecValue {
            var id: Int?
            var book_id: Int
            var who: String
            var back: Date?
        }
        struct Book: Codable, FenecValue {
            var id: Int?
            var title: String
            var loans: [Loan]?
        }
        let lent =
            try await books
            .lookup("loans", on: "book_id", where: ["back": nil], required: true, order: ["who"])
            .rows(as: Book.self)
        #expect(lent.map(\.loans?.first?.who) == ["Ada"])

        let answer = try await books.where("lang", "en").facet("year", top: 5).facet("price", ranges: [0, 10, 50])
            .answer()
        for count in answer.facets["year"] ?? [] { print(count.value, count.count) }
        #expect(answer.facets["price"]?.count == 2)

        try await books.insert(["title": "Fox", "year": 1999, "added": .expr("now()")] as Value)
        try await books.where("id", 1).where("stock", ">=", 2).update(["stock": .inc(-2)] as Value, require: 1)
        let sold = try await books.where("stock", 0).delete(returning: ["id", "title"])
        try await books.upsert(["isbn": "b-7", "stock": 1] as Value, ["stock": .inc(1)] as Value)
        #expect(sold.map { $0["title"] } == ["Der Bau"])

        let (text, params) = try books.where("year", ">", 1990).limit(5).toFenecQL()
        // get books where year > $1 limit $2     [1990, 5]
        let plan = try await books.where("year", ">", 1990).explain()
        #expect(text == "get books where year > $1 limit $2")
        #expect(params == [1990, 5])
        #expect(!plan.isEmpty)
    }

    @Test(.enabled("near and match are in this build") { try await SurfaceTests.ranks() })
    func search() async throws {
        let db = try Fenec.memory()
        try await db.schema(
            "create collection notes (title text, body text @text, tag text @hash, meaning vector<3> @hnsw(cosine))")
        try await db.from("notes").insert(
            [
                ["title": "Fence", "body": "paint the fence", "tag": "home", "meaning": .floats([0.1, 0.2, 0.3])],
                ["title": "Bread", "body": "flour and water", "tag": "food", "meaning": .floats([1, 0, 0])],
            ] as Value)

        let hits = try await db.from("notes")
            .match("body", "paint fence", prefix: true)
            .select("title").snippet("body", 12, pre: "<b>", post: "</b>")
            .limit(10).rows()
        for hit in hits { print(hit["title"] ?? "", hit["snippet(body)"] ?? "", hit["_score"]?.double ?? 0) }
        #expect(hits.map { $0["title"] } == ["Fence"])

        let question: [Float] = [0.1, 0.2, 0.3]
        let nearest = try await db.from("notes").near("meaning", question).limit(10).rows()
        let exact = try await db.from("notes").where("tag", "home").near("meaning", question, exact: true).limit(10)
            .rows()
        #expect(nearest.first?["title"] == "Fence")
        #expect(exact.count == 1)

        let best = try await db.from("notes")
            .match("body", "paint fence").near("meaning", question).fuse()
            .limit(10).rows()
        #expect(best.first?["title"] == "Fence")
    }

    @Test func liveQueries() async throws {
        struct Job: Codable, FenecValue {
            var id: Int?
            var title: String
        }
        let db = try Fenec.memory()
        try await db.execute("create collection jobs (title text, done bool, tries int)")

        for try await open in db.live(try db.from("jobs").where("done", false), as: Job.self) {
            print(open.count, "to do")
            if open.isEmpty { break }
        }
        for try await rows in try db.live("get jobs count where done", collections: ["jobs"]) {
            print(rows[0]["count"] ?? 0, "done")
            break
        }
    }

    @Test func schema() async throws {
        let db = try Fenec.memory()

        let schema = """
            create collection jobs (title text required, done bool @hash, due timestamp @sorted)
            create collection tags (job int @hash, name text)
            """
        let plan = try await db.schema(schema)
        print(plan.applied, plan.statements)
        #expect(plan.applied)

        let next = """
            create collection jobs (name text required, done bool @hash, due timestamp @sorted)
            create collection tags (job int @hash, name text)
            """
        do {
            try await db.schema(next)
        } catch let error as SchemaError {
            for refusal in error.refusals { print(refusal.message, refusal.fix) }
        }
        try await db.schema(next, migrations: ["alter collection jobs rename field title to name"])
        #expect(try await db.from("jobs").select("name").rows() == [])
    }

    @Test func concurrency() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection jobs (title text, done bool, tries int)")

        try await withThrowingTaskGroup(of: Void.self) { group in
            for n in 0..<8 {
                group.addTask { try await db.from("jobs").insert(["title": "job \(n)", "done": false] as Value) }
            }
            try await group.waitForAll()
        }
        let taken = try await db.from("jobs").where("done", false).order("id").limit(1)
            .update(["done": true, "tries": .inc()] as Value, returning: ["*"])
        #expect(taken.count == 1)
        #expect(try await db.from("jobs").count() == 8)
    }

    @Test func errors() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection users (email text @unique)")
        for _ in 0..<2 {
            do {
                try await db.from("users").insert(["email": "a@b.c"])
            } catch let error as FenecError where error.code == .duplicate {
                print("taken already:", error.message)
            }
        }
        #expect(try await db.from("users").count() == 1)
    }
}
