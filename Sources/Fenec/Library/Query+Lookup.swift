extension Query {
    /// The documents of another collection that belong to each row, under its name: those whose field `on` is
    /// the row's `parentKey`, which is its id where none is named. A second lookup is of the first's documents.
    ///
    /// ```swift
    /// let books = try await db.from("books").lookup("loans", on: "book_id", where: ["back": nil]).rows()
    /// ```
    public func lookup(
        _ name: String, on: String?, parentKey: String? = nil, select: [Column]? = nil, group: [Column]? = nil,
        where cond: Cond? = nil, required: Bool = false, order: [SortKey] = [], limit: Int? = nil,
        offset: Int? = nil
    ) throws -> Query {
        try lookup(
            name, on: on.map { [$0] } ?? [], parentKey: parentKey.map { [$0] }, select: select, group: group,
            where: cond, required: required, order: order, limit: limit, offset: offset)
    }

    /// The same by several fields, `parentKey` having as many.
    public func lookup(
        _ name: String, on: [String], parentKey: [String]? = nil, select: [Column]? = nil, group: [Column]? = nil,
        where cond: Cond? = nil, required: Bool = false, order: [SortKey] = [], limit: Int? = nil,
        offset: Int? = nil
    ) throws -> Query {
        let name = try Name.checked(name, .collection)
        guard let first = on.first, !first.isEmpty else {
            throw FenecError.refused("the lookup of \(name) names no field of \(name)")
        }
        guard parentKey?.count ?? 1 == on.count else {
            throw FenecError.refused("the lookup of \(name) needs as many fields in parentKey as in on")
        }
        let list = try SelectList(select ?? [])
        guard list.aggregates || list.items.allSatisfy(\.isName) else {
            throw FenecError.refused("the list of the lookup of \(name) holds an expression but no aggregate")
        }
        let groups = try (group ?? []).map { try $0.key() }
        guard group == nil || !groups.isEmpty else {
            throw FenecError.refused("the group of the lookup of \(name) has no key")
        }
        guard groups.isEmpty || list.aggregates && !list.items.isEmpty else {
            throw FenecError.refused("the group of the lookup of \(name) needs a list that aggregates")
        }
        let filter = try cond.map { try Filter($0) }
        guard filter?.depth ?? 0 < Filter.depthLimit else { throw Filter.nestsTooDeep }
        let level = Clauses.Level(
            name: name, on: try on.map { try Name.checked($0) },
            parentKey: try (parentKey ?? []).map { try Name.checked($0) }, columns: list.items, groups: groups,
            filter: filter, required: required, order: try order.map { try $0.text() },
            limit: try limit?.checked("limit"), offset: try offset?.checked("offset") ?? 0)
        return with { $0.levels.append(level) }
    }
}
