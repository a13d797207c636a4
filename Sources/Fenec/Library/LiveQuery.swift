#if canImport(Combine)
    import Combine

    /// The rows of a query for a view, kept as the database changes.
    ///
    /// ```swift
    /// struct JobList: View {
    ///     @StateObject private var open: LiveQuery<Job>
    ///     init(db: Fenec, jobs: Query) {
    ///         _open = StateObject(wrappedValue: LiveQuery(db, jobs, as: Job.self))
    ///     }
    ///     var body: some View { List(open.rows, id: \.id) { Text($0.title) } }
    /// }
    /// ```
    ///
    /// A run that fails sets `error` and leaves the rows; the next that succeeds clears it.
    @MainActor public final class LiveQuery<Element: Sendable>: ObservableObject {
        /// None until the first run.
        @Published public private(set) var rows: [Element] = []
        @Published public private(set) var error: FenecError?
        /// Whether the first run came, or failed.
        @Published public private(set) var loaded = false
        /// Set before `rows`, so that whoever observes these reads the facets that go with them.
        @Published public private(set) var facets = Facets()

        private let watch: Watch

        public convenience init(_ db: Fenec, _ query: Query) where Element == Row {
            self.init(db, Watch.Source(query)) { $0 }
        }

        public convenience init(_ db: Fenec, _ query: Query, as type: Element.Type) where Element: Decodable {
            self.init(db, Watch.Source(query)) { try $0.decode(as: type) }
        }

        /// The rows a text answers, run again after writes to `collections`, or where none are named after
        /// every write.
        public convenience init(
            _ db: Fenec, _ text: String, params: [Value] = [], collections: [String]? = nil
        ) where Element == Row {
            self.init(db, Watch.Source(text, params: params, collections: collections)) { $0 }
        }

        private init(_ db: Fenec, _ source: Watch.Source, _ element: @escaping @Sendable (Row) throws -> Element) {
            watch = Watch(source)
            watch.start(on: db, element: element) { [weak self] in self?.take($0) }
        }

        deinit { watch.stop() }

        /// No run after this; the rows stay.
        public func stop() { watch.stop() }

        private func take(_ update: LiveUpdate<Element>) {
            switch update {
            case .rows(let rows, let facets):
                self.facets = facets
                self.rows = rows
                error = nil
            case .failure(let failure):
                error = failure
            }
            loaded = true
        }
    }
#endif
