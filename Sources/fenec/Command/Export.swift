import FenecDB
import Foundation

/// `fenec export FILE COLLECTION [OUT]`.
struct Export {
    let path: String
    let collection: String
    let out: String?
    let format: DataFormat?

    private static let pageSize = 2000

    func run() async throws {
        guard FileManager.default.fileExists(atPath: path) else { throw CommandError("there is no file \(path)") }
        let db = try await Fenec.open(path: path)
        do {
            guard let fields = try await Field.all(of: collection, in: db) else {
                throw CommandError("\(path) has no collection \(collection); fenec \(path) collections lists them")
            }
            if let out {
                try await ReplacedFile.write(to: out) { output in try await write(db, fields, to: &output) }
            } else {
                var output = Output.standard
                try await write(db, fields, to: &output)
            }
        } catch {
            try? await db.close()
            throw error
        }
        try await db.close()
    }

    private static func line(_ cells: [CSVCell]) -> String {
        cells.map(\.written).joined(separator: ",") + "\r\n"
    }

    /// Pages by id: nobody else has the file open, so they are of one state.
    private func write(_ db: Fenec, _ fields: [Field], to output: inout Output) async throws {
        let isCSV = (format ?? DataFormat(path: out)) == .csv
        let columns = [Field(name: "id", spelledType: "int")] + fields
        if isCSV { output.write(Self.line(columns.map { CSVCell(text: $0.name, isQuoted: false) })) }
        var last: Int64 = 0
        var progress = Progress()
        var written = 0
        while true {
            let rows = try await db.query("get \(collection) where id > $1 order id limit \(Self.pageSize)", last)
            for row in rows {
                if isCSV {
                    output.write(Self.line(columns.map { $0.type.cell(of: row[$0.name] ?? .null) }))
                } else {
                    output.write("\(row)\n")
                }
            }
            written += rows.count
            progress.show("\(written) documents")
            guard rows.count == Self.pageSize, case .int(let id)? = rows.last?["id"] else { break }
            last = id
        }
        progress.clear()
        try output.flush()
    }
}
