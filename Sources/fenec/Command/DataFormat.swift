/// How data outside the database is written.
enum DataFormat {
    case jsonLines, csv

    init(name: String) throws {
        switch name.lowercased() {
        case "jsonl", "json", "ndjson": self = .jsonLines
        case "csv": self = .csv
        default: throw UsageError("there is no format \"\(name)\": jsonl or csv")
        }
    }

    /// By the end of a file's name.
    init(path: String?) {
        self = path?.lowercased().hasSuffix(".csv") == true ? .csv : .jsonLines
    }
}
