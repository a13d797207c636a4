#if canImport(SwiftUI) && canImport(Combine)
    import FenecDB
    import NotesKit
    import SwiftUI

    /// The notes, kept as the database changes, or what a search found.
    struct NoteList: View {
        let notebook: Notebook
        @StateObject private var notes: LiveQuery<Note>
        @State private var words = ""
        @State private var hits: [Hit] = []
        @State private var isAdding = false
        @State private var failure: String?

        init(notebook: Notebook) {
            self.notebook = notebook
            // The names are constants of the program: the builder refuses none of them.
            _notes = StateObject(wrappedValue: LiveQuery(notebook.db, try! notebook.notes(), as: Note.self))
        }

        var body: some View {
            NavigationView {
                List {
                    if let message = failure ?? notes.error?.message { Text(message).foregroundColor(.red) }
                    if words.isEmpty {
                        ForEach(notes.rows) { note in
                            NoteRow(note: note)
                                .swipeActions { Button("Pin") { perform { try await notebook.pin(note.id ?? 0) } } }
                        }
                        .onDelete { places in
                            for place in places {
                                let id = notes.rows[place].id ?? 0
                                perform { try await notebook.remove(id) }
                            }
                        }
                    } else {
                        ForEach(hits) { HitRow(hit: $0) }
                    }
                }
                .navigationTitle("Notes")
                .searchable(text: $words)
                .task(id: words) { await search() }
                .toolbar { Button("Add") { isAdding = true } }
                .sheet(isPresented: $isAdding) {
                    NoteEditor { note in perform { try await notebook.add(note) } }
                }
            }
        }

        private func search() async {
            guard !words.isEmpty else { return }
            do {
                hits = try await notebook.search(words)
                failure = nil
            } catch {
                failure = "\(error)"
            }
        }

        private func perform(_ work: @escaping @Sendable () async throws -> Void) {
            Task {
                do { try await work() } catch { failure = "\(error)" }
            }
        }
    }

    struct NoteRow: View {
        let note: Note

        var body: some View {
            VStack(alignment: .leading) {
                Text(note.pinned ? "📌 \(note.title)" : note.title).font(.headline)
                Text(note.body).lineLimit(2)
            }
        }
    }

    struct HitRow: View {
        let hit: Hit

        var body: some View {
            VStack(alignment: .leading) {
                Text(hit.title).font(.headline)
                if let excerpt = hit.excerpt { marked(excerpt) }
            }
        }

        /// The excerpt, with what stands between the tags in bold.
        private func marked(_ excerpt: String) -> Text {
            var text = Text("")
            for (place, part) in excerpt.components(separatedBy: "<b>").enumerated() {
                let pieces = part.components(separatedBy: "</b>")
                if place == 0 {
                    text = text + Text(part)
                } else {
                    text = text + Text(pieces[0]).bold() + Text(pieces.dropFirst().joined())
                }
            }
            return text
        }
    }

    struct NoteEditor: View {
        let save: (Note) -> Void
        @Environment(\.dismiss) private var dismiss
        @State private var title = ""
        @State private var text = ""

        var body: some View {
            Form {
                TextField("Title", text: $title)
                TextEditor(text: $text)
                Button("Save") {
                    save(Note(title: title, body: text))
                    dismiss()
                }
                .disabled(title.isEmpty)
            }
        }
    }
#endif
