import FenecDB
import Foundation
import Testing

private struct Job: Codable, Sendable, FenecValue, Equatable {
    var id: Int?
    var title: String
}

/// A database whose frames pass as the test says, with two collections.
private func database() async throws -> (db: Fenec, time: ManualClock) {
    let time = ManualClock()
    let db = try Fenec.memory(clock: time.clock)
    try await db.execute("create collection jobs (title text, done bool)")
    try await db.execute("create collection tags (job int @hash, name text)")
    return (db, time)
}

private func code(_ body: () async throws -> Void) async -> FenecError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? FenecError)?.code
    }
}

/// Every run is one element, so a run too many shows as an element out of turn: these tests wait for what
/// has to come and never for what may not.
@Suite(.timeLimit(.minutes(5))) struct LiveTests {
    @Test func rowsComeAtOnceAndAfterEachWrite() async throws {
        let (db, time) = try await database()
        try await db.from("jobs").insert(Job(title: "a"))
        var live = db.live(try db.from("jobs").order("id"), as: Job.self).makeAsyncIterator()
        #expect(try await live.next() == [Job(id: 1, title: "a")])
        try await db.from("jobs").insert(Job(title: "b"))
        await time.tick()
        #expect(try await live.next()?.map(\.title) == ["a", "b"])
        try await db.from("jobs").where("id", 1).delete()
        await time.tick()
        #expect(try await live.next()?.map(\.title) == ["b"])
        #expect(time.frames == 2)
    }

    @Test func aBurstIsOneRun() async throws {
        let (db, time) = try await database()
        var live = db.live(try db.from("jobs")).makeAsyncIterator()
        #expect(try await live.next() == [])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for n in 0..<10 { group.addTask { try await db.execute("put jobs {title: $1}", "\(n)") } }
            try await group.waitForAll()
        }
        await time.tick()
        #expect(try await live.next()?.count == 10)
        try await db.execute("put jobs {title: \"a\"}; put jobs {title: \"b\"}; put jobs {title: \"c\"}")
        await time.tick()
        #expect(try await live.next()?.count == 13)
        for n in 0..<100 { try await db.execute("put jobs {title: $1}", "\(n)") }
        await time.tick()
        #expect(try await live.next()?.count == 113)
    }

    @Test func whatIsNoneOfItsBusinessRunsNothing() async throws {
        let (db, time) = try await database()
        var live = db.live(try db.from("jobs").where("done", nil as Value)).makeAsyncIterator()
        #expect(try await live.next() == [])
        try await db.execute("put tags {name: \"x\"}")
        await time.tick()
        // What failed as a whole was put back.
        #expect(await code { try await db.execute("put jobs {title: \"x\"}; put jobs {nothing: 1}") } == .notFound)
        await time.tick()
        // Reads alone begin no frame.
        let frames = time.frames
        _ = try await db.query("get jobs")
        _ = try await db.from("jobs").count()
        _ = try await db.changes(since: 0)
        #expect(time.frames == frames)
        try await db.execute("put jobs {title: \"y\"}")
        await time.tick()
        #expect(try await live.next()?.map { $0["title"] } == ["y"])
    }

    @Test func aLookWaitsForTheCallsUnderWay() async throws {
        let (db, time) = try await database()
        var live = db.live(try db.from("jobs")).makeAsyncIterator()
        #expect(try await live.next() == [])
        try await db.execute("put jobs {title: \"quick\"}")
        // A call that ends when the test says: the sequence of its texts waits.
        let gate = DispatchSemaphore(value: 0)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        async let slow: Void = db.runInOneBlock(Pieces(gate: gate, begin: begin))
        for await _ in begun { break }
        await time.tick()
        gate.signal()
        try await slow
        await time.tick()
        #expect(try await live.next()?.count == 2)
    }

    /// One text, and an end that waits.
    private struct Pieces: Sequence, Sendable {
        let gate: DispatchSemaphore
        let begin: AsyncStream<Void>.Continuation

        func makeIterator() -> AnyIterator<Result<Piece, any Error>> {
            var isFirst = true
            return AnyIterator {
                if isFirst {
                    isFirst = false
                    return .success(Piece(text: "put jobs {title: \"slow\"}", params: []))
                }
                begin.yield()
                gate.wait()
                return nil
            }
        }
    }

    @Test func aWriteThatWaitsInABufferCounts() async throws {
        let folder = try Folder()
        let db = try await Fenec.open(path: folder.file("a.fenec"), options: .noSync)
        try await db.execute("create collection jobs (title text)")
        var live = db.live(try db.from("jobs")).makeAsyncIterator()
        #expect(try await live.next() == [])
        try await db.execute("put jobs {title: \"a\"}")
        #expect(try await live.next()?.count == 1)
        try await db.flush()
        try await db.sync()
        // A text that begins with no word of its own, and one whose write comes second.
        try await db.execute("-- get\nput jobs {title: \"b\"}")
        #expect(try await live.next()?.count == 2)
        _ = try await db.run("get jobs; put jobs {title: \"c\"}")
        #expect(try await live.next()?.count == 3)
        try await db.close()
        #expect(try await live.next() == nil)
    }

    /// The ring of changes has an end: what it cannot tell of runs every query.
    @Test func whatCannotBeToldRunsEveryQuery() async throws {
        let (db, time) = try await database()
        var tags = db.live(try db.from("tags")).makeAsyncIterator()
        #expect(try await tags.next() == [])
        let before = try await db.changes(since: .max).seq
        while try await db.changes(since: before).collections != nil {
            for _ in 0..<500 { try await db.execute("put jobs {title: \"a\"}") }
        }
        await time.tick()
        #expect(try await tags.next() == [])
    }

    @Test func everyCollectionOfALookupCounts() async throws {
        let (db, time) = try await database()
        try await db.execute("put jobs {title: \"a\"}")
        var joined = db.live(try db.from("jobs").lookup("tags", on: "job")).makeAsyncIterator()
        var unknown = db.live(try db.from("jobs").where(.raw("id in (get tags select job)"))).makeAsyncIterator()
        #expect(try await joined.next()?[0]["tags"] == [])
        #expect(try await unknown.next() == [])
        try await db.execute("put tags {job: 1, name: \"x\"}")
        await time.tick()
        #expect(try await joined.next()?[0]["tags"]?[0]?["name"] == "x")
        #expect(try await unknown.next()?.count == 1)
    }

    @Test func aTextRunsAfterWritesToItsCollections() async throws {
        let (db, time) = try await database()
        var every = try db.live("get jobs where title = $1", "a").makeAsyncIterator()
        var some = try db.live("get jobs count", collections: ["tags"]).makeAsyncIterator()
        #expect(try await every.next() == [])
        #expect(try await some.next() == [["count": 0]])
        try await db.execute("put jobs {title: \"a\"}")
        await time.tick()
        #expect(try await every.next()?.count == 1)
        try await db.execute("put tags {name: \"x\"}")
        await time.tick()
        #expect(try await every.next()?.count == 1)
        #expect(try await some.next() == [["count": 1]])
        #expect(throws: FenecError.self) { try db.live("get jobs where id = $1", UInt64.max) }
    }

    @Test func answersComeWithTheirFacets() async throws {
        let (db, time) = try await database()
        var live = db.liveAnswers(try db.from("jobs").facet("title")).makeAsyncIterator()
        #expect(try await live.next()?.facets["title"] == [])
        try await db.execute("put jobs [{title: \"a\"}, {title: \"a\"}]")
        await time.tick()
        let answer = try await live.next()
        #expect(answer?.rows.count == 2)
        #expect(answer?.facets["title"] == [FacetCount(value: "a", count: 2)])
    }

    @Test func aSchemaChangeCounts() async throws {
        let (db, time) = try await database()
        try await db.execute("put jobs {title: \"a\"}")
        var live = db.live(try db.from("jobs")).makeAsyncIterator()
        #expect(try await live.next()?[0].keys == ["id", "title", "done"])
        try await db.execute("alter collection jobs drop field done")
        await time.tick()
        #expect(try await live.next()?[0].keys == ["id", "title"])
    }

    @Test func aDropRunsAllAndIsAnErrorToItsOwn() async throws {
        let (db, time) = try await database()
        var jobs = db.live(try db.from("jobs")).makeAsyncIterator()
        var tags = db.live(try db.from("tags")).makeAsyncIterator()
        #expect(try await jobs.next() == [])
        #expect(try await tags.next() == [])
        try await db.execute("drop collection tags")
        await time.tick()
        #expect(try await jobs.next() == [])
        await #expect { try await tags.next() } throws: { ($0 as? FenecError)?.code == .notFound }
    }

    @Test func whatCannotRunIsTheFirstAndLastEvent() async throws {
        let (db, _) = try await database()
        var refused = db.live(try db.from("jobs").group("title")).makeAsyncIterator()
        await #expect { try await refused.next() } throws: { ($0 as? FenecError)?.code == .builder }
        var unknown = db.live(try db.from("nowhere")).makeAsyncIterator()
        await #expect { try await unknown.next() } throws: { ($0 as? FenecError)?.code == .notFound }
        try await db.execute("put jobs [{title: \"a\"}, {done: true}]")
        var undecodable = db.live(try db.from("jobs"), as: Job.self).makeAsyncIterator()
        await #expect(throws: DecodingError.self) { try await undecodable.next() }
    }

    @Test func leavingTheLoopStopsTheQuery() async throws {
        let (db, time) = try await database()
        for try await rows in db.live(try db.from("jobs")) {
            #expect(rows == [])
            break
        }
        let task = Task { for try await _ in try db.live("get jobs") {} }
        task.cancel()
        _ = await task.result
        _ = db.live(try db.from("jobs"))
        while db.isWatched { await Task.yield() }
        // No work where nobody listens.
        try await db.execute("put jobs {title: \"a\"}")
        #expect(time.frames == 0)
    }

    @Test func closingEndsStreamsWithoutAnError() async throws {
        let (db, _) = try await database()
        let stream = db.live(try db.from("jobs"))
        var live = stream.makeAsyncIterator()
        #expect(try await live.next() == [])
        try await db.close()
        #expect(try await live.next() == nil)
        var late = db.live(try Query.from("jobs")).makeAsyncIterator()
        await #expect { try await late.next() } throws: { ($0 as? FenecError)?.code == .misuse }
    }

    @Test func lettingGoEndsStreamsWithoutAnError() async throws {
        var db: Fenec? = try Fenec.memory()
        try await db?.execute("create collection t (n int)")
        var live = try #require(try db?.live("get t")).makeAsyncIterator()
        #expect(try await live.next() == [])
        weak let watched = db
        db = nil
        #expect(try await live.next() == nil)
        while watched != nil { await Task.yield() }
    }

    @Test func manyQueriesFollowOneDatabase() async throws {
        let (db, time) = try await database()
        var all = (0..<50).map { n in
            (n, db.live(try! db.from("jobs").where("title", "\(n)")).makeAsyncIterator())
        }
        for place in all.indices { #expect(try await all[place].1.next() == []) }
        try await db.from("jobs").insert((0..<50).map { Job(title: "\($0)") })
        await time.tick()
        for place in all.indices {
            #expect(try await all[place].1.next()?.map { $0["title"] } == [.string("\(all[place].0)")])
        }
    }

    @Test func aBurstOnTheSystemsClockIsOneRun() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection t (n int)")
        var live = db.live(try db.from("t")).makeAsyncIterator()
        #expect(try await live.next() == [])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for n in 0..<1000 { group.addTask { try await db.execute("put t {n: $1}", n) } }
            try await group.waitForAll()
        }
        #expect(try await live.next()?.count == 1000)
    }
}

