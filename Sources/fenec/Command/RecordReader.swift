import FenecDB
import Foundation

/// Records of the data to import, in order: objects of JSON lines, or rows of CSV under its names.
struct RecordReader {
    struct Record {
        enum Content {
            case object(Row)
            case cells([CSVCell]) // as many as there are names
            case fault(String)
        }
        let line: Int // from 1
        let content: Content
    }

    /// The names in the first line of CSV; nil for JSON lines.
    let names: [String]?

    private let source: Source
    private var at: Int
    private var line = 0
    private var csv: CSVReader?

    init(_ source: Source, _ format: DataFormat) throws {
        self.source = source
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        at = source.bytes.starts(with: mark) ? mark.count : 0
        guard format == .csv else {
            names = nil
            return
        }
        var reader = CSVReader(source, from: at)
        let head = reader.next()
        if let head, let fault = head.fault { throw CommandError("line \(head.line) \(fault)") }
        names = head?.cells.map(\.text) ?? []
        csv = reader
    }

    mutating func next() -> Record? {
        csv == nil ? nextObject() : nextCells()
    }

    private mutating func nextCells() -> Record? {
        guard let record = csv?.next(), let names else { return nil }
        if let fault = record.fault { return Record(line: record.line, content: .fault(fault)) }
        guard record.cells.count == names.count else {
            let fault = "has \(record.cells.count) cells, the line of names has \(names.count)"
            return Record(line: record.line, content: .fault(fault))
        }
        return Record(line: record.line, content: .cells(record.cells))
    }

    private mutating func nextObject() -> Record? {
        let bytes = source.bytes
        while at < bytes.endIndex {
            let end = bytes[at...].firstIndex(of: 0x0A) ?? bytes.endIndex
            let content = bytes[at..<end]
            at = min(end + 1, bytes.endIndex)
            line += 1
            if content.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            return Record(line: line, content: Self.object(content))
        }
        return nil
    }

    private static func object(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Record.Content {
        guard let text = String(bytes: bytes, encoding: .utf8) else { return .fault("is not UTF-8") }
        do {
            guard case .object(let row) = try Value.parse(text) else { return .fault("is JSON but no object") }
            return .object(row)
        } catch {
            return .fault("is no JSON: \(error)")
        }
    }
}
