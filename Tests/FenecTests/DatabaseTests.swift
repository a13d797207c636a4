import FenecDB
import Foundation
import Testing

/// The code of the error a call throws; nil where it throws none or another.
private func code(_ call: () async throws -> Void) async -> FenecError.Code? {
    do {
        try await call()
        return nil
    } catch {
        return (error as? FenecError)?.code
    }
}

@Suite struct DatabaseTests {
    @Test func textsAnswerWhatTheirLastStatementDoes() async throws {
        let db = try Fenec.memory()
        let made = try await db.run("create collection film (name text, year int @sorted)")
        guard case .ok(let message) = made else {
            Issue.record("a schema statement answers ok")
            return
        }
        #expect(message.contains("film"))
        #expect(try await db.run("put film [{name: $1, year: 1979}, {name: $2}]", "Stalker", "Solaris") == .affected(2))
        #expect(try await db.execute("set film {year: $1} where name = $2", 1972, "Solaris") == 1)
        let rows = try await db.query("get film select name, year order year")
        #expect(rows == [["name": "Solaris", "year": 1972], ["name": "Stalker", "year": 1979]])
        let answer = try await db.run("put film {name: \"Mirror\"}; get film count")
        #expect(answer == .rows(columns: ["count"], rows: [["count": 3]]))
        let written = try await db.run("set film {year: 1975} where year is null returning name")
        #expect(written == .rows(columns: ["name"], rows: [["name": "Mirror"]]))
        #expect(written.affected == 0)
        guard case .schemas(let collections) = try await db.run("collections") else {
            Issue.record("collections answers schemas")
            return
        }
        #expect(collections.map { $0["name"] } == ["film"])
        #expect(try await db.run("") == .ok("empty"))
        #expect(try await db.query("del film where name = \"none\"") == [])
        #expect(try await db.execute("get film") == 0)
        try await db.close()
    }

    private struct Film: Codable, FenecValue, Equatable {
        var id: Int?
        var name: String
        var at: Date?
        var tags: [String]
    }

