// Notes in a file: swift run notes FILE
//
// It reads a line at a time and shows the list again after every change, as a view of the app would.
import FenecDB
import NotesKit

let help = """
    add TITLE | BODY | TAG     a new note; the tag may be left out
    tag NAME                   show the notes with a tag; without a name all of them
    pin ID, drop ID
    tags                       how many notes each tag has
    find WORDS                 notes that hold the words, best first
    search WORDS               the same, and notes near in meaning
    like ID                    notes near to one in meaning
    """

/// The list on show: a live query that a change of the filter replaces.
struct Shown {
    private var rows: AsyncThrowingStream<[Note], any Error>.Iterator

    init(_ notebook: Notebook, tag: String?) throws {
        rows = notebook.db.live(try notebook.notes(tag: tag), as: Note.self).makeAsyncIterator()
    }

    /// Waits for the next state of the list and prints it.
    mutating func show() async throws {
        guard let notes = try await rows.next() else { return }
        if notes.isEmpty { print("no notes") }
        for note in notes {
            print("\(note.id ?? 0)\(note.pinned ? "*" : " ") \(note.title)\(note.tag.map { "  #\($0)" } ?? "")")
        }
    }
}

func show(_ hits: [Hit]) {
    if hits.isEmpty { print("nothing found") }
    for hit in hits { print("\(hit.id)  \(hit.title)\(hit.excerpt.map { ": \($0)" } ?? "")") }
}

func run(_ notebook: Notebook) async throws {
    var list = try Shown(notebook, tag: nil)
    try await list.show()
    while let line = readLine() {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = parts.count > 1 ? parts[1] : ""
        do {
            switch parts.first {
            case "add":
                let fields = rest.split(separator: "|").map { $0.trimmed }
                guard fields.count >= 2 else { fallthrough }
                try await notebook.add(
                    Note(title: fields[0], body: fields[1], tag: fields.count > 2 ? fields[2] : nil))
                try await list.show()
            case "help":
                print(help)
            case "pin":
                try await notebook.pin(Int(rest) ?? 0)
                try await list.show()
            case "drop":
                try await notebook.remove(Int(rest) ?? 0)
                try await list.show()
            case "tag":
                list = try Shown(notebook, tag: rest.isEmpty ? nil : rest)
                try await list.show()
            case "tags":
                for tag in try await notebook.tags() { print("\(tag.value.string ?? "without"): \(tag.count)") }
            case "find":
                show(try await notebook.find(rest))
            case "search":
                show(try await notebook.search(rest))
            case "like":
                for row in try await notebook.related(to: Int(rest) ?? 0) {
                    print("\(row["id"]?.int ?? 0)  \(row["title"]?.string ?? "")")
                }
            case nil:
                break
            default:
                print(help)
            }
        } catch let error as FenecError {
            print(error.message)
        }
    }
}

extension Substring {
    var trimmed: String {
        let start = drop(while: \.isWhitespace)
        return String(start.prefix(start.count - start.reversed().prefix(while: \.isWhitespace).count))
    }
}

do {
    guard CommandLine.arguments.count == 2 else { throw FenecError(code: .misuse, message: "notes FILE") }
    let notebook = try await Notebook.open(path: CommandLine.arguments[1])
    try await run(notebook)
    try await notebook.db.close()
} catch {
    print(error)
}
