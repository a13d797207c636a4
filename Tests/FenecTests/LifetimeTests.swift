import FenecDB
import Foundation
import Testing

/// Letting go of a database, and what may keep one: nothing but the app and a call under way.
@Suite(.timeLimit(.minutes(5))) struct LifetimeTests {
    /// A file database that nobody else holds.
    private func open(_ folder: Folder) async throws -> Fenec {
        let db = try await Fenec.open(path: folder.file("a.fenec"), options: .noSync)
        try await db.execute("create collection if not exists t (n int)")
        try await db.execute("put t {n: 1}")
        return db
    }

    /// Opens it again: the last reference is gone, wherever that happened, and so is the lock.
    private func expectFree(_ folder: Folder) async throws {
        while true {
            do {
                let again = try await Fenec.open(path: folder.file("a.fenec"))
                #expect(try await again.from("t").count() == 1)
                return try await again.close()
            } catch let error as FenecError where error.code == .locked {
                await Task.yield()
            }
        }
    }

    /// Holds a database until it is told to let go.
    private final class Holder: @unchecked Sendable { // used by one thread after the other
        var db: Fenec?
        init(_ db: Fenec) { self.db = db }
    }

    @Test func anyThreadMayLetGo() async throws {
        let folder = try Folder()
        let onThread = Holder(try await open(folder))
        Thread.detachNewThread { onThread.db = nil }
        try await expectFree(folder)

        let onMain = Holder(try await reopen(folder))
        await MainActor.run { onMain.db = nil }
        try await expectFree(folder)

        let inTask = Holder(try await reopen(folder))
        await Task.detached { inTask.db = nil }.value
        try await expectFree(folder)
    }

    private func reopen(_ folder: Folder) async throws -> Fenec {
        try await Fenec.open(path: folder.file("a.fenec"), options: .noSync)
    }

    @Test func aCallUnderWayEndsFirst() async throws {
        let folder = try Folder()
        let holder = Holder(try await open(folder))
        let db = try #require(holder.db)
        let calls = (0..<20).map { _ in
            Task { [db] in try await db.query("get t") }
        }
        holder.db = nil
        for call in calls { #expect(try await call.value.count == 1) }
        _ = consume db
        try await expectFree(folder)
    }

    @Test func nothingOfItsOwnKeepsIt() async throws {
        let folder = try Folder()
        var db: Fenec? = try await open(folder)
        let query = try #require(try db?.from("t"))
        let stream = try #require(try db?.live("get t"))
        var live = stream.makeAsyncIterator()
        #expect(try await live.next()?.count == 1)
        weak let watched = db
        db = nil
        #expect(try await live.next() == nil)
        while watched != nil { await Task.yield() }
        await #expect { try await query.rows() } throws: { ($0 as? FenecError)?.code == .misuse }
        try await expectFree(folder)
    }

    @Test func hundredsComeAndGo() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for n in 0..<200 {
                group.addTask {
                    let db = try Fenec.memory()
                    try await db.execute("create collection t (n int)")
                    var live = db.live(try db.from("t")).makeAsyncIterator()
                    #expect(try await live.next() == [])
                    if n % 2 == 0 { try await db.close() }
                }
            }
            try await group.waitForAll()
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct OverlapTests {
    /// A block of one text whose end waits for a gate: it holds the writer meanwhile.
    private struct Held: Sequence, Sendable {
        let gate: DispatchSemaphore
        let begun: AsyncStream<Void>.Continuation

        func makeIterator() -> AnyIterator<Result<Piece, any Error>> {
            var isFirst = true
            return AnyIterator {
                if isFirst {
                    isFirst = false
                    return .success(Piece(text: "put t {n: 0}", params: []))
                }
                begun.yield()
                gate.wait()
                return nil
            }
        }
    }

    /// With the cooperative pool of one thread, as `make test` has it, one blocked call would stop it all.
    @Test func readsAndTasksGoOnWhileHundredsOfWritesWait() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection t (n int)")
        let gate = DispatchSemaphore(value: 0)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        async let held: Void = db.runInOneBlock(Held(gate: gate, begun: begin))
        for await _ in begun { break }
        let writes = (1...200).map { n in Task { try await db.execute("put t {n: $1}", n) } }
        for _ in 0..<20 {
            // Nothing of the block shows before it has landed.
            #expect(try await db.from("t").count() == 0)
            await Task.yield()
        }
        gate.signal()
        try await held
        for write in writes { #expect(try await write.value == 1) }
        #expect(try await db.from("t").count() == 201)
    }

    @Test func thousandsOfReadsEnd() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection t (n int)")
        try await db.from("t").insert((0..<100).map { ["n": $0] })
        let total = try await withThrowingTaskGroup(of: Int.self) { group in
            for n in 0..<2000 { group.addTask { try await db.from("t").where("n", n % 100).rows().count } }
            return try await group.reduce(0, +)
        }
        #expect(total == 2000)
    }

    @Test func aHundredThousandRowsCome() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection t (n int)")
        for start in 0..<20 {
            try await db.execute("put t $1", (0..<5000).map { ["n": start * 5000 + $0] })
        }
        struct Number: Decodable { let n: Int }
        let numbers = try await db.from("t").order("id").rows(as: Number.self)
        #expect(numbers.count == 100_000)
        #expect(numbers.last?.n == 99_999)
        // One row in the middle that does not decode is an error, and no rows.
        try await db.from("t").where("id", 50_000).update(["n": nil] as Value)
        await #expect(throws: DecodingError.self) { try await db.from("t").rows(as: Number.self) }
    }

    @Test func namesArriveAsTheyAre() async throws {
        let db = try Fenec.memory()
        for name in ["a\"b", "a b", "🦊", "a;del b", "a\u{0}", ""] {
            #expect { try db.from(name) } throws: { ($0 as? FenecError)?.code == .builder }
            #expect { try db.from("t").where(name, 1) } throws: { ($0 as? FenecError)?.code == .builder }
        }
        try await db.execute("create collection größe (名前 text)")
        try await db.from("größe").insert(["名前": "🦊\u{0}\"'"])
        #expect(try await db.from("größe").where("名前", "🦊\u{0}\"'").count() == 1)
    }

    @Test func numbersOutOfRangeAreErrors() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection t (n int, f float, e vector<2>)")
        func code(_ document: any FenecValue) async -> FenecError.Code? {
            do {
                try await db.from("t").insert(document)
                return nil
            } catch { return (error as? FenecError)?.code }
        }
        #expect(await code(["n": UInt64.max]) == .type)
        #expect(await code(["n": 1e300]) == .type)
        // Among a vector's components NaN is kept, and as JSON answered null; elsewhere it has no JSON at all.
        #expect(await code(["e": [Float.nan, 1]]) == nil)
        #expect(try await db.query("get t select e") == [["e": [nil, 1]]])
        #expect(await code(["f": Double.nan]) == nil)
        #expect(try await db.query("get t select f where id = 2") == [["f": nil]])
    }
}
