/// A column of a read or a key of its groups: a field, an aggregate by name, or an expression.
///
/// ```swift
/// let perDay = try db.from("jobs")
///     .select(.bucket("due", "1d").as("day"), "count(*)", .countDistinct("owner").as("owners"))
///     .group("day").order("day")
/// ```
public struct Column: Sendable, ExpressibleByStringLiteral {
    private enum Content: Sendable {
        case name(String)
        /// FenecQL, a `?` for each parameter.
        case expression(String, [Value])
    }
    private let content: Content
    private var alias: String?

    private init(_ content: Content) { self.content = content }

    /// A field or a path, or an aggregate as it is spelled: `count(*)`, `avg(price)`.
    public init(_ name: String) { self.init(.name(name)) }
    public init(stringLiteral name: String) { self.init(name) }

    /// FenecQL as it is, a `?` for each parameter: for constants of the program.
    public static func expr(_ text: String, _ params: Value...) -> Column { expr(text, params: params) }

    /// FenecQL with its parameters in a list.
    public static func expr(_ text: String, params: [Value]) -> Column { Column(.expression(text, params)) }

    /// The start of the interval a time lies in: `15m`, `1h`, `1d`, `1mo`; in a time zone where one is named.
    public static func bucket(_ field: String, _ interval: String, _ zone: String? = nil) throws -> Column {
        let field = try Name.checkedPath(field)
        guard isInterval(interval) else {
            throw FenecError.refused(
                "\(Value.string(interval).json) is no interval: a whole number and one of ms s m h d w mo y")
        }
        guard let zone else { return Column(.expression("bucket(\(field), \(interval))", [])) }
        guard !zone.isEmpty else { throw FenecError.refused("the empty text names no time zone") }
        return Column(.expression("bucket(\(field), \(interval), ?)", [.string(zone)]))
    }

    /// How many values of a field differ.
    public static func countDistinct(_ field: String) throws -> Column {
        Column(.expression("count(distinct \(try Name.checkedPath(field)))", []))
    }

    /// The first value of a field, in the order of another where one is named.
    public static func first(_ field: String, by: String? = nil) throws -> Column { try end("first", field, by) }

    /// The last value of a field, in the order of another where one is named.
    public static func last(_ field: String, by: String? = nil) throws -> Column { try end("last", field, by) }

    private static func end(_ word: String, _ field: String, _ by: String?) throws -> Column {
        let field = try Name.checkedPath(field)
        guard let by else { return Column(.expression("\(word)(\(field))", [])) }
        return Column(.expression("\(word)(\(field) by \(try Name.checkedPath(by)))", []))
    }

    /// The metres between a field and a point `[longitude, latitude]`.
    public static func distance(_ field: String, _ point: any FenecValue) throws -> Column {
        Column(.expression("distance(\(try Name.checkedPath(field)), ?)", [try point.fenecValue()]))
    }

    /// The name an expression answers under.
    public func `as`(_ name: String) throws -> Column {
        guard case .expression = content else {
            throw FenecError.refused("only an expression takes a name of its own")
        }
        var named = self
        named.alias = try Name.checked(name, .column)
        return named
    }

    private static func isInterval(_ text: String) -> Bool {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let first = digits.first, first != UInt8(ascii: "0") else { return false }
        let unit = String(text.utf8.dropFirst(digits.count))
        return unit.map { ["ms", "s", "m", "h", "d", "w", "mo", "y"].contains($0) } ?? false
    }
}

extension Column {
    /// A column that was checked.
    struct Item: Sendable {
        /// A `?` for each parameter.
        let template: String
        let params: [Value]
        let isName: Bool
        let isAggregate: Bool

        func text(_ binder: inout Binder) throws -> String { try binder.fill(template, params) }

        var mayHoldQuery: Bool { !isName && Aggregate.holds("get", in: template) }
    }

    var isEveryField: Bool {
        if case .name(let name) = content { return name == "*" }
        return false
    }

    /// As an item of a list.
    func item() throws -> Item {
        switch content {
        case .name(let name):
            let aggregate = Aggregate.canonical(name)
            return Item(
                template: try aggregate ?? Name.checkedPath(name, .column), params: [], isName: true,
                isAggregate: aggregate != nil)
        case .expression(let text, let params):
            return Item(
                template: text + (alias.map { " as \($0)" } ?? ""), params: params, isName: false,
                isAggregate: Aggregate.isCalled(in: text))
        }
    }

    /// As a key of groups, which no aggregate by name is.
    func key() throws -> Item {
        guard case .name(let name) = content else { return try item() }
        return Item(template: try Name.checkedPath(name), params: [], isName: true, isAggregate: false)
    }
}

/// A key rows are ordered by; as a literal an ascending one.
///
/// ```swift
/// let books = try db.from("books").lookup("loans", on: "book_id", order: [SortKey("at", "desc"), "who"])
/// ```
public struct SortKey: Sendable, ExpressibleByStringLiteral {
    public let field: String
    /// `asc` or `desc`.
    public let direction: String
    /// `und` or `tr`, for texts ordered as people order them.
    public let collate: String?

    public init(_ field: String, _ direction: String = "asc", collate: String? = nil) {
        self.field = field
        self.direction = direction
        self.collate = collate
    }

    public init(stringLiteral field: String) { self.init(field) }

    func text() throws -> String {
        let key = try Aggregate.canonical(field) ?? Name.checkedPath(field)
        let direction = direction.lowercased()
        guard direction == "asc" || direction == "desc" else {
            throw FenecError.refused("\(Value.string(self.direction).json) is no direction: asc or desc")
        }
        guard let collate else { return "\(key) \(direction)" }
        guard collate == "tr" || collate == "und" else {
            throw FenecError.refused("\(Value.string(collate).json) is no collation: tr or und")
        }
        return "\(key) collate \(collate) \(direction)"
    }
}
