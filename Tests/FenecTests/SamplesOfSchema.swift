import FenecDB
import Foundation
import Testing

/// The samples of docs/schema.md, and those of Schema.md of the catalogue that take a resource.
@Suite struct SamplesOfSchema {
    @Test func aSchemaComesFromAResource() async throws {
        let folder = try Folder()
        let db = try await Fenec.open(path: folder.file("notes.fenec"))

        let url = Bundle.module.url(forResource: "schema", withExtension: "fenecql")!
        let text = try String(contentsOf: url, encoding: .utf8)
        try await db.schema(text)

        #expect(try await db.schema(text).applied == false)
        try await db.close()
    }
}
