import Foundation

/// A cell of CSV: whether it stood in quotes tells the empty text from null, and text from a number.
struct CSVCell: Equatable {
    let text: String
    let isQuoted: Bool

    /// As it stands in a file: in quotes where it was, or where it would read back as something else.
    var written: String {
        let needsQuotes = isQuoted || text.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
        return needsQuotes ? "\"" + text.replacingOccurrences(of: "\"", with: "\"\"") + "\"" : text
    }
}

/// Records of CSV as RFC 4180 has it, LF as good as CR LF. Empty lines are passed over.
struct CSVReader {
    struct Record {
        let line: Int // the one it begins on, from 1
        let cells: [CSVCell]
        let fault: String?
    }

    private static let comma = UInt8(ascii: ",")
    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed: UInt8 = 0x0A
    private static let carriageReturn: UInt8 = 0x0D

    private let source: Source
    private var at: Int
    private var line = 1

    /// From `start` on, after a byte order mark for example.
    init(_ source: Source, from start: Int) {
        self.source = source
        at = start
    }

    private var bytes: UnsafeBufferPointer<UInt8> { source.bytes }

    mutating func next() -> Record? {
        while at < bytes.endIndex, isLineEnd() { skipLineEnd() }
        guard at < bytes.endIndex else { return nil }
        let begins = line
        var cells: [CSVCell] = []
        while true {
            switch at < bytes.endIndex && bytes[at] == Self.quote ? quotedCell() : plainCell() {
            case .success(let cell): cells.append(cell)
            case .failure(let fault):
                skipToLineEnd()
                return Record(line: begins, cells: cells, fault: fault.message)
            }
            if at < bytes.endIndex, bytes[at] == Self.comma {
                at += 1
            } else {
                skipLineEnd()
                return Record(line: begins, cells: cells, fault: nil)
            }
        }
    }

    private struct Fault: Error {
        let message: String
    }

    private mutating func plainCell() -> Result<CSVCell, Fault> {
        let start = at
        while at < bytes.endIndex, bytes[at] != Self.comma, !isLineEnd() { at += 1 }
        guard let text = String(bytes: bytes[start..<at], encoding: .utf8) else {
            return .failure(Fault(message: "is not UTF-8"))
        }
        return .success(CSVCell(text: text, isQuoted: false))
    }

    private mutating func quotedCell() -> Result<CSVCell, Fault> {
        at += 1
        var text: [UInt8] = []
        let opened = (at: at, line: line)
        while at < bytes.endIndex {
            let byte = bytes[at]
            at += 1
            if byte == Self.quote {
                if at < bytes.endIndex, bytes[at] == Self.quote {
                    at += 1
                } else {
                    guard at == bytes.endIndex || bytes[at] == Self.comma || isLineEnd() else {
                        return .failure(Fault(message: "has something after a closing quote"))
                    }
                    guard let text = String(bytes: text, encoding: .utf8) else {
                        return .failure(Fault(message: "is not UTF-8"))
                    }
                    return .success(CSVCell(text: text, isQuoted: true))
                }
            } else if byte == Self.lineFeed {
                line += 1
            }
            text.append(byte)
        }
        // Whoever goes on does so with the line after the quote that nothing closes.
        at = opened.at
        line = opened.line
        return .failure(Fault(message: "opens a quote that is not closed"))
    }

    private func isLineEnd() -> Bool {
        bytes[at] == Self.lineFeed
            || (bytes[at] == Self.carriageReturn && at + 1 < bytes.endIndex && bytes[at + 1] == Self.lineFeed)
    }

    private mutating func skipLineEnd() {
        guard at < bytes.endIndex else { return }
        if bytes[at] == Self.carriageReturn { at += 1 }
        if at < bytes.endIndex, bytes[at] == Self.lineFeed { at += 1 }
        line += 1
    }

    private mutating func skipToLineEnd() {
        while at < bytes.endIndex, bytes[at] != Self.lineFeed { at += 1 }
        skipLineEnd()
    }
}
