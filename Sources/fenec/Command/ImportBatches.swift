import FenecDB

/// A document to import and the line it comes from.
struct ImportDocument: Sendable {
    let line: Int
    let value: Value
}

/// The documents of the data, some at a time, with the records that are none.
struct ImportBatches: Sequence, Sendable {
    struct Batch {
        var documents: [ImportDocument] = []
        var faults: [(line: Int, message: String)] = []
    }

    let reader: RecordReader
    let plan: ImportPlan
    let size: Int

    func makeIterator() -> AnyIterator<Batch> {
        var reader = reader
        return AnyIterator {
            var batch = Batch()
            while batch.documents.count + batch.faults.count < size, let record = reader.next() {
                switch plan.document(of: record.content) {
                case .success(let value): batch.documents.append(ImportDocument(line: record.line, value: value))
                case .failure(let fault): batch.faults.append((record.line, fault.description))
                }
            }
            return batch.documents.isEmpty && batch.faults.isEmpty ? nil : batch
        }
    }
}
