import FenecDB

/// Rows in aligned columns. What holds numbers stands to the right; columns that do not fit are cut, widest first.
struct Table {
    private static let gap = 2
    private static let narrowest = 8

    private let titles: [String]
    private var rows: [[(text: String, isNumber: Bool)]] = []

    init(columns: [String], rows: [Row]) {
        var columns = columns
        // A ranked row has its score besides, a looked-up one its children.
        for key in rows.first?.keys ?? [] where !columns.contains(key) { columns.append(key) }
        titles = columns.map(DisplayText.visible)
        self.rows = rows.map { row in columns.map { Self.cell(row[$0] ?? .null) } }
    }

    private static func cell(_ value: Value) -> (text: String, isNumber: Bool) {
        switch value {
        case .string(let text): return (DisplayText.visible(text), false)
        case .int, .double: return (value.json, true)
        default: return (DisplayText.visible(value.json), false)
        }
    }

    func lines(width: Int) -> [String] {
        guard !titles.isEmpty else { return [] }
        var widths = titles.map(DisplayText.width)
        for row in rows {
            for (column, cell) in row.enumerated() {
                widths[column] = max(widths[column], DisplayText.width(cell.text))
            }
        }
        fit(&widths, into: width)
        let numeric = titles.indices.map { column in rows.contains { $0[column].isNumber } }
        let head = line(titles.map { ($0, false) }, widths, right: numeric)
        let rule = widths.map { String(repeating: "─", count: $0) }.joined(separator: "  ")
        return [head, rule] + rows.map { line($0, widths, right: numeric) }
    }

    private func fit(_ widths: inout [Int], into total: Int) {
        let room = max(total - Self.gap * (widths.count - 1), Self.narrowest * widths.count)
        var excess = widths.reduce(0, +) - room
        while excess > 0, let widest = widths.max() {
            // Down to the next width below, all the widest together.
            let places = widths.indices.filter { widths[$0] == widest }
            let next = widths.filter { $0 < widest }.max() ?? 0
            let step = min(widest - max(next, 1), (excess + places.count - 1) / places.count)
            guard step > 0 else { return }
            for place in places { widths[place] -= step }
            excess -= step * places.count
        }
    }

    private func line(_ cells: [(text: String, isNumber: Bool)], _ widths: [Int], right: [Bool]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            if column > 0 { line += "  " }
            let text = DisplayText.cut(cell.text, to: widths[column])
            line += DisplayText.padded(text, to: widths[column], right: right[column])
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
