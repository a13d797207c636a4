import FenecDB
import Foundation
import Testing

/// Pieces that tests write down, what `before` does coming before each.
private struct Pieces: Sequence, Sendable {
    let texts: [(text: String, params: [Value])]
    var before: @Sendable (Int) throws -> Void = { _ in }

    func makeIterator() -> AnyIterator<Result<Piece, any Error>> {
        var place = 0
        return AnyIterator {
            guard place < texts.count else { return nil }
            defer { place += 1 }
            return Result {
                try before(place)
                return Piece(text: texts[place].text, params: texts[place].params)
            }
        }
    }
}

@Suite struct PiecesTests {
    @Test func piecesAreOneBlock() async throws {
        let db = try Fenec.memory()
        try await db.runInOneBlock(
            Pieces(texts: [
                ("create collection t (n int @unique, v vector<2>)", []),
                ("put t $1", [["n": 1, "v": .floats([0.1, 2])]]),
                ("put t {n: $1}; set t {n: n + 10}", [2]), ("create index on t (v) @hash", []), ("get t", []),
            ]))
        #expect(try await db.query("get t select n order n") == [["n": 11], ["n": 12]])
        #expect(try await db.query("get t where id = 1")[0]["v"]?.floats == [0.1, 2])
        let before = try await db.changes(since: .max).seq
        try await db.runInOneBlock(Pieces(texts: []))
        #expect(try await db.changes(since: .max).seq == before)
    }

    @Test func aPieceThatIsRefusedPutsAllOfThemBack() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection t (n int @unique); put t {n: 1}")
        for (bad, code) in [("put t {n: 1}", FenecError.Code.duplicate), ("gte t", .query), ("compact", .query)] {
            do {
                try await db.runInOneBlock(
                    Pieces(texts: [("create collection u (n int)", []), ("put t {n: 2}", []), (bad, [])]))
                Issue.record("\(bad) was taken")
            } catch let refusal as PieceError {
                #expect(refusal.piece == 2)
                #expect(refusal.error.code == code)
            }
        }
        struct Enough: Error {}
        await #expect(throws: Enough.self) {
            try await db.runInOneBlock(
                Pieces(texts: [("put t {n: 2}", []), ("put t {n: 3}", [])]) { if $0 == 1 { throw Enough() } })
        }
        #expect(try await db.query("get t select n") == [["n": 1]])
        #expect(try await db.run("collections") != .schemas([]))
        await #expect { try await db.query("get u") } throws: { ($0 as? FenecError)?.code == .notFound }
        #expect(try await db.execute("put t {n: 2}") == 1)
    }

    @Test func aBlockThatWasCutOffIsNotThere() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let copy = folder.file("copy.fenec")
        let db = try await Fenec.open(path: path)
        try await db.execute("create collection old (n int); put old {n: 1}")
        let name = String(repeating: "x", count: 200)
        var texts: [(String, [Value])] = [("create collection t (n int @sorted, name text @hash)", [])]
        for batch in 0..<40 {
            texts.append(
                ("put t $1", [.array((0..<500).map { ["n": .int(Int64(batch * 500 + $0)), "name": .string(name)] })]))
        }
        // The files as a kill would leave them, before the last piece.
        try await db.runInOneBlock(
            Pieces(texts: texts) { place in
                guard place == 40 else { return }
                for end in ["", "-wal"] {
                    try FileManager.default.copyItem(atPath: path + end, toPath: copy + end)
                }
            })
        #expect(try await db.query("get t count") == [["count": 20000]])
        try await db.close()
        let cut = try await Fenec.open(path: copy)
        #expect(try await cut.query("get old select n") == [["n": 1]])
        await #expect { try await cut.query("get t") } throws: { ($0 as? FenecError)?.code == .notFound }
        try await cut.close()
    }
}
