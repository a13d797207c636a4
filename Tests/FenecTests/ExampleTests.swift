import Foundation
import Testing

@testable import NotesKit

/// The apps of Examples, run as a user would.
@Suite struct ExampleTests {
    @Test func todosKeepsAList() async throws {
        let folder = try Folder()
        let path = folder.file("todo.fenec")
        func todos(_ arguments: String..., input: String = "") async throws -> String {
            try await Program("todos").run([path] + arguments, input: input).output
        }
        #expect(try await todos() == "nothing to do\n")
        #expect(try await todos("add", "paint", "the fence") == "")
        #expect(try await todos("add", "fix the saw") == "")
        #expect(try await todos() == "1  paint the fence\n2  fix the saw\n")
        #expect(try await todos("done", "1") == "")
        #expect(try await todos() == "2  fix the saw\n")
        #expect(try await todos("done", "9").hasPrefix("todos: "))
        #expect(try await todos("done", "x").hasPrefix("todos: "))
        #expect(
            try await todos("watch", input: "nail\nsand\n") == """
                2  fix the saw
                2  fix the saw
                3  nail
                2  fix the saw
                3  nail
                4  sand

                """)
        #expect(try await todos("drop", "3") == "")
        #expect(try await todos() == "2  fix the saw\n4  sand\n")
        #expect(try await todos("nonsense") == "todos FILE [add TITLE | done ID | drop ID | watch]\n")
        #expect(try await Program("todos").run([]).output.hasPrefix("todos FILE"))
    }

    private func notes(_ path: String, _ lines: String...) async throws -> [String] {
        try await Program("notes").run([path], input: lines.map { $0 + "\n" }.joined()).lines
    }

    @Test func notesFollowsItsList() async throws {
        let folder = try Folder()
        let path = folder.file("notes.fenec")
        #expect(
            try await notes(path, "add Fence | Paint it green | home", "add Saw | Buy a blade", "pin 1") == [
                "no notes", "1  Fence  #home", "2  Saw", "1  Fence  #home", "1* Fence  #home", "2  Saw",
            ])
        #expect(
            try await notes(path, "tag home", "add Lawn | Mow it | home", "tags", "tag", "drop 1", "drop 1") == [
                "1* Fence  #home", "2  Saw", "1* Fence  #home", "1* Fence  #home", "3  Lawn  #home", "home: 2",
                "without: 1", "1* Fence  #home", "3  Lawn  #home", "2  Saw", "3  Lawn  #home", "2  Saw",
                "unmet: del `note` wrote 0 rows where 1 are required",
            ])
        #expect(try await notes(path, "nonsense").last?.hasPrefix("like ID") ?? false)
    }

    @Test(.enabled("near and match are in this build") { try await SurfaceTests.ranks() })
    func notesFindsWordsAndMeanings() async throws {
        let folder = try Folder()
        let notebook = try await Notebook.open(path: folder.file("notes.fenec"))
        let fence = try await notebook.add(Note(title: "Fence", body: "Paint the fence green before the rain"))
        let paint = try await notebook.add(Note(title: "Paints", body: "Green paint and two brushes", tag: "shop"))
        try await notebook.add(Note(title: "Bread", body: "Flour, water, salt"))
        #expect(try await Set(notebook.find("paint").map(\.id)) == [fence, paint])
        #expect(try await notebook.find("paint")[0].excerpt?.contains("<b>") ?? false)
        #expect(try await Set(notebook.search("green paint").map(\.id)).isSuperset(of: [fence, paint]))
        #expect(try await notebook.related(to: fence).first?["id"]?.int == paint)
        try await notebook.db.close()
    }

    @Test func meaningsAreUnitVectors() {
        for text in ["", "!", "Paint the fence", "größe 名前"] {
            let vector = Meaning.vector(text)
            #expect(vector.count == Meaning.dimensions)
            #expect(abs(vector.reduce(0) { $0 + $1 * $1 } - 1) < 1e-5)
        }
    }

    @Test func theAppSaysWhatItNeeds() async throws {
        #if !canImport(SwiftUI)
            #expect(try await Program("NotesApp").run([]).output.contains("SwiftUI"))
        #endif
    }
}
