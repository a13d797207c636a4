// MARK: what to read

extension Query {
    /// The columns to answer, in place of those named before; none, or `"*"`, is every field.
    public func select(_ columns: String...) throws -> Query { try select(columns.map { Column($0) }) }

    /// The columns of a list.
    public func select(_ columns: [String]) throws -> Query { try select(columns.map { Column($0) }) }

    /// Columns among which are expressions.
    public func select(_ column: Column, _ more: Column...) throws -> Query { try select([column] + more) }

    /// Columns of a list, expressions among them.
    public func select(_ columns: [Column]) throws -> Query {
        let list = try SelectList(columns)
        return with {
            $0.columns = list.items
            $0.aggregates = list.aggregates
        }
    }

    /// One row for each value of a field; the list that `select` names has to aggregate.
    public func group(_ field: String) throws -> Query { try group([Column(field)]) }

    /// One row for each combination of values.
    public func group(_ key: Column, _ more: Column...) throws -> Query { try group([key] + more) }

    /// One row for each combination of the values of a list.
    public func group(_ keys: [Column]) throws -> Query {
        guard !keys.isEmpty else { throw FenecError.refused("group takes at least one key") }
        let keys = try keys.map { try $0.key() }
        return with { $0.groups = keys }
    }
}

// MARK: conditions

extension Query {
    /// Rows a field of which compares with a value: `=` `!=` `<` `<=` `>` `>=` `~` `has` `in`.
    public func `where`(_ field: String, _ op: String, _ value: any FenecValue) throws -> Query {
        try adding(Filter(field: field, op: op, value: value.fenecValue()))
    }

    /// Rows a field of which is a value, or, with an object of operators, holds to these.
    public func `where`(_ field: String, _ spec: any FenecValue) throws -> Query {
        try adding(Filter(field: field, spec: spec.fenecValue()))
    }

    /// Rows that hold to a condition too.
    public func `where`(_ cond: Cond) throws -> Query { try adding(Filter(cond)) }

    /// Rows that hold to everything before, or to this comparison.
    public func orWhere(_ field: String, _ op: String, _ value: any FenecValue) throws -> Query {
        try offering(Filter(field: field, op: op, value: value.fenecValue()))
    }

    /// Rows that hold to everything before, or to this spec of a field.
    public func orWhere(_ field: String, _ spec: any FenecValue) throws -> Query {
        try offering(Filter(field: field, spec: spec.fenecValue()))
    }

    /// Rows that hold to everything before, or to a condition.
    public func orWhere(_ cond: Cond) throws -> Query { try offering(Filter(cond)) }

    private func adding(_ filter: Filter) throws -> Query {
        guard filter.depth < Filter.depthLimit else { throw Filter.nestsTooDeep }
        return with { $0.filters.append(filter) }
    }

    private func offering(_ filter: Filter) throws -> Query {
        guard !clauses.filters.isEmpty else { return try adding(filter) }
        let choice: Filter
        // A chain of `orWhere` stays one flat list, which reads the same as one inside the other.
        if clauses.filters.count == 1, case .or(let before) = clauses.filters[0] {
            choice = .or(before + [filter])
        } else {
            choice = .or([.and(clauses.filters), filter])
        }
        guard choice.depth < Filter.depthLimit else { throw Filter.nestsTooDeep }
        return with { $0.filters = [choice] }
    }
}

// MARK: ranking

extension Query {
    /// The rows nearest to a vector, nearest first; `ef` is how widely the index searches.
    public func near(
        _ field: String, _ vector: any FenecValue, ef: Int? = nil, exact: Bool = false
    ) throws -> Query {
        let near = Clauses.Near(
            field: try Name.checked(field), vector: try vector.fenecValue(), ef: try ef?.checked("ef"), exact: exact)
        return with { $0.near = near }
    }

    /// The rows whose text matches best; fuzzy forgives two edits a word.
    public func match(
        _ field: String, _ query: String, fuzzy: Bool = false, prefix: Bool = false
    ) throws -> Query {
        let match = Clauses.Match(field: try Name.checked(field), text: query, fuzzy: fuzzy ? 2 : nil, prefix: prefix)
        return with { $0.match = match }
    }

    /// The rows whose text matches best, forgiving so many edits a word.
    public func match(_ field: String, _ query: String, fuzzy: Int, prefix: Bool = false) throws -> Query {
        guard (0...2).contains(fuzzy) else { throw FenecError.refused("fuzzy takes 0, 1 or 2, not \(fuzzy)") }
        let match = Clauses.Match(field: try Name.checked(field), text: query, fuzzy: fuzzy, prefix: prefix)
        return with { $0.match = match }
    }

