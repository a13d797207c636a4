import FenecDB
import Foundation
import Testing

/// The samples of checks, copies and recovery, word for word.
@Suite struct SamplesOfCare {
    @Test func checksAndCopies() async throws {
        let box = try Folder()
        let folder = URL(fileURLWithPath: box.path)
        let db = try await Fenec.open(path: box.file("a.fenec"))
        try await db.execute("create collection t (a text @text, n int @sorted)")
        try await db.execute("put t [{a: \"one\", n: 1}, {a: \"two\", n: 2}]")

        let copy = folder.appendingPathComponent("app.backup").path
        let made = try await db.backup(to: copy, replacing: true) { progress in
            print(progress.what, progress.done, progress.total ?? 0)
        }
        print(made.documents, "documents,", made.bytes, "bytes")
        #expect(made.documents == 2)

        let report = try await db.check()
        if !report.isSound {
            for finding in report.findings { print(finding) }
        }
        #expect(report.isSound)
        #expect(report.documents == 2)

        let damaged = copy
        let recovered = folder.appendingPathComponent("recovered.fenec").path
        let result = try await Fenec.recover(damaged, to: recovered, replacing: true)
        print(result.documents, "documents")
        for loss in result.losses { print(loss) }
        #expect(result.isWhole)
        #expect(result.documents == 2)
        try await db.close()
    }

    @Test func comments() async throws {
        let box = try Folder()
        let folder = URL(fileURLWithPath: box.path)
        let db = try await Fenec.open(path: box.file("a.fenec"))
        try await db.execute("create collection t (n int)")

        let found = try await db.check()
        #expect(found.findings == [])
        do {
            let report = try await db.check()
            for finding in report.findings { print(finding) }
        }
        try await db.backup(to: folder.appendingPathComponent("app.backup").path)
        let damaged = folder.appendingPathComponent("app.backup").path
        let recovered = folder.appendingPathComponent("recovered").path
        do {
            let report = try await Fenec.recover(damaged, to: recovered)
            for loss in report.losses { print(loss) }
        }
        try await db.close()
    }
}

@Suite struct CareTests {
    @Test func aBackupOpensBesideItsSource() async throws {
        let folder = try Folder()
        let db = try await Fenec.open(path: folder.file("a.fenec"))
        try await db.execute("create collection t (n int @sorted)")
        try await db.execute("put t [{n: 1}, {n: 2}, {n: 3}]")
        let copy = folder.file("copy")
        try await db.backup(to: copy)
        try await db.execute("put t {n: 4}")
        let other = try await Fenec.open(path: copy)
        #expect(try await other.query("get t count")[0]["count"] == 3)
        #expect(try await other.check().isSound)
        // What is there is kept, and what is open is not replaced.
        await #expect(throws: FenecError.self) { try await db.backup(to: copy) }
        do {
            try await db.backup(to: copy, replacing: true)
            Issue.record("an open database was replaced")
        } catch let error as FenecError {
            #expect(error.code == .locked)
        }
        try await other.close()
        try await db.backup(to: copy, replacing: true)
        try await db.close()
        await #expect(throws: FenecError.self) { try await db.check() }
    }

    @Test func cancellingTheTaskEndsACheck() async throws {
        let db = try Fenec.memory()
        try await db.execute("create collection t (n int)")
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await db.check()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await db.check().isSound)
    }

    @Test func theCommandChecksCopiesAndRecovers() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec"), copy = folder.file("b.fenec"), out = folder.file("c.fenec")
        let fenec = Program("fenec")
        _ = try await fenec.run([path, "create collection t (a text @text, n int @sorted)"])
        _ = try await fenec.run([path, "put t [{a: \"one\", n: 1}, {a: \"two\", n: 2}]"])
        let sound = try await fenec.run([path, "--check"])
        #expect(sound.status == 0)
        #expect(sound.output.contains("is sound (1 collection, 2 documents"))
        #expect(try await fenec.run(["backup", path, copy]).status == 0)
        let again = try await fenec.run(["backup", path, copy])
        #expect(again.status == 1)
        #expect(again.error.contains("--force replaces it"))
        #expect(try await fenec.run(["backup", "--force", path, copy]).status == 0)

        // A record of another checksum: found by the check, named by the recovery.
        var bytes = try Data(contentsOf: URL(fileURLWithPath: copy))
        let place = try #require(bytes.range(of: Data("one".utf8)))
        bytes[place.lowerBound] = UInt8(ascii: "O")
        try bytes.write(to: URL(fileURLWithPath: copy))
        let damaged = try await fenec.run([copy, "--check"])
        #expect(damaged.status == 1)
        #expect(damaged.output.contains("`t`: document 1"))
        #expect(try await fenec.run(["backup", copy, folder.file("d.fenec")]).status == 1)
        let recovered = try await fenec.run(["recover", copy, out])
        #expect(recovered.status == 3)
        #expect(recovered.output.contains("`t`: document 1 is lost"))
        #expect(try await fenec.run([out, "get t select n"]).output == "{\"n\":2}\n")
        for call in [["--check"], ["--check", path, "get t"], ["backup", path], ["recover", path], ["backup", "--x", path, copy]] {
            #expect(try await fenec.run(call).status == 2)
        }
        #expect(try await fenec.run([folder.file("none"), "--check"]).status == 1)
        #expect(!FileManager.default.fileExists(atPath: folder.file("none")))
    }
}
