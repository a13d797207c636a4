/// A condition of a ``Query``: fields and what they are to be, or others joined.
///
/// ```swift
/// let open: Cond = ["done": false, "due": ["lt": "2027-01-01"]]
/// let jobs = try db.from("jobs").where(.or(open, .not(["owner": nil]), .raw("len(title) > ?", 40)))
/// ```
///
/// Making one never throws for what it holds: the step it is given to refuses a bad name or operator.
public struct Cond: Sendable, ExpressibleByDictionaryLiteral {
    indirect enum Content: Sendable {
        case fields(Row)
        case and([Cond])
        case or([Cond])
        case not(Cond)
        case raw(String, [any FenecValue])
        case compare(String, String, any FenecValue)
        /// Stands for a condition that nests past the limit: kept, it could exhaust a stack as it goes.
        case tooDeep
    }
    let content: Content
    private let depth: Int

    private init(_ content: Content, around conds: [Cond] = []) {
        depth = (conds.map(\.depth).max() ?? 0) + 1
        self.content = depth > Filter.depthLimit ? .tooDeep : content
    }

    /// Fields and their specs, joined with `and` in the order written.
    public init(dictionaryLiteral elements: (String, Value)...) { self.init(.fields(Row(elements))) }

    /// The same from a row.
    public static func fields(_ row: Row) -> Cond { Cond(.fields(row)) }

    public static func or(_ conds: Cond...) -> Cond { or(conds) }
    public static func or(_ conds: [Cond]) -> Cond { Cond(.or(conds), around: conds) }
    public static func and(_ conds: Cond...) -> Cond { and(conds) }
    public static func and(_ conds: [Cond]) -> Cond { Cond(.and(conds), around: conds) }
    public static func not(_ cond: Cond) -> Cond { Cond(.not(cond), around: [cond]) }

    /// FenecQL as it is, a `?` for each parameter: for constants of the program. It gets no parentheses,
    /// so one with an `or` of its own brings them.
    public static func raw(_ text: String, _ params: any FenecValue...) -> Cond { Cond(.raw(text, params)) }

    /// FenecQL with its parameters in a list.
    public static func raw(_ text: String, params: [Value]) -> Cond { Cond(.raw(text, params)) }

    /// One comparison, whatever the value: with `=` an object is compared as one.
    public static func cmp(_ field: String, _ op: String, _ value: any FenecValue) -> Cond {
        Cond(.compare(field, op, value))
    }

    /// Points in an area, for one a box `[west, south, east, north]`.
    public static func within(_ field: String, _ area: any FenecValue) throws -> Cond {
        let spec = Row([("within", try area.fenecValue())])
        return .fields(Row([(field, .object(spec))]))
    }

    /// Points nearer to, or farther from, a point `[longitude, latitude]` than so many metres.
    public static func distance(
        _ field: String, from point: any FenecValue, _ op: String, _ metres: Double
    ) throws -> Cond {
        let measure = Row([("from", try point.fenecValue()), (op, .double(metres))])
        return .fields(Row([(field, .object(Row([("distance", .object(measure))])))]))
    }
}
