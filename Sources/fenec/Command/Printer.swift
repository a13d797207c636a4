import FenecDB

/// Writes answers: tables for people, one JSON object a line for programs.
struct Printer {
    enum Layout { case table, json }

    struct Style {
        /// nil: a table on a terminal.
        var layout: Layout?
        var showsTime = false
    }

    private let layout: Layout
    private var output = Output.standard

    init(_ style: Style) {
        layout = style.layout ?? (Console.outputIsTerminal ? .table : .json)
    }

    mutating func print(_ answer: Answer) throws {
        switch layout {
        case .table: printTable(answer)
        case .json: printLines(answer)
        }
        try output.flush()
    }

    mutating func print(text: String) throws {
        output.write(text + "\n")
        try output.flush()
    }

    /// "1 row", "2 rows".
    static func counted(_ count: Int, _ noun: String) -> String { count == 1 ? "1 \(noun)" : "\(count) \(noun)s" }

    private mutating func printLines(_ answer: Answer) {
        switch answer {
        case .rows(_, let rows, let facets):
            for row in rows { output.write("\(row)\n") }
            if !facets.isEmpty { output.write("\(["facets": Self.object(facets)] as Value)\n") }
        case .affected(let count): output.write("\(["affected": .int(Int64(count))] as Value)\n")
        case .ok(let message): output.write("\(["ok": .string(message)] as Value)\n")
        case .schemas(let collections): for collection in collections { output.write("\(collection)\n") }
        }
    }

    private static func object(_ facets: Facets) -> Value {
        .object(
            Row(
                facets.map { facet in
                    (facet.field, .array(facet.counts.map { ["value": $0.value, "count": .int(Int64($0.count))] }))
                }))
    }

    private mutating func printTable(_ answer: Answer) {
        switch answer {
        case .rows(let columns, let rows, let facets):
            printTable(columns, rows)
            output.write(Self.counted(rows.count, "row") + "\n")
            for (field, counts) in facets {
                output.write("\n")
                printTable(
                    [field, "count"],
                    counts.map { Row([(field, $0.value), ("count", .int(Int64($0.count)))]) })
            }
        case .affected(let count): output.write(Self.counted(count, "document") + "\n")
        case .ok(let message): output.write("\(DisplayText.visible(message))\n")
        case .schemas(let collections): printSchemas(collections)
        }
    }

    private mutating func printSchemas(_ collections: [Row]) {
        var rows: [Row] = []
        for collection in collections {
            for field in (collection["fields"]?.array ?? []) + (collection["paths"]?.array ?? []) {
                rows.append([
                    "collection": collection["name"] ?? .null, "field": field["name"] ?? .null,
                    "type": field["type"] ?? .null, "index": field["index"] ?? .null,
                ])
            }
        }
        printTable(["collection", "field", "type", "index"], rows)
        output.write(Self.counted(collections.count, "collection") + "\n")
    }

    private mutating func printTable(_ columns: [String], _ rows: [Row]) {
        for line in Table(columns: columns, rows: rows).lines(width: Console.width) { output.write(line + "\n") }
    }
}
