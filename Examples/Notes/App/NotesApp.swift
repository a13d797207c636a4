#if canImport(SwiftUI) && canImport(Combine)
    import FenecDB
    import NotesKit
    import SwiftUI

    @main struct NotesApp: App {
        @Environment(\.scenePhase) private var phase
        @StateObject private var model = AppModel()

        var body: some Scene {
            WindowGroup {
                if let notebook = model.notebook {
                    NoteList(notebook: notebook)
                } else {
                    Text(model.failure ?? "Opening…")
                }
            }
            .onChange(of: phase) { phase in
                // In a shared container a suspended app may hold no lock on a file.
                Task { await model.enter(isActive: phase != .background) }
            }
        }
    }

    /// Opens the notebook, and closes the file while the app is in the background.
    @MainActor final class AppModel: ObservableObject {
        @Published private(set) var notebook: Notebook?
        @Published private(set) var failure: String?

        init() {
            Task {
                do {
                    notebook = try await Notebook.openInApplicationSupport()
                } catch {
                    failure = "\(error)"
                }
            }
        }

        func enter(isActive: Bool) async {
            do {
                if isActive { try await notebook?.db.resume() } else { try await notebook?.db.suspend() }
            } catch {
                failure = "\(error)"
            }
        }
    }
#else
    /// SwiftUI is not on this platform; `notes` is the same notebook on a terminal.
    @main struct NotesApp {
        static func main() { print("the app needs SwiftUI; on this platform run: swift run notes FILE") }
    }
#endif
