#if canImport(Observation)
    import Observation

    /// The rows of a query for a view, kept as the database changes.
    ///
    /// ```swift
    /// struct JobList: View {
    ///     @State private var open: LiveRows<Job>
    ///     init(db: Fenec) throws {
    ///         _open = State(initialValue: LiveRows(db, try db.from("jobs").where("done", false), as: Job.self))
    ///     }
    ///     var body: some View { List(open.rows, id: \.id) { Text($0.title) } }
    /// }
    /// ```
    ///
    /// A run that fails sets `error` and leaves the rows; the next that succeeds clears it.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor @Observable public final class LiveRows<Element: Sendable> {
        /// None until the first run.
        public private(set) var rows: [Element] = []
        public private(set) var error: FenecError?
        /// Whether the first run came, or failed.
        public private(set) var loaded = false
        public private(set) var facets = Facets()

        @ObservationIgnored private let watch: Watch

        public convenience init(_ db: Fenec, _ query: Query) where Element == Row {
            self.init(db, query) { $0 }
        }

        public convenience init(_ db: Fenec, _ query: Query, as type: Element.Type) where Element: Decodable {
            self.init(db, query) { try $0.decode(as: type) }
        }

        private init(_ db: Fenec, _ query: Query, _ element: @escaping @Sendable (Row) throws -> Element) {
            watch = Watch(Watch.Source(query))
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
