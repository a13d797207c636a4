/// The conditions of a chain, checked: every name is one, every operator known, every value converted.
indirect enum Filter: Sendable {
    case and([Filter])
    case or([Filter])
    case not(Filter)
    case compare(field: String, symbol: String, Value)
    case isNull(field: String)
    case isNotNull(field: String)
    case isIn(field: String, [Value])
    case within(field: String, Value)
    case distance(field: String, point: Value, symbol: String, metres: Value)
    case raw(String, [Value])

    /// Levels that nest: what the language takes, and what every walk here, which calls itself, stays below.
    static let depthLimit = 512

    var depth: Int {
        switch self {
        case .and(let children), .or(let children): return (children.map(\.depth).max() ?? 0) + 1
        case .not(let child): return child.depth + 1
        default: return 1
        }
    }

    static var nestsTooDeep: FenecError {
        .refused("a condition nests more than \(depthLimit) levels deep")
    }
}

// MARK: from conditions

extension Filter {
    init(_ cond: Cond) throws {
        switch cond.content {
        case .fields(let row):
            self = .joined(try row.map { try Filter(field: $0.key, spec: $0.value) })
        case .and(let conds): self = .and(try conds.map(Filter.init))
        case .or(let conds): self = .or(try conds.map(Filter.init))
        case .not(let cond): self = .not(try Filter(cond))
        case .raw(let text, let params): self = .raw(text, try params.map { try $0.fenecValue() })
        case .compare(let field, let op, let value):
            self = try Filter(field: field, op: op, value: value.fenecValue())
        case .tooDeep: throw Self.nestsTooDeep
        }
    }

    /// One comparison.
    init(field: String, op: String, value: Value) throws {
        let field = try Name.checkedPath(field)
        guard let symbol = Self.symbols[op] else {
            throw FenecError.refused("\(Value.string(op).json) is no operator: = != < <= > >= ~ has in")
        }
        switch (symbol, value) {
        case ("=", .null): self = .isNull(field: field)
        case ("!=", .null): self = .isNotNull(field: field)
        case (_, .null): throw FenecError.refused("null compares with = and != alone, not with \(op)")
        case ("in", _):
            guard let members = value.array, !members.isEmpty else {
                throw FenecError.refused("`in` takes a list with at least one member")
            }
            self = .isIn(field: field, members)
        default: self = .compare(field: field, symbol: symbol, value)
        }
    }

    /// A value is equality; an object holds operators.
    init(field: String, spec: Value, depth: Int = 1) throws {
        guard case .object(let members) = spec, members.computed == nil else {
            self = try Filter(field: field, op: "=", value: spec)
            return
        }
        let field = try Name.checkedPath(field)
        guard depth < Self.depthLimit else { throw Self.nestsTooDeep }
        guard !members.isEmpty else { throw FenecError.refused("no operator in the condition of \(field)") }
        self = .joined(
            try members.map { op, value in
                switch op {
                case "not" where value.isNull: return .isNotNull(field: field)
                case "not": return .not(try Filter(field: field, spec: value, depth: depth + 1))
                case "within": return .within(field: field, value)
                case "distance": return try Self.distance(field, value)
                case _ where Self.symbols[op] != nil: return try Filter(field: field, op: op, value: value)
                default:
                    throw FenecError.refused("\(Value.string(op).json) is no operator, in the condition of \(field)")
                }
            })
    }

    private static func distance(_ field: String, _ spec: Value) throws -> Filter {
        guard case .object(let members) = spec, let point = members["from"], point.array != nil else {
            throw FenecError.refused(
                "`distance` of \(field) takes an object with a point [longitude, latitude] as `from`")
        }
        var comparisons: [Filter] = []
        let from = members.keys.firstIndex(of: "from")
        for (place, (op, metres)) in members.enumerated() where place != from {
            guard let symbol = symbols[op], measuring.contains(symbol), let number = metres.double, number.isFinite
            else {
                throw FenecError.refused(
                    "`distance` of \(field) compares metres, a number, with = != < <= > >=, not \(op)")
            }
            comparisons.append(.distance(field: field, point: point, symbol: symbol, metres: metres))
        }
        guard !comparisons.isEmpty else {
            throw FenecError.refused("`distance` of \(field) compares with nothing")
        }
        return joined(comparisons)
    }

    private static func joined(_ filters: [Filter]) -> Filter { filters.count == 1 ? filters[0] : .and(filters) }

    private static let symbols = [
        "=": "=", "eq": "=", "!=": "!=", "ne": "!=", "neq": "!=", "<": "<", "lt": "<", "<=": "<=", "lte": "<=",
        "le": "<=", ">": ">", "gt": ">", ">=": ">=", "gte": ">=", "ge": ">=", "~": "~", "like": "~",
        "contains": "~", "has": "has", "in": "in",
    ]
    private static let measuring = ["=", "!=", "<", "<=", ">", ">="]
}

// MARK: text

extension Filter {
    /// Without what asks for nothing; nil where that is all of it.
    var pruned: Filter? {
        switch self {
        case .and(let children):
            let rest = children.compactMap(\.pruned)
            return rest.count > 1 ? .and(rest) : rest.first
        case .or(let children):
            let rest = children.compactMap(\.pruned)
            return rest.count > 1 ? .or(rest) : rest.first
        case .not(let child):
            return child.pruned.map { .not($0) }
        default:
            return self
        }
    }

    enum Junction { case and, or }

    /// The text of a pruned filter inside a junction, which wraps a junction of the other kind.
    func text(_ binder: inout Binder, inside parent: Junction? = nil) throws -> String {
        switch self {
        case .and(let children):
            let text = try children.map { try $0.text(&binder, inside: .and) }.joined(separator: " and ")
            return parent == .or ? "(\(text))" : text
        case .or(let children):
            let text = try children.map { try $0.text(&binder, inside: .or) }.joined(separator: " or ")
            return parent == .and ? "(\(text))" : text
        case .not(let child):
            return "not (\(try child.text(&binder)))"
        case .compare(let field, let symbol, let value):
            return "\(field) \(symbol) \(try binder.bind(value))"
        case .isNull(let field):
            return "\(field) is null"
        case .isNotNull(let field):
            return "\(field) is not null"
        case .isIn(let field, let members):
            return "\(field) in [\(try members.map { try binder.bind($0) }.joined(separator: ", "))]"
        case .within(let field, let area):
            return "within(\(field), \(try binder.bind(area)))"
        case .distance(let field, let point, let symbol, let metres):
            let point = try binder.bind(point)
            return "distance(\(field), \(point)) \(symbol) \(try binder.bind(metres))"
        case .raw(let text, let params):
            return try binder.fill(text, params)
        }
    }

    /// Whether a fragment of it may hold a query of its own.
    var mayHoldQuery: Bool {
        switch self {
        case .and(let children), .or(let children): return children.contains(where: \.mayHoldQuery)
        case .not(let child): return child.mayHoldQuery
        case .raw(let text, _): return Aggregate.holds("get", in: text)
        default: return false
        }
    }
}