    /// One ranking of `near` and `match` together.
    public func fuse(k: Int? = nil, candidates: Int? = nil) throws -> Query {
        let fuse = Clauses.Fuse(k: try k?.checked("k"), candidates: try candidates?.checked("candidates"))
        return with { $0.fuse = fuse }
    }

    /// The best matches again, by how near they are to a vector.
    public func rerank(_ field: String, _ vector: any FenecValue, candidates: Int? = nil) throws -> Query {
        let rerank = Clauses.Rerank(
            field: try Name.checked(field), vector: try vector.fenecValue(),
            candidates: try candidates?.checked("candidates"))
        return with { $0.rerank = rerank }
    }

    /// A column more: the text of a field with its matches between tags.
    public func highlight(_ field: String, pre: String? = nil, post: String? = nil) throws -> Query {
        try marking("highlight", field, words: nil, tags: tags(pre, post) ?? [])
    }

    /// A column more: the part of a field's text, in so many words, that matches best.
    public func snippet(
        _ field: String, _ words: Int, ellipsis: String? = nil, pre: String? = nil, post: String? = nil
    ) throws -> Query {
        let words = try words.checked("snippet", atLeast: 1)
        var params = ellipsis.map { [$0] } ?? []
        // The ellipsis stands before the tags: where none is given the empty text takes its place.
        if let tags = try tags(pre, post) { params = [ellipsis ?? ""] + tags }
        return try marking("snippet", field, words: words, tags: params)
    }

    private func tags(_ pre: String?, _ post: String?) throws -> [String]? {
        switch (pre, post) {
        case (nil, nil): return nil
        case (let pre?, let post?): return [pre, post]
        default: throw FenecError.refused("pre and post are given both or neither")
        }
    }

    private func marking(_ word: String, _ field: String, words: Int?, tags: [String]) throws -> Query {
        let field = try Name.checked(field)
        guard !clauses.marks.contains(where: { $0.word == word && $0.field.isSame(as: field) }) else {
            throw FenecError.refused("\(word) of \(field) is asked for twice")
        }
        let mark = Clauses.Mark(word: word, field: field, words: words, params: tags.map { .string($0) })
        return with { $0.marks.append(mark) }
    }
}

// MARK: facets, order, page

extension Query {
    /// How many rows hold each value of a field, or lie in each of some ranges.
    public func facet(
        _ field: String, top: Int? = nil, ranges: [Double]? = nil, disjunctive: Bool = false
    ) throws -> Query {
        let field = try Name.checkedPath(field)
        guard !clauses.facets.contains(where: { $0.field.isSame(as: field) }) else {
            throw FenecError.refused("the facet of \(field) is asked for twice")
        }
        let top = try top?.checked("top", atLeast: 1)
        if let ranges {
            guard top == nil else { throw FenecError.refused("a facet of ranges takes no top") }
            guard ranges.count >= 2, ranges.allSatisfy(\.isFinite), zip(ranges, ranges.dropFirst()).allSatisfy(<) else {
                throw FenecError.refused("ranges takes two or more finite numbers, each above the one before")
            }
        }
        return with {
            $0.facets.append(Clauses.Facet(field: field, top: top, ranges: ranges, disjunctive: disjunctive))
        }
    }

    /// A key to order by, after those given before.
    public func order(_ field: String, _ direction: String = "asc", collate: String? = nil) throws -> Query {
        let key = try SortKey(field, direction, collate: collate).text()
        return with { $0.order.append(key) }
    }

    /// At most so many rows.
    public func limit(_ n: Int) throws -> Query {
        let limit = try n.checked("limit")
        return with { $0.limit = limit }
    }

    /// Without the first so many rows.
    public func offset(_ n: Int) throws -> Query {
        let offset = try n.checked("offset")
        return with { $0.offset = offset }
    }

    /// An error where the rows are not exactly so many.
    public func require(_ n: Int) throws -> Query {
        let require = try n.checked("require")
        return with { $0.require = require }
    }
}

/// The items a list of columns asks for: none where it asks for every field.
struct SelectList {
    let items: [Column.Item]
    let aggregates: Bool

    init(_ columns: [Column]) throws {
        let named = try columns.filter { !$0.isEveryField }.map { try $0.item() }
        aggregates = named.contains(where: \.isAggregate)
        items = named.count == columns.count ? named : []
    }
}
