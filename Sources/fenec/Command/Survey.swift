import FenecDB
import Foundation

/// What a first reading of the data finds: its names in the order they come, and what they hold.
struct Survey {
    struct Column {
        let name: String
        let firstLine: Int
        fileprivate var observed = Observed()
        fileprivate var allCellsQuoted = true
        fileprivate var holdsJSON = true // every cell that is not empty
        fileprivate var holdsContainer = false // one of them a list or an object

        fileprivate init(name: String, firstLine: Int) {
            self.name = name
            self.firstLine = firstLine
        }

        /// The type a field of its own gets.
        func type(isCSV: Bool, quotesMean: Bool) -> String {
            guard isCSV else { return observed.type }
            if holdsContainer { return holdsJSON ? observed.type : "text" }
            if quotesMean, allCellsQuoted, observed != Observed() { return "text" }
            // Cells of several kinds are text, which every cell is.
            let type = observed.type
            return type == "json" ? "text" : type
        }
    }

    private(set) var columns: [Column] = []
    private(set) var recordCount = 0
    private(set) var fault: (line: Int, message: String)? // the first one
    let isCSV: Bool

    /// In a file that quotes some cells and not others, the quotes were put around texts.
    var quotesMeanText: Bool { hasPlainCell }

    private var hasPlainCell = false
    private var places: [String: Int] = [:]

    /// `progress` is told how many records were read.
    init(_ reader: RecordReader, progress: (Int) -> Void) throws {
        isCSV = reader.names != nil
        for name in reader.names ?? [] {
            guard places[name] == nil else { throw CommandError("line 1: \"\(name)\" stands there twice") }
            add(name, 1)
        }
        var reader = reader
        while let record = reader.next() {
            recordCount += 1
            progress(recordCount)
            switch record.content {
            case .object(let row):
                for (key, value) in row { columns[place(of: key, record.line)].observed.see(value) }
            case .cells(let cells):
                for (place, cell) in cells.enumerated() { see(cell, place) }
            case .fault(let message):
                if fault == nil { fault = (record.line, message) }
            }
        }
    }

    private mutating func place(of name: String, _ line: Int) -> Int {
        places[name] ?? add(name, line)
    }

    @discardableResult
    private mutating func add(_ name: String, _ line: Int) -> Int {
        places[name] = columns.count
        columns.append(Column(name: name, firstLine: line))
        return columns.count - 1
    }

    private mutating func see(_ cell: CSVCell, _ place: Int) {
        if cell.text.isEmpty, !cell.isQuoted { return }
        if !cell.isQuoted {
            hasPlainCell = true
            columns[place].allCellsQuoted = false
        }
        columns[place].observed.see(Self.value(of: cell.text))
        if columns[place].holdsJSON {
            switch try? Value.parse(cell.text) {
            case .array, .object: columns[place].holdsContainer = true
            case nil: columns[place].holdsJSON = false
            default: break
            }
        }
    }

    /// What a cell looks like. A number is one only as a program would write it: 007 and +49 are text.
    private static func value(of text: String) -> Value {
        switch text {
        case "true", "TRUE", "True": return true
        case "false", "FALSE", "False": return false
        default: break
        }
        guard let first = text.utf8.first, "-[{0123456789".utf8.contains(first), text.utf8.last != 0x20 else {
            return .string(text)
        }
        return (try? Value.parse(text)) ?? .string(text)
    }
}
