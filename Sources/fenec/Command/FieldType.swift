import FenecDB

/// The type of a field, as far as reading and writing CSV depends on it.
enum FieldType: Equatable {
    case bool, int, float, text, timestamp, bytes, sparse, json
    /// A list, a vector or a point: written as JSON.
    case list

    /// A type as `describe` spells it.
    init(spelled text: String) {
        switch text {
        case "bool": self = .bool
        case "int": self = .int
        case "float": self = .float
        case "text": self = .text
        case "timestamp": self = .timestamp
        case "bytes": self = .bytes
        case "json": self = .json
        default: self = text.hasPrefix("sparse") ? .sparse : .list
        }
    }

    /// The value of a cell of CSV; nil where the cell is no such value. What a text, a timestamp or a list
    /// may hold is the database's to say.
    func value(of cell: CSVCell) -> Value? {
        let text = cell.text
        if text.isEmpty { return self == .text && cell.isQuoted ? "" : .null }
        switch self {
        case .text, .sparse:
            return .string(text)
        case .bool:
            switch text.lowercased() {
            case "true", "t", "yes", "1": return true
            case "false", "f", "no", "0": return false
            default: return nil
            }
        case .int, .float:
            return Self.number(text)
        case .timestamp:
            return Int64(text).map { .int($0) } ?? .string(text)
        case .bytes:
            return text.hasPrefix("[") ? try? Value.parse(text) : .string(text)
        case .list:
            guard let value = try? Value.parse(text), value.array != nil else { return nil }
            return value
        case .json:
            return try? Value.parse(text)
        }
    }

    /// A number as JSON writes them, or with the + and the zeros that spreadsheets add.
    private static func number(_ text: String) -> Value? {
        if let whole = Int64(text) { return .int(whole) }
        guard let value = Double(text), value.isFinite, !text.lowercased().hasPrefix("0x") else { return nil }
        return .double(value)
    }

    /// The cell a value is written as.
    func cell(of value: Value) -> CSVCell {
        switch value {
        case .null: return CSVCell(text: "", isQuoted: false)
        case .string(let text) where self != .json: return CSVCell(text: text, isQuoted: self == .text)
        default: return CSVCell(text: value.json, isQuoted: false)
        }
    }
}
