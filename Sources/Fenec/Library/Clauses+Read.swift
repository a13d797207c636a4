extension Clauses {
    /// The read, or with `counting` how many rows it has.
    func read(counting: Bool = false) throws -> (text: String, params: [Value]) {
        try refuseCombinations(counting: counting)
        var binder = Binder()
        // The texts of the marks are bound before the columns they stand behind.
        let marks = try marks.map { try $0.text(&binder) }
        var items = try columns.map { try $0.text(&binder) }
        if items.isEmpty, !marks.isEmpty { items = ["*"] }
        items += marks

        var text = "get \(collection)"
        if !items.isEmpty { text += " select \(items.joined(separator: ", "))" }
        text += try filterText(&binder)
        text += try Self.list(" group ", groups, &binder)
        text += try near?.text(&binder) ?? ""
        text += try match?.text(&binder) ?? ""
        text += try rerank?.text(&binder) ?? ""
        text += fuse?.text ?? ""
        text += orderText
        if let limit { text += " limit \(try binder.bind(.int(Int64(limit))))" }
        if offset > 0 { text += " offset \(try binder.bind(.int(Int64(offset))))" }
        if let require { text += " require \(require)" }
        if counting { text += " count" }
        if !facets.isEmpty {
            text += " facet \(try facets.map { try $0.text(&binder) }.joined(separator: ", "))"
        }
        for level in levels { text += try level.text(&binder) }
        return (text, binder.params)
    }

    func filterText(_ binder: inout Binder) throws -> String {
        guard let filter = Filter.and(filters).pruned else { return "" }
        return " where \(try filter.text(&binder))"
    }

    var orderText: String { order.isEmpty ? "" : " order \(order.joined(separator: ", "))" }

    fileprivate static func list(_ word: String, _ items: [Column.Item], _ binder: inout Binder) throws -> String {
        guard !items.isEmpty else { return "" }
        return word + (try items.map { try $0.text(&binder) }.joined(separator: ", "))
    }

    private func refuseCombinations(counting: Bool) throws {
        func refuse(_ isRefused: Bool, _ message: @autoclosure () -> String) throws {
            if isRefused { throw FenecError.refused(message()) }
        }
        let isGrouped = !groups.isEmpty
        try refuse(isGrouped && (columns.isEmpty || !aggregates), "group needs an aggregate in the select list")
        try refuse(aggregates && near != nil, "an aggregate and near in one query")
        try refuse(aggregates && match != nil, "an aggregate and match in one query")
        try refuse(aggregates && !isGrouped && counting, "count() of a query that aggregates")
        try refuse(aggregates && !isGrouped && require != nil, "require on a query whose answer is one row")
        try refuse(!marks.isEmpty && match == nil, "highlight and snippet mark what match finds, and there is none")
        try refuse(!marks.isEmpty && aggregates, "highlight or snippet beside an aggregate")
        try refuse(!facets.isEmpty && near != nil, "a facet and near in one query")
        try refuse(!facets.isEmpty && aggregates, "a facet and an aggregate in one query")
        try refuse(rerank != nil && match == nil, "rerank orders what match finds, and there is none")
        try refuse(match != nil && near != nil && fuse == nil, "match and near in one query need fuse")
        try refuse(fuse != nil && (match == nil || near == nil), "fuse needs both match and near")
        try refuse(fuse != nil && rerank != nil, "fuse and rerank in one query")
        try refuse(
            !levels.isEmpty && (near != nil || match != nil || rerank != nil), "a lookup beside near, match or rerank")
        try refuse(
            counting && levels.first.map { !$0.required } ?? false, "count() with a lookup that is not required")
        try refuse(levels.count > 8, "more than 8 lookups in one chain")
        for (place, level) in levels.enumerated() {
            let before = [collection] + levels[..<place].map(\.name)
            try refuse(before.contains { $0.isSame(as: level.name) }, "\(level.name) twice in one chain")
        }
        try refuse(
            counting
                && (near != nil || match != nil || rerank != nil || !order.isEmpty || limit != nil || offset > 0
                    || !columns.isEmpty || require != nil),
            "count() of a query with near, match, rerank, order, a page, a select list or require")
    }
}

extension Clauses.Mark {
    fileprivate func text(_ binder: inout Binder) throws -> String {
        let arguments = [field] + (words.map { ["\($0)"] } ?? []) + (try params.map { try binder.bind($0) })
        return "\(word)(\(arguments.joined(separator: ", ")))"
    }
}

extension Clauses.Near {
    fileprivate func text(_ binder: inout Binder) throws -> String {
        " near \(field) \(try binder.bind(vector))" + (ef.map { " ef \($0)" } ?? "") + (exact ? " exact" : "")
    }
}

extension Clauses.Match {
    fileprivate func text(_ binder: inout Binder) throws -> String {
        " match \(field) \(try binder.bind(.string(text)))" + (fuzzy.map { " fuzzy \($0)" } ?? "")
            + (prefix ? " prefix" : "")
    }
}

extension Clauses.Rerank {
    fileprivate func text(_ binder: inout Binder) throws -> String {
        " rerank \(field) \(try binder.bind(vector))" + (candidates.map { " candidates \($0)" } ?? "")
    }
}

extension Clauses.Fuse {
    fileprivate var text: String {
        " fuse" + (k.map { " k \($0)" } ?? "") + (candidates.map { " candidates \($0)" } ?? "")
    }
}

extension Clauses.Facet {
    fileprivate func text(_ binder: inout Binder) throws -> String {
        var text = field
        if let top { text += " top \(try binder.bind(.int(Int64(top))))" }
        if let ranges { text += " ranges [\(ranges.map(\.javaScriptText).joined(separator: ", "))]" }
        if disjunctive { text += " disjunctive" }
        return text
    }
}

extension Clauses.Level {
    fileprivate func text(_ binder: inout Binder) throws -> String {
        var text = " lookup \(name) on \(Self.side(on))"
        if !parentKey.isEmpty { text += " = \(Self.side(parentKey))" }
        if required { text += " required" }
        text += try Clauses.list(" select ", columns, &binder)
        if let filter = filter?.pruned { text += " where \(try filter.text(&binder))" }
        text += try Clauses.list(" group ", groups, &binder)
        if !order.isEmpty { text += " order \(order.joined(separator: ", "))" }
        if let limit { text += " limit \(try binder.bind(.int(Int64(limit))))" }
        if offset > 0 { text += " offset \(try binder.bind(.int(Int64(offset))))" }
        return text
    }

    private static func side(_ fields: [String]) -> String {
        fields.count == 1 ? fields[0] : "(\(fields.joined(separator: ", ")))"
    }
}
