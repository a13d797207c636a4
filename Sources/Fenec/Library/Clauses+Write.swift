extension Clauses {
    typealias Statement = (text: String, params: [Value])

    /// What every write may end in.
    struct Ending {
        let returning: [String]?
        let require: Int?

        func text() throws -> String {
            var text = ""
            if let returning {
                guard !returning.isEmpty else { throw FenecError.refused("returning names no field") }
                let fields = returning == ["*"] ? returning : try returning.map { try Name.checkedPath($0) }
                text += " returning \(fields.joined(separator: ", "))"
            }
            if let require { text += " require \(try require.checked("require"))" }
            return text
        }
    }

    func insert(_ docs: Value, ifAbsent: Bool, ending: Ending) throws -> Statement {
        try refuseForInsert("an insert")
        var binder = Binder()
        var text = "put \(collection) \(try Self.documents(docs, &binder))"
        if ifAbsent { text += " if absent" }
        return (text + (try ending.text()), binder.params)
    }

    func upsert(_ docs: Value, _ patch: Value, ending: Ending) throws -> Statement {
        try refuseForInsert("an upsert")
        var binder = Binder()
        var text = "put \(collection) \(try Self.documents(docs, &binder))"
        text += " if absent else set \(try Self.document(patch, &binder, isPatch: true))"
        return (text + (try ending.text()), binder.params)
    }

    func update(_ patch: Value, all: Bool, ending: Ending) throws -> Statement {
        try refuseForUpdate("an update", all: all)
        var binder = Binder()
        var text = "set \(collection) \(try Self.document(patch, &binder, isPatch: true))"
        text += try pickText(&binder)
        return (text + (try ending.text()), binder.params)
    }

    func delete(all: Bool, ending: Ending) throws -> Statement {
        try refuseForUpdate("a delete", all: all)
        var binder = Binder()
        let text = "del \(collection)" + (try pickText(&binder))
        return (text + (try ending.text()), binder.params)
    }

    // MARK: documents

    private static func documents(_ docs: Value, _ binder: inout Binder) throws -> String {
        guard case .array(let list) = docs else { return try document(docs, &binder, isPatch: false) }
        guard !list.isEmpty else { throw FenecError.refused("the list of documents is empty") }
        let texts = try list.map { try document($0, &binder, isPatch: false) }
        return texts.count == 1 ? texts[0] : "[\(texts.joined(separator: ", "))]"
    }

    private static func document(_ value: Value, _ binder: inout Binder, isPatch: Bool) throws -> String {
        guard case .object(let fields) = value, fields.computed == nil else {
            throw FenecError.refused("a document is an object")
        }
        guard !fields.isEmpty else { throw FenecError.refused("a document has at least one field") }
        let texts = try fields.map { key, value -> String in
            let key = try Name.checkedPath(key)
            switch value.computed {
            case nil: return "\(key): \(try binder.bind(value))"
            case .expression(let text, let params): return "\(key): \(try binder.fill(text, params))"
            case .increment(let by):
                guard isPatch else {
                    throw FenecError.refused(".inc of \(key) reads a row, and a new document has none")
                }
                guard by.double?.isFinite ?? false else {
                    throw FenecError.refused(".inc of \(key) takes a finite number")
                }
                return "\(key): coalesce(\(key), 0) + \(try binder.bind(by))"
            }
        }
        return "{\(texts.joined(separator: ", "))}"
    }

    // MARK: clauses

    private func pickText(_ binder: inout Binder) throws -> String {
        var text = try filterText(&binder) + orderText
        if let limit { text += " limit \(try binder.bind(.int(Int64(limit))))" }
        return text
    }

    private func refuseForInsert(_ what: String) throws {
        try refuseForWrite(what)
        guard filters.isEmpty else { throw FenecError.refused("\(what) takes no condition") }
        guard order.isEmpty, limit == nil else { throw FenecError.refused("\(what) takes no order and no limit") }
    }

    private func refuseForUpdate(_ what: String, all: Bool) throws {
        try refuseForWrite(what)
        guard all || limit != nil || Filter.and(filters).pruned != nil else {
            throw FenecError.refused(
                "\(what) without a condition covers the whole collection \(collection): say `all: true` to mean that")
        }
    }

    private func refuseForWrite(_ what: String) throws {
        guard require == nil else { throw FenecError.refused("\(what) takes require as its argument") }
        guard near == nil, match == nil, rerank == nil, offset == 0, columns.isEmpty else {
            throw FenecError.refused("\(what) takes no near, match, rerank, offset or select list")
        }
        guard levels.isEmpty, facets.isEmpty else { throw FenecError.refused("\(what) takes no lookup and no facet") }
    }
}
