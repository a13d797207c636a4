import FenecDB
import Foundation

/// `fenec import FILE COLLECTION [DATA]`.
struct Import {
    struct Rules {
        var format: DataFormat?
        var keepsGoing = false
        var replaces = false
        var renames: [String: String] = [:]
        var types: [String: String] = [:]
    }

    let path: String
    let collection: String
    let data: String?
    let rules: Rules

    private static let batchSize = 1000

    func run() async throws {
        let bytes = try Source.bytes(path: data)
        let reader = try RecordReader(bytes, rules.format ?? DataFormat(path: data))
        let start = DispatchTime.now().uptimeNanoseconds
        var progress = Progress()
        let survey = try Survey(reader) { count in progress.show("\(count) records read") }
        progress.clear()
        if !rules.keepsGoing, let fault = survey.fault { throw Self.bad(fault.line, fault.message) }

        let db = try await Fenec.open(path: path, options: rules.keepsGoing ? .noSync : [])
        do {
            let fields = try await Field.all(of: collection, in: db)
            let plan = try ImportPlan(survey, collection: collection, fields: fields, rules: rules)
            for name in plan.changedNames {
                Console.complain("\"\(name.from)\" is no name a field can have: it becomes \(name.to)")
            }
            let outcome =
                rules.keepsGoing ? try await inManyBlocks(db, plan, reader) : try await inOneBlock(db, plan, reader)
            try await db.close()
            let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
            Console.tell(
                "\(outcome.taken) documents into \(collection)"
                    + (outcome.passedOver > 0 ? ", \(outcome.passedOver) lines passed over" : "")
                    + String(format: ", %.1f s\n", seconds))
            if outcome.passedOver > 0 { throw AlreadyTold() }
        } catch {
            try? await db.close()
            throw error
        }
    }

    private struct Outcome {
        var taken = 0
        var passedOver = 0
    }

    /// A document and the line it comes from.
    private struct Document {
        let line: Int
        let value: Value
    }

    private var verb: String { rules.replaces ? "put" : "insert" }

    private static func bad(_ line: Int, _ message: String) -> CommandError {
        CommandError("line \(line) \(message)\nnothing was imported; --keep-going passes over such lines")
    }

    // MARK: all or nothing

    private func inOneBlock(_ db: Fenec, _ plan: ImportPlan, _ reader: RecordReader) async throws -> Outcome {
        var reader = reader
        var progress = Progress()
        var documents: [Document] = []
        while let record = reader.next() {
            switch plan.document(of: record.content) {
            case .success(let value): documents.append(Document(line: record.line, value: value))
            case .failure(let fault): throw Self.bad(record.line, fault.description)
            }
            progress.show("\(documents.count) records made ready")
        }
        progress.clear()
        let batches = stride(from: 0, to: documents.count, by: Self.batchSize).map {
            documents[$0..<min($0 + Self.batchSize, documents.count)]
        }
        guard plan.creation != nil || !batches.isEmpty else { return Outcome() }
        progress.show("writing \(documents.count) documents")
        defer { progress.clear() }
        do {
            _ = try await db.run(text(plan, statements: batches.count), params: batches.map(Self.list))
        } catch let error as FenecError {
            progress.clear()
            let statement = error.at ?? 0
            let batch = statement - (plan.creation == nil ? 0 : 1)
            guard batches.indices.contains(batch),
                let document = try await culprit(db, plan, before: batches[..<batch], among: batches[batch])
            else { throw error }
            throw Self.bad(document.line, "is refused: \(error.message)")
        }
        return Outcome(taken: documents.count)
    }

    private func text(_ plan: ImportPlan, statements: Int) -> String {
        let writes = (0..<statements).map { "\(verb) \(collection) $\($0 + 1)" }
        return ((plan.creation.map { [$0] } ?? []) + writes).joined(separator: "\n")
    }

    private static func list(_ documents: ArraySlice<Document>) -> Value { .array(documents.map(\.value)) }

    /// Which document of a batch the database refuses: the block is run again with a statement for each,
    /// and one at its end that is never met, so that nothing of it can stay.
    private func culprit(
        _ db: Fenec, _ plan: ImportPlan, before: ArraySlice<ArraySlice<Document>>, among batch: ArraySlice<Document>
    ) async throws -> Document? {
        let params = before.map(Self.list) + batch.map(\.value)
        let text = text(plan, statements: params.count) + "\ndel \(collection) limit 0 require 1"
        do {
            _ = try await db.run(text, params: params)
            return nil
        } catch let error as FenecError {
            guard let statement = error.at else { return nil }
            let place = statement - (plan.creation == nil ? 0 : 1) - before.count
            return place >= 0 && place < batch.count ? batch[batch.startIndex + place] : nil
        }
    }

    // MARK: what can be taken

    private func inManyBlocks(_ db: Fenec, _ plan: ImportPlan, _ reader: RecordReader) async throws -> Outcome {
        var reader = reader
        var progress = Progress()
        var outcome = Outcome()
        if let creation = plan.creation { try await db.execute(creation) }
        var batch: [Document] = []
        while let record = reader.next() {
            switch plan.document(of: record.content) {
            case .success(let value): batch.append(Document(line: record.line, value: value))
            case .failure(let fault):
                progress.clear()
                Console.complain("line \(record.line) \(fault)")
                outcome.passedOver += 1
            }
            if batch.count == Self.batchSize {
                try await write(batch[...], to: db, &outcome, &progress)
                batch.removeAll(keepingCapacity: true)
                progress.show("\(outcome.taken) documents written")
            }
        }
        try await write(batch[...], to: db, &outcome, &progress)
        progress.clear()
        try await db.sync()
        return outcome
    }

    /// Writes documents in one block, or each half apart where the whole is refused.
    private func write(
        _ documents: ArraySlice<Document>, to db: Fenec, _ outcome: inout Outcome, _ progress: inout Progress
    ) async throws {
        guard let first = documents.first else { return }
        do {
            try await db.execute("\(verb) \(collection) $1", Self.list(documents))
            outcome.taken += documents.count
        } catch let error as FenecError where Self.isAboutTheDocument(error) {
            guard documents.count > 1 else {
                progress.clear()
                Console.complain("line \(first.line) is refused: \(error.message)")
                outcome.passedOver += 1
                return
            }
            let middle = documents.startIndex + documents.count / 2
            try await write(documents[..<middle], to: db, &outcome, &progress)
            try await write(documents[middle...], to: db, &outcome, &progress)
        }
    }

    private static func isAboutTheDocument(_ error: FenecError) -> Bool {
        [.type, .notFound, .duplicate, .query].contains(error.code)
    }
}