    @Test func typesOfTheAppGoInAndComeOut() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection film (name text, at timestamp, tags [text])")
        let film = Film(name: "Mirror", at: Date(timeIntervalSince1970: 1.25), tags: ["a", "b"])
        try await db.execute("put film $1", film)
        try await db.execute("put film $1", [Film(name: "x", tags: []), Film(id: 9, name: "y", tags: ["z"])])
        let films = try await db.query(as: Film.self, "get film order id")
        #expect(films.map(\.id) == [1, 2, 9])
        #expect(films.map(\.name) == ["Mirror", "x", "y"])
        #expect(films[0].at == film.at)
        #expect(films[1].at == nil)
        #expect(films[2].tags == ["z"])
        struct Wrong: Decodable { var name: Int }
        await #expect(throws: DecodingError.self) { try await db.query(as: Wrong.self, "get film") }
        struct Unwritable: FenecValue {
            struct Reason: Error {}
            func fenecValue() throws -> Value { throw Reason() }
        }
        await #expect(throws: Unwritable.Reason.self) { try await db.execute("put film $1", Unwritable()) }
    }

    @Test func vectorsCrossAsFloats() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection note (e vector<3>)")
        let vector: [Float] = [0.1, Float("7.038531e-26")!, -1e30]
        try await db.execute("put note {e: $1}", vector)
        try await db.execute("put note {e: $1}", [0.1, 2, 3] as [Double])
        try await db.execute("put note {e: $1}", Value.floats([-0.0, 16_777_216, .leastNonzeroMagnitude]))
        let rows = try await db.query("get note select e order id")
        #expect(rows[0]["e"]?.floats == vector)
        #expect(rows[1]["e"]?.floats == [0.1, 2, 3])
        #expect(rows[2]["e"]?.floats == [0, 16_777_216, .leastNonzeroMagnitude])
        struct Note: Decodable { var e: [Float] }
        #expect(try await db.query(as: Note.self, "get note where id = 1")[0].e == vector)
        #expect(await code { try await db.execute("put note {e: $1}", [Float(1), 2]) } == .type)
    }

    @Test func whatNeedsEveryDigitIsSentAgain() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection note (meta json, place geo, e vector<2>)")
        try await db.execute("put note {meta: $1}", [0.1, 0.2] as [Double])
        #expect(try await db.query("get note select meta")[0]["meta"] == [.double(0.1), .double(0.2)])
        // As floats: two of the three parameters are asked for exactly.
        let place: [Float] = [13.5, 52.25]
        try await db.execute("put note {meta: $1, e: $2, place: $3}", [Float(0.5), 2], [Float(0.1), 0.2], place)
        let row = try await db.query("get note where id = 2")[0]
        #expect(row["meta"] == [.double(0.5), .int(2)])
        #expect(row["e"]?.floats == [0.1, 0.2])
        #expect(row["place"] == [.double(13.5), .double(52.25)])
    }

    @Test func errorsHaveTheirCodes() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection user (email text @unique, age int)")
        try await db.execute("put user {email: \"a\", age: 1}")
        #expect(await code { try await db.execute("get nobody") } == .notFound)
        #expect(await code { try await db.execute("gte user") } == .query)
        #expect(await code { try await db.execute("create collection user (a int)") } == .exists)
        #expect(await code { try await db.execute("put user {email: \"a\"}") } == .duplicate)
        #expect(await code { try await db.execute("put user {age: \"old\"}") } == .type)
        #expect(await code { try await db.execute("del user where age = 7 require 1") } == .unmet)
        #expect(await code { try await db.execute("get user where age = $1") } == .query)
        #expect(await code { try await db.execute("put user $1", UInt64.max) } == .type)
        do {
            try await db.execute("put user {email: \"b\"}; put user {email: \"a\"}")
            Issue.record("a unique value was taken twice")
        } catch let error as FenecError {
            #expect(error.code == .duplicate)
            #expect(error.at == 1)
            #expect(error.message.hasPrefix("duplicate: "))
            #expect(error.description == error.message)
            #expect(error.status == nil)
        }
        #expect(try await db.query("get user count") == [["count": 1]])
    }

    @Test func inputNeverTraps() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection t (n int, j json)")
        #expect(await code { try await db.execute("put t {n: \0}") } == .query)
        #expect(await code { try await db.execute("get t limit 99999999999999999999") } == .query)
        #expect(await code { try await db.execute(String(repeating: "(", count: 100_000)) } == .query)
        var deep: Value = 1
        for _ in 0..<600 { deep = [deep] }
        let tooDeep = deep
        #expect(await code { try await db.execute("put t {j: $1}", tooDeep) } == .query)
        try await db.execute("put t {j: $1}", "\u{0}\u{1F}é😀")
        #expect(try await db.query("get t select j") == [["j": "\u{0}\u{1F}é😀"]])
        #expect(await code { _ = try await db.run("get t where n = $300", params: [1]) } == .query)
        _ = try await db.query("get t limit $1", Int.max)
    }

    @Test func changesTellWhatWasWritten() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection a (n int); create collection b (n int)")
        let now = try await db.changes(since: .max)
        #expect(now.seq == 2)
        #expect(now.horizon == 0)
        #expect(now.collections == nil)
        #expect(try await db.changes(since: now.seq).collections == [])
        try await db.execute("put b [{n: 1}, {n: 2}]")
        let later = try await db.changes(since: now.seq)
        #expect(later.seq == 4)
        #expect(later.collections == ["b"])
    }

    @Test func theVersionHasThreeNumbers() {
        #expect(Fenec.version.split(separator: ".").count == 3)
    }
}

