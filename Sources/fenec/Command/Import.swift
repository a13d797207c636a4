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
        let reader = try RecordReader(try Source(path: data), rules.format ?? DataFormat(path: data))
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
            var outcome = Outcome(taken: survey.recordCount)
            if rules.keepsGoing {
                outcome = try await inManyBlocks(db, plan, reader)
            } else {
                try await inOneBlock(db, plan, reader)
            }
            try await db.close()
            let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
            Console.tell(
                "\(Printer.counted(outcome.taken, "document")) into \(collection)"
                    + (outcome.passedOver > 0 ? ", \(Printer.counted(outcome.passedOver, "line")) passed over" : "")
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

    private static func bad(_ line: Int, _ message: String) -> CommandError {
        CommandError("line \(line) \(message)\nnothing was imported; --keep-going passes over such lines")
    }

    private func batches(_ plan: ImportPlan, _ reader: RecordReader) -> ImportBatches {
        ImportBatches(reader: reader, plan: plan, size: Self.batchSize)
    }

    private var statement: String { "\(rules.replaces ? "put" : "insert") \(collection) $1" }

    private static func list(_ documents: ArraySlice<ImportDocument>) -> [Value] {
        [.array(documents.map(\.value))]
    }

    // MARK: all or nothing

    /// The pieces of the block, made as they are asked for. `apart`: that batch has a piece for each of its
    /// documents, and after it the block is given up.
    private struct Block: Sequence, Sendable {
        let creation: String?
        let statement: String
        let batches: ImportBatches
        var apart: Int?

        /// How the block ends that only looks for a document.
        struct GivenUp: Error {}

        func makeIterator() -> AnyIterator<Result<Piece, any Error>> {
            var ready = creation.map { [Result<Piece, any Error>.success(Piece(text: $0, params: []))] } ?? []
            let rest = batches.makeIterator()
            var number = 0
            var count = 0
            var progress = Progress()
            return AnyIterator {
                if let piece = ready.popLast() { return piece }
                progress.show("\(count) documents written")
                defer { number += 1 }
                if let apart, number > apart { return .failure(GivenUp()) }
                guard let batch = rest.next() else {
                    progress.clear()
                    return nil
                }
                if let fault = batch.faults.first {
                    progress.clear()
                    return .failure(Import.bad(fault.line, fault.message))
                }
                count += batch.documents.count
                guard number == apart else { return .success(piece(batch.documents[...])) }
                ready = batch.documents.indices.reversed().map { .success(piece(batch.documents[$0...$0])) }
                return ready.popLast()
            }
        }

        private func piece(_ documents: ArraySlice<ImportDocument>) -> Piece {
            Piece(text: statement, params: Import.list(documents))
        }
    }

    private func inOneBlock(_ db: Fenec, _ plan: ImportPlan, _ reader: RecordReader) async throws {
        var block = Block(creation: plan.creation, statement: statement, batches: batches(plan, reader))
        let created = plan.creation == nil ? 0 : 1
        do {
            try await db.runInOneBlock(block)
        } catch let refusal as PieceError {
            let number = refusal.piece - created
            guard number >= 0, refusal.error.isAboutDocuments else { throw refusal.error }
            // The database refused a batch; which of its documents that was shows when they come one by one.
            block.apart = number
            do {
                try await db.runInOneBlock(block)
            } catch let again as PieceError {
                let batch = Array(block.batches.prefix(number + 1))[number]
                let place = again.piece - created - number
                guard batch.documents.indices.contains(place) else { throw refusal.error }
                throw Self.bad(batch.documents[place].line, "is refused: \(again.error.message)")
            }
            throw refusal.error
        }
    }

    // MARK: what can be taken

    private func inManyBlocks(_ db: Fenec, _ plan: ImportPlan, _ reader: RecordReader) async throws -> Outcome {
        var progress = Progress()
        var outcome = Outcome()
        if let creation = plan.creation { try await db.execute(creation) }
        for batch in batches(plan, reader) {
            for fault in batch.faults {
                progress.clear()
                Console.complain("line \(fault.line) \(fault.message)")
                outcome.passedOver += 1
            }
            try await write(batch.documents[...], to: db, &outcome, &progress)
            progress.show("\(outcome.taken) documents written")
        }
        progress.clear()
        try await db.sync()
        return outcome
    }

    /// Writes documents in one block, or each half apart where the whole is refused.
    private func write(
        _ documents: ArraySlice<ImportDocument>, to db: Fenec, _ outcome: inout Outcome, _ progress: inout Progress
    ) async throws {
        guard let first = documents.first else { return }
        do {
            _ = try await db.run(statement, params: Self.list(documents))
            outcome.taken += documents.count
        } catch let error as FenecError where error.isAboutDocuments {
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
}

extension FenecError {
    /// Whether another document might be taken where this one was refused.
    fileprivate var isAboutDocuments: Bool { [.type, .notFound, .duplicate, .query].contains(code) }
}
