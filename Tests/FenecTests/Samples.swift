import FenecDB
import Foundation
import Testing

/// The samples of README.md and of the documentation, word for word: `make test-docs` finds each of them
/// in this file, and here they run.
@Suite struct Samples {
    @Test func readmeOpensWritesAndAsks() async throws {
        let folder = try Folder()
        let path = folder.file("todo.fenec")

        let db = try await Fenec.open(path: path)
        try await db.execute("create collection if not exists todo (title text required, done bool @hash)")
        try await db.execute("put todo {title: $1, done: $2}", "paint the fence", false)
        for row in try await db.query("get todo where done = $1 order title", false) {
            print(row["id"]?.int ?? 0, row["title"]?.string ?? "")
        }
        try await db.close()
    }
}