@Suite struct OpeningTests {
    @Test func aFileIsThereAgainAfterAClose() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        for options in [[], .noSync, .inMemory, .noAutoCompact, [.noSync, .noAutoCompact]] as [Fenec.Options] {
            try? FileManager.default.removeItem(atPath: path)
            let db = try await Fenec.open(path: path, options: options)
            try await db.execute("create collection t (n int)")
            try await db.execute("put t {n: 1}")
            try await db.close()
            let again = try await Fenec.open(URL(fileURLWithPath: path))
            #expect(try await again.query("get t select n") == [["n": 1]])
            try await again.close()
        }
    }

    @Test func aFileHasOneOpener() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let db = try await Fenec.open(path: path)
        await #expect { try await Fenec.open(path: path) } throws: { ($0 as? FenecError)?.code == .locked }
        try await db.close()
        try await Fenec.open(path: path).close()
    }

    @Test func whatCannotBeOpenedSaysWhy() async throws {
        let folder = try Folder()
        let text = try folder.file("notes.txt", holding: String(repeating: "not a database\n", count: 100))
        func code(_ path: String) async -> FenecError.Code? {
            do {
                try await Fenec.open(path: path).close()
                return nil
            } catch {
                return (error as? FenecError)?.code
            }
        }
        #expect(await code(text) == .corrupt)
        #expect(await code(folder.file("missing/a.fenec")) == .io)
        #expect(await code(folder.path) == .io)
        #expect(await code("") == .misuse)
        let url = try #require(URL(string: "https://example.org/a.fenec"))
        await #expect { try await Fenec.open(url) } throws: { ($0 as? FenecError)?.code == .misuse }
        #expect(try Data(contentsOf: URL(fileURLWithPath: text)).count == 1500)
    }

    @Test func afterACloseEveryCallSaysSo() async throws {
        let db = try Fenec.memory()
        try await db.close()
        try await db.close()
        let closed = FenecError(code: .misuse, message: "the database was closed")
        await #expect(throws: closed) { try await db.run("collections") }
        await #expect(throws: closed) { try await db.query("collections") }
        await #expect(throws: closed) { try await db.execute("collections") }
        await #expect(throws: closed) { try await db.changes(since: 0) }
        await #expect(throws: closed) { try await db.sync() }
        await #expect(throws: closed) { try await db.flush() }
        await #expect(throws: closed) { try await db.checkpoint() }
        await #expect(throws: closed) { try await db.warm() }
    }

    @Test func callsUnderWayEndBeforeACloseDoes() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let db = try await Fenec.open(path: path)
        try await db.execute("create collection t (n int)")
        let landed = try await withThrowingTaskGroup(of: Int.self) { group in
            for n in 0..<40 {
                group.addTask {
                    do {
                        return try await db.execute("put t {n: $1}", n)
                    } catch let error as FenecError where error.code == .misuse {
                        #expect(error.message == "the database was closed")
                        return 0
                    }
                }
                if n == 20 {
                    for _ in 0..<3 {
                        group.addTask {
                            try await db.close()
                            // Whichever close it was, the file is free now.
                            return 0
                        }
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        let again = try await Fenec.open(path: path)
        #expect(try await again.query("get t count") == [["count": .int(Int64(landed))]])
        try await again.close()
    }

    @Test func lettingGoClosesTheFile() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        var db: Fenec? = try await Fenec.open(path: path, options: .noSync)
        try await db?.execute("create collection t (n int)")
        try await db?.execute("put t {n: 5}")
        weak let watched = db
        db = nil
        #expect(watched == nil)
        let again = try await Fenec.open(path: path)
        #expect(try await again.query("get t select n") == [["n": 5]])
        try await again.close()
    }

    @Test func durabilityCallsWork() async throws {
        let folder = try Folder()
        let db = try await Fenec.open(path: folder.file("a.fenec"), options: .noSync)
        try await db.execute("create collection t (n int @sorted)")
        try await db.execute("put t {n: 1}")
        try await db.flush()
        try await db.sync()
        try await db.checkpoint()
        #expect(try await db.warm() == 0)
        #expect(try await db.warm(["t", "t.n", "none"]) == 0)
        try await db.close()
    }
}

@Suite struct ConcurrencyTests {
    @Test func eightTasksWriteAndRead() async throws {
        let folder = try Folder()
        let db = try await Fenec.open(path: folder.file("a.fenec"))
        try await db.execute("create collection t (task int @hash, n int, e vector<4>)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for n in 0..<25 {
                        let vector = [Float(task), Float(n), 0.1, -1]
                        try await db.execute("put t {task: $1, n: $2, e: $3}", task, n, vector)
                        let rows = try await db.query("get t select n, e where task = $1 order id", task)
                        // What a task wrote before, it reads, in the order it wrote.
                        #expect(rows.map { $0["n"]?.int } == Array(0...n))
                        #expect(rows.last?["e"]?.floats == vector)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await db.query("get t count") == [["count": 200]])
        try await db.close()
    }

    @Test func moreCallsThanThreadsAllEnd() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection t (n int)")
        let total = try await withThrowingTaskGroup(of: Int.self) { group in
            for n in 0..<1000 { group.addTask { try await db.execute("put t {n: $1}", n) } }
            return try await group.reduce(0, +)
        }
        #expect(total == 1000)
        #expect(try await db.query("get t count") == [["count": 1000]])
    }

    @Test func aCancelledTasksWriteLands() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection t (n int)")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await db.execute("put t {n: 1}")
        }
        #expect(try await task.value == 1)
        #expect(try await db.query("get t count") == [["count": 1]])
    }

    @Test func databasesDoNotWaitForEachOther() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let db = try Fenec.memory()
                    try await db.execute("create collection t (n int); put t {n: 1}")
                    #expect(try await db.query("get t count") == [["count": 1]])
                    try await db.close()
                }
            }
            try await group.waitForAll()
        }
    }
}
