import FenecDB
import Foundation

/// Which field each part of the data goes to, found by reading all of it once.
struct ImportPlan {
    struct Column {
        let source: String
        let target: String
        let type: FieldType
    }

    /// nil where the collection is there.
    private(set) var creation: String?
    private(set) var columns: [Column] = []
    /// Names of the data that had to be changed to be names of fields.
    private(set) var changedNames: [(from: String, to: String)] = []

    private var places: [String: Int] = [:] // by source

    /// `fields`: those of the collection, nil where it has to be made.
    init(_ survey: Survey, collection: String, fields: [Field]?, rules: Import.Rules) throws {
        let sources = Set(survey.columns.map(\.name))
        if let source = rules.renames.keys.sorted().first(where: { !sources.contains($0) }) {
            throw CommandError("--rename \(source)=…: the data has no field \(source)")
        }
        let names = Self.names(survey.columns.map(\.name), fields: fields?.map(\.name), renames: rules.renames)
        var declarations: [String] = []
        var untaken = rules.types
        for column in survey.columns {
            let target = names[column.name] ?? column.name
            if target != column.name, rules.renames[column.name] == nil { changedNames.append((column.name, target)) }
            let type: String
            if let given = untaken.removeValue(forKey: target) {
                type = given
            } else if let fields {
                type = try Self.type(of: target, column, collection, fields)
            } else {
                type = column.type(isCSV: survey.isCSV, quotesMean: survey.quotesMeanText)
            }
            if target == "id" {
                guard type == "int" else { throw Self.noNumber(column) }
            } else {
                declarations.append("\(target) \(type)")
            }
            columns.append(Column(source: column.name, target: target, type: FieldType(spelled: type)))
        }
        if fields != nil, let field = rules.types.keys.sorted().first {
            throw CommandError("--type \(field)=…: \(collection) is there, its fields have their types")
        }
        if let field = untaken.keys.sorted().first {
            throw CommandError("--type \(field)=…: the data has no field \(field)")
        }
        for (place, column) in columns.enumerated() { places[column.source] = place }
        let byTarget = Dictionary(grouping: columns, by: \.target)
        if let twice = columns.first(where: { byTarget[$0.target]?.count != 1 }), let both = byTarget[twice.target] {
            throw CommandError(
                "\(both.map { "\"\($0.source)\"" }.joined(separator: " and ")) would both be the field \(twice.target)")
        }
        if fields == nil {
            guard !declarations.isEmpty else {
                throw CommandError("the data has no fields to make the collection \(collection) from")
            }
            creation = "create collection \(collection) (\(declarations.joined(separator: ", ")))"
        }
    }

    /// A field for each name of the data, none twice: names that are names of fields keep theirs, the others
    /// take what is left.
    private static func names(
        _ sources: [String], fields: [String]?, renames: [String: String]
    ) -> [String: String] {
        var targets = renames
        for source in sources where targets[source] == nil && isName(source, among: fields) { targets[source] = source }
        var taken = Set(targets.values)
        for source in sources where targets[source] == nil {
            let plain = Name.made(from: source)
            var target = plain
            var number = 2
            while !taken.insert(target).inserted {
                target = "\(plain)_\(number)"
                number += 1
            }
            targets[source] = target
        }
        return targets
    }

    private static func isName(_ name: String, among fields: [String]?) -> Bool {
        Name.isValid(name) || (fields ?? []).contains { name.hasPrefix($0 + ".") }
    }

    private static func type(
        of target: String, _ column: Survey.Column, _ collection: String, _ fields: [Field]
    ) throws -> String {
        if target == "id" { return "int" }
        if let field = fields.first(where: { $0.name == target }) { return field.spelledType }
        // A path into a json field.
        if let dot = target.firstIndex(of: "."), fields.contains(where: { $0.name == target[..<dot] }) { return "json" }
        throw CommandError(
            """
            line \(column.firstLine): \(collection) has no field "\(target)"
            either --rename \(target)=FIELD, or first: alter collection \(collection) add field \(target) TYPE
            """)
    }

    private static func noNumber(_ column: Survey.Column) -> CommandError {
        CommandError(
            """
            line \(column.firstLine): "\(column.name)" would be the document's id, a whole number from 1, \
            and holds something else
            --rename \(column.name)=OTHER keeps it as a field
            """)
    }

    /// The document of a record, or what is wrong with it.
    func document(of content: RecordReader.Record.Content) -> Result<Value, CommandError> {
        switch content {
        case .fault(let fault):
            return .failure(CommandError(fault))
        case .object(let row):
            var fields: [(String, Value)] = []
            fields.reserveCapacity(row.count)
            for (key, value) in row {
                guard let place = places[key] else { continue }
                fields.append((columns[place].target, value))
            }
            return .success(.object(Row(fields)))
        case .cells(let cells):
            var fields: [(String, Value)] = []
            fields.reserveCapacity(cells.count)
            for (column, cell) in zip(columns, cells) {
                guard let value = column.type.value(of: cell) else {
                    return .failure(
                        CommandError("has \"\(cell.text)\" for \(column.target), which takes \(column.type)"))
                }
                // A document without an id is given one; one whose id is null is refused.
                if column.target == "id", value.isNull { continue }
                fields.append((column.target, value))
            }
            return .success(.object(Row(fields)))
        }
    }
}
