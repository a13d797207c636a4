import FenecDB
import Foundation

/// The notes of a file: what the app and the command line share.
public struct Notebook: Sendable {
    public let db: Fenec

    /// Opens a file, or makes it, and brings its schema up to date.
    public static func open(path: String) async throws -> Notebook {
        let db = try await Fenec.open(path: path)
        do {
            try await db.schema(schema())
        } catch {
            try? await db.close()
            throw error
        }
        return Notebook(db: db)
    }

    /// What the app keeps: a resource of its own, one text for every release.
    private static func schema() throws -> String {
        guard let url = Bundle.module.url(forResource: "schema", withExtension: "fenecql") else {
            throw CocoaError(.fileNoSuchFile)
        }
        return try String(contentsOf: url, encoding: .utf8)
    }

    /// The notebook of the app, in the folder the system keeps for its data.
    public static func openInApplicationSupport() async throws -> Notebook {
        let folder = try FileManager.default.url(
            for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        return try await open(path: folder.appendingPathComponent("notes.fenec").path)
    }

    // MARK: writing

    @discardableResult
    public func add(_ note: Note) async throws -> Int {
        var document = try note.fenecValue().object ?? Row()
        document["meaning"] = .floats(Meaning.vector(note.title + " " + note.body))
        return try await db.from("note").insert(document, returning: ["id"]).first?["id"]?.int ?? 0
    }

    public func pin(_ id: Int, _ pinned: Bool = true) async throws {
        try await db.from("note").where("id", id).update(["pinned": pinned], require: 1)
    }

    public func remove(_ id: Int) async throws {
        try await db.from("note").where("id", id).delete(require: 1)
    }

    // MARK: reading

    /// The notes with a tag, or all: pinned ones first, then by when they were edited. A query, for it may be
    /// run once or followed live.
    public func notes(tag: String? = nil) throws -> Query {
        let notes = try tag.map { try db.from("note").where("tag", $0) } ?? db.from("note")
        return try notes.select("id", "title", "body", "tag", "pinned", "edited")
            .order("pinned", "desc").order("edited", "desc").order("id", "desc")
    }

    /// How many notes each tag has.
    public func tags() async throws -> [FacetCount] {
        try await db.from("note").facet("tag", top: 20).limit(0).answer().facets["tag"] ?? []
    }

    /// The notes that hold the words, best first.
    public func find(_ words: String) async throws -> [Hit] {
        try await marked(words).limit(20).rows(as: Hit.self)
    }

    /// The notes that hold the words or are near in meaning, one ranking of both.
    public func search(_ words: String) async throws -> [Hit] {
        try await marked(words).near("meaning", Meaning.vector(words)).fuse().limit(20).rows(as: Hit.self)
    }

    /// The notes nearest in meaning to one, itself left out.
    public func related(to id: Int) async throws -> [Row] {
        guard let note = try await db.from("note").where("id", id).first() else { return [] }
        return try await db.from("note").where("id", "!=", id)
            .near("meaning", note["meaning"] ?? .null).select("id", "title").limit(5).rows()
    }

    private func marked(_ words: String) throws -> Query {
        try db.from("note").select("id", "title").match("body", words, prefix: true)
            .snippet("body", 12, pre: "<b>", post: "</b>")
    }
}
