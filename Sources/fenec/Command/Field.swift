import FenecDB

/// A field of a collection, its type as `describe` spells it.
struct Field {
    let name: String
    let spelledType: String
    var type: FieldType { FieldType(spelled: spelledType) }

    /// Those of a collection in their order, without the id; nil where there is no such collection.
    static func all(of collection: String, in db: Fenec) async throws -> [Field]? {
        do {
            guard case .schemas(let collections) = try await db.run("describe \(collection)"),
                let fields = collections.first?["fields"]?.array
            else { return nil }
            return fields.map { Field(name: $0["name"]?.string ?? "", spelledType: $0["type"]?.string ?? "") }
        } catch let error as FenecError where error.code == .notFound {
            return nil
        }
    }
}
