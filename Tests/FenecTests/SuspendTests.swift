import FenecDB
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct SuspendTests {
    @Test func aSuspendedFileIsFree() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let db = try await Fenec.open(path: path, options: .noSync)
        try await db.execute("create collection t (n int)")
        try await db.execute("put t {n: 1}")
        try await db.suspend()
        try await db.suspend()
        // Nobody holds it: another opens it, reads what was buffered, and writes.
        let other = try await Fenec.open(path: path)
        #expect(try await other.query("get t select n") == [["n": 1]])
        try await other.execute("put t {n: 2}")
        await #expect { try await db.resume() } throws: { ($0 as? FenecError)?.code == .locked }
        try await other.close()
        try await db.resume()
        try await db.resume()
        #expect(try await db.query("get t select n order id") == [["n": 1], ["n": 2]])
        try await db.close()
    }

    @Test func noDescriptorIsLeft() async throws {
        #if os(Linux)
            let folder = try Folder()
            let path = folder.file("a.fenec")
            let name = URL(fileURLWithPath: folder.path).lastPathComponent
            func open() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
                }.filter { $0.contains(name) }
            }
            let db = try await Fenec.open(path: path)
            try await db.execute("create collection t (n int)")
            #expect(try !open().isEmpty)
            try await db.suspend()
            #expect(try open() == [])
            try await db.resume()
            #expect(try await db.from("t").count() == 0)
            try await db.close()
            #expect(try open() == [])
        #endif
    }

    @Test func callsWaitAndGoOn() async throws {
        let folder = try Folder()
        let db = try await Fenec.open(path: folder.file("a.fenec"))
        try await db.execute("create collection t (n int)")
        try await db.suspend()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for n in 0..<50 { group.addTask { try await db.execute("put t {n: $1}", n) } }
            group.addTask {
                try await db.resume()
                return 0
            }
            let landed = try await group.reduce(0, +)
            #expect(landed == 50)
        }
        #expect(try await db.from("t").count() == 50)
        try await db.close()
    }

    @Test func suspendingAndResumingAmongCallsLosesNone() async throws {
        let folder = try Folder()
        let db = try await Fenec.open(path: folder.file("a.fenec"))
        try await db.execute("create collection t (n int)")
        try await withThrowingTaskGroup(of: Int.self) { group in
            for n in 0..<100 {
                group.addTask { try await db.execute("put t {n: $1}", n) }
                if n % 10 == 3 {
                    group.addTask {
                        try await db.suspend()
                        try await db.resume()
                        return 0
                    }
                }
            }
            let landed = try await group.reduce(0, +)
            #expect(landed == 100)
        }
        try await db.resume()
        #expect(try await db.from("t").count() == 100)
        try await db.close()
    }

    @Test func closingASuspendedDatabaseIsForGood() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let db = try await Fenec.open(path: path)
        try await db.execute("create collection t (n int)")
        try await db.suspend()
        let waiting = Task { try await db.query("get t") }
        try await db.close()
        let closed = FenecError(code: .misuse, message: "the database was closed")
        await #expect(throws: closed) { try await waiting.value }
        await #expect(throws: closed) { try await db.resume() }
        await #expect(throws: closed) { try await db.suspend() }
        try await Fenec.open(path: path).close()
    }

    @Test func memoryHasNothingToSuspend() async throws {
        let db = try Fenec.memory()
        try await db.suspend()
        try await db.execute("create collection t (n int)")
        try await db.resume()
        #expect(try await db.from("t").count() == 0)
    }

    @Test func aResumeThatFailsMayBeTriedAgain() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let db = try await Fenec.open(path: path)
        try await db.execute("create collection t (n int)")
        try await db.suspend()
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        await #expect { try await db.resume() } throws: { ($0 as? FenecError)?.code == .io }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        try await db.resume()
        #expect(try await db.from("t").count() == 0)
        try await db.close()
    }

    @Test func liveQueriesLiveOn() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let db = try await Fenec.open(path: path)
        try await db.execute("create collection t (n int)")
        var live = db.live(try db.from("t").select("n")).makeAsyncIterator()
        #expect(try await live.next() == [])
        // Nothing written: no run.
        try await db.suspend()
        try await db.resume()
        try await db.suspend()
        // One made meanwhile begins as the file is there again.
        var late = db.live(try db.from("t").select("n")).makeAsyncIterator()
        let other = try await Fenec.open(path: path)
        try await other.execute("put t {n: 1}")
        try await other.close()
        try await db.resume()
        #expect(try await live.next() == [["n": 1]])
        #expect(try await late.next() == [["n": 1]])
        try await db.execute("put t {n: 2}")
        #expect(try await live.next()?.count == 2)
        try await db.close()
        #expect(try await live.next() == nil)
    }

    @Test func lettingGoOfASuspendedDatabaseIsQuiet() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        var db: Fenec? = try await Fenec.open(path: path)
        try await db?.suspend()
        weak let watched = db
        db = nil
        while watched != nil { await Task.yield() }
        try await Fenec.open(path: path).close()
    }
}
