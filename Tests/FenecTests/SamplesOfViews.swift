#if canImport(SwiftUI) && canImport(Combine)
    import FenecDB
    import SwiftUI

    // Samples for Apple platforms: compiled there, and type-checked elsewhere by tools/check_swift.sh.

    private struct Job: Codable, FenecValue {
        var id: Int?
        var title: String
    }

    private struct JobList: View {
        @StateObject private var open: LiveQuery<Job>

        init(db: Fenec, jobs: Query) {
            _open = StateObject(wrappedValue: LiveQuery(db, jobs, as: Job.self))
        }

        var body: some View {
            List(open.rows, id: \.id) { Text($0.title) }
        }
    }

    private enum OfComments {
        struct JobList: View {
            @StateObject private var open: LiveQuery<Job>
            init(db: Fenec, jobs: Query) {
                _open = StateObject(wrappedValue: LiveQuery(db, jobs, as: Job.self))
            }
            var body: some View { List(open.rows, id: \.id) { Text($0.title) } }
        }
    }

    @available(macOS 14, iOS 17, *)
    private enum OfLaterSystems {
        struct JobList: View {
            @State private var open: LiveRows<Job>
            init(db: Fenec) throws {
                _open = State(initialValue: LiveRows(db, try db.from("jobs").where("done", false), as: Job.self))
            }
            var body: some View { List(open.rows, id: \.id) { Text($0.title) } }
        }
    }

    private struct Suspending: App {
        @Environment(\.scenePhase) private var phase
        private let db: Fenec

        init() { db = try! Fenec.memory() }

        var body: some Scene {
            WindowGroup { Text("") }
                .onChange(of: phase) { phase in
                    Task { if phase == .background { try await db.suspend() } else { try await db.resume() } }
                }
        }
    }
#endif
