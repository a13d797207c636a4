import FenecDB
import Foundation
import Testing

/// The samples of docs/schema.md.
@Suite struct SamplesOfSchema {
    @Test func aSchemaComesFromAResource() async throws {
        let folder = try Folder()
        let schemaURL = URL(
            fileURLWithPath: try folder.file("schema.fenecql", holding: "create collection note (title text required)"))
        let db = try await Fenec.open(path: folder.file("notes.fenec"))

        let text = try String(contentsOf: schemaURL, encoding: .utf8)
        try await db.schema(text)

        #expect(try await db.schema(text).applied == false)
        try await db.close()
    }
}