#if canImport(Observation)
    import Observation

    @Suite(.timeLimit(.minutes(5))) @MainActor struct LiveRowsTests {
        /// Waits for what the object will show.
        private func until(_ holds: @MainActor () -> Bool) async {
            while !holds() {
                await withCheckedContinuation { changed in
                    withObservationTracking {
                        _ = holds()
                    } onChange: {
                        changed.resume()
                    }
                }
            }
        }

        @Test func rowsFollowTheDatabase() async throws {
            let (db, time) = try await database()
            let jobs = LiveRows(db, try db.from("jobs").order("id").facet("title"), as: Job.self)
            #expect(jobs.rows == [])
            #expect(!jobs.loaded)
            await until { jobs.loaded }
            #expect(jobs.rows == [])
            try await db.from("jobs").insert(Job(title: "a"))
            await time.tick()
            await until { jobs.rows.count == 1 }
            #expect(jobs.rows == [Job(id: 1, title: "a")])
            #expect(jobs.facets["title"]?.count == 1)
            #expect(jobs.error == nil)
        }

        @Test func anErrorLeavesTheRows() async throws {
            let (db, time) = try await database()
            try await db.execute("put jobs {title: \"a\"}")
            let jobs = LiveRows(db, try db.from("jobs").order("id"), as: Job.self)
            await until { jobs.loaded }
            try await db.execute("put jobs {done: true}")
            await time.tick()
            await until { jobs.error != nil }
            #expect(jobs.error?.code == .type)
            #expect(jobs.rows.count == 1)
            try await db.execute("del jobs where title is null")
            await time.tick()
            await until { jobs.error == nil }
            #expect(jobs.rows == [Job(id: 1, title: "a")])
        }

        @Test func aRefusedQueryIsAnErrorOfTheObject() async throws {
            let (db, _) = try await database()
            let jobs = LiveRows(db, try db.from("jobs").group("title"))
            #expect(jobs.error == nil)
            await until { jobs.loaded }
            #expect(jobs.error?.code == .builder)
            #expect(jobs.rows == [])
        }

        @Test func stoppingLeavesTheRows() async throws {
            let (db, time) = try await database()
            try await db.execute("put jobs {title: \"a\"}")
            let jobs = LiveRows(db, try db.from("jobs"))
            await until { jobs.loaded }
            jobs.stop()
            while db.isWatched { await Task.yield() }
            try await db.execute("put jobs {title: \"b\"}")
            #expect(time.frames == 0)
            #expect(jobs.rows.count == 1)
        }

        @Test func lettingGoOfTheObjectStopsIt() async throws {
            let (db, _) = try await database()
            var jobs: LiveRows<Row>? = LiveRows(db, try db.from("jobs"))
            await until { jobs?.loaded ?? false }
            let last = try #require(jobs)
            jobs = nil
            await withCheckedContinuation { done in
                Thread.detachNewThread { [last] in
                    _ = last // the last reference goes on a thread of its own
                    done.resume()
                }
            }
            _ = consume last
            while db.isWatched { await Task.yield() }
        }

        @Test func closingStopsTheObject() async throws {
            let (db, _) = try await database()
            let jobs = LiveRows(db, try db.from("jobs"))
            await until { jobs.loaded }
            try await db.close()
            #expect(jobs.error == nil)
            let late = LiveRows(db, try Query.from("jobs"))
            await until { late.loaded }
            #expect(late.error?.code == .misuse)
        }
    }
#endif
