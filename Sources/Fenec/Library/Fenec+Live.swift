// MARK: streams

extension Fenec {
    /// The rows of a query, now and again after each write to a collection it reads.
    ///
    /// ```swift
    /// for try await rows in db.live(try db.from("jobs").where("done", false)) {
    ///     print(rows.count, "to do")
    /// }
    /// ```
    ///
    /// The writes of a burst are one, a frame after the last of them. An error of a run ends the stream, as does
    /// a query that the builder refuses; closing the database, or letting go of it, ends it without one.
    public nonisolated func live(_ query: Query) -> AsyncThrowingStream<[Row], Error> {
        stream(Watch.Source(query)) { try $0.answer().rows }
    }

    /// The rows of a query, each decoded by the names of its fields, now and after each write.
    public nonisolated func live<T: Decodable & Sendable>(
        _ query: Query, as type: T.Type
    ) -> AsyncThrowingStream<[T], Error> {
        stream(Watch.Source(query)) { try $0.rows(as: type) }
    }

    /// The rows of a query with their facets, now and after each write.
    public nonisolated func liveAnswers(_ query: Query) -> AsyncThrowingStream<Answer, Error> {
        stream(Watch.Source(query)) { try $0.answer() }
    }

    /// The rows a text answers, now and after each write to `collections`; where none are named after every
    /// write. It throws where a parameter cannot be written.
    public nonisolated func live(
        _ text: String, _ params: any FenecValue..., collections: [String]? = nil
    ) throws -> AsyncThrowingStream<[Row], Error> {
        let params = try params.map { try $0.fenecValue() }
        return stream(Watch.Source(text, params: params, collections: collections)) { try $0.answer().rows }
    }

    private nonisolated func stream<Element: Sendable>(
        _ source: Watch.Source, _ element: @escaping @Sendable (AnswerBytes) throws -> Element
    ) -> AsyncThrowingStream<Element, Error> {
        let watch = Watch(source)
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Element.self)
        continuation.onTermination = { _ in watch.stop() }
        watch.start(
            on: self,
            tell: { outcome in
                do {
                    continuation.yield(try element(outcome.get()))
                    return true
                } catch {
                    continuation.finish(throwing: error)
                    return false
                }
            },
            end: { continuation.finish() })
        return stream
    }
}

// MARK: observable objects

/// What an observable object is told of a run.
enum LiveUpdate<Element: Sendable>: Sendable {
    case rows([Element], Facets)
    case failure(FenecError)
}

extension Watch {
    /// Begins, with updates on the main actor until it stops.
    func start<Element: Sendable>(
        on db: Fenec, element: @escaping @Sendable (Row) throws -> Element,
        update: @escaping @MainActor @Sendable (LiveUpdate<Element>) -> Void
    ) {
        start(
            on: db,
            tell: { outcome in
                let told = LiveUpdate(outcome, element)
                await MainActor.run { if !self.hasStopped { update(told) } }
                return true
            }, end: {})
    }
}

extension LiveUpdate {
    fileprivate init(_ outcome: Watch.Outcome, _ element: (Row) throws -> Element) {
        do {
            let answer = try outcome.get().answer()
            self = .rows(try answer.rows.map(element), answer.facets)
        } catch let error as FenecError {
            self = .failure(error)
        } catch let error as DecodingError {
            self = .failure(FenecError(code: .type, message: "a row does not decode: \(error)"))
        } catch {
            self = .failure(FenecError(code: .query, message: "\(error)"))
        }
    }
}
