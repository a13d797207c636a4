import FenecDB
import Foundation

/// The samples of documentation comments, word for word. They have no database to run on and are compiled
/// alone; what they say runs in the tests of what they belong to.
private enum SamplesOfComments {
    struct Job: Codable, FenecValue {
        var id: Int?
        var title: String
    }

    static func opening() async throws {
        let db = try await Fenec.open(path: "app.fenec")
        try await db.execute("create collection if not exists jobs (title text, done bool @hash)")
        try await db.execute("put jobs {title: $1, done: false}", "paint")
        for row in try await db.query("get jobs where done = false order id") { print(row) }
        try await db.close()
    }

    static func texts(_ db: Fenec) async throws {
        let rows = try await db.query("get jobs where title = $1", "paint")
        print(rows)
    }

    static func typed(_ db: Fenec) async throws {
        struct Job: Decodable { var id: Int; var title: String }
        let jobs = try await db.query(as: Job.self, "get jobs order id")
        print(jobs)
    }

    static func rows(_ db: Fenec, _ row: Row) async throws {
        for row in try await db.query("get jobs select id, title") {
            print(row["id"]?.int ?? 0, row["title"]?.string ?? "")
        }
        struct Job: Decodable { var id: Int; var title: String }
        let job = try row.decode(as: Job.self)
        print(job)
    }

    static func documents(_ db: Fenec) async throws {
        struct Job: Codable, FenecValue { var id: Int?; var title: String }
        try await db.execute("put jobs $1", Job(title: "paint"))
    }

    static func values() {
        let job: Value = ["title": "paint", "done": false, "sizes": [1, 2.5]]
        print(job["title"]?.string ?? "") // paint
        print(job["sizes"]?[1] == .double(2.5)) // true
    }

    static func errors(_ db: Fenec, _ text: String) async throws {
        do {
            try await db.execute("put users {email: $1}", "a@b.c")
        } catch let error as FenecError where error.code == .duplicate {
            print(error.message)
        }
        do {
            try await db.schema(text)
        } catch let error as SchemaError {
            for refusal in error.refusals { print(refusal.message, refusal.fix) }
        }
    }

    static func queries(_ db: Fenec) async throws {
        let open = try db.from("jobs").where("done", false)
        let next = try await open.order("due").limit(20).rows(as: Job.self)
        try await open.where("id", 7).update(["done": true] as Value)
        print(next)
    }

    static func conditions(_ db: Fenec) throws {
        let open: Cond = ["done": false, "due": ["lt": "2027-01-01"]]
        let jobs = try db.from("jobs").where(.or(open, .not(["owner": nil]), .raw("len(title) > ?", 40)))
        print(jobs.collection)
    }

    static func columns(_ db: Fenec) throws {
        let perDay = try db.from("jobs")
            .select(.bucket("due", "1d").as("day"), "count(*)", .countDistinct("owner").as("owners"))
            .group("day").order("day")
        print(perDay.collection)
    }

    static func sorting(_ db: Fenec) throws {
        let books = try db.from("books").lookup("loans", on: "book_id", order: [SortKey("at", "desc"), "who"])
        print(books.collection)
    }

    static func lookups(_ db: Fenec) async throws {
        let books = try await db.from("books").lookup("loans", on: "book_id", where: ["back": nil]).rows()
        print(books)
    }

    static func computed(_ db: Fenec) async throws {
        try await db.from("jobs").where("id", 7).update(["tries": .inc()] as Value)
        try await db.from("jobs").insert(["title": "paint", "due": .expr("now()")] as Value)
    }

    static func live(_ db: Fenec) async throws {
        for try await rows in db.live(try db.from("jobs").where("done", false)) {
            print(rows.count, "to do")
        }
    }

    static func schema(_ db: Fenec) async throws {
        let text = try String(contentsOf: Bundle.main.url(forResource: "schema", withExtension: "fenecql")!, encoding: .utf8)
        try await db.schema(text, migrations: ["alter collection jobs rename field title to name"])
    }
}
