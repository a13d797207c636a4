import FenecDB
import Foundation

/// One step of a chain: a method and its arguments.
struct Step {
    let method: String
    let arguments: [Value]

    init(_ value: Value) throws {
        guard let parts = value.array, let method = parts.first?.string else {
            throw Malformed("\(value.json) is no step")
        }
        self.method = method
        arguments = Array(parts.dropFirst())
    }

    func value(_ place: Int) throws -> Value {
        guard arguments.indices.contains(place) else { throw Malformed("\(method) lacks an argument") }
        return arguments[place]
    }

    func text(_ place: Int) throws -> String { try value(place).text() }
    func whole(_ place: Int) throws -> Int { try value(place).whole() }
    func converted(_ place: Int) throws -> Value { try value(place).converted() }

    /// The named arguments, which stand behind the positional ones.
    func options(_ place: Int, _ names: [String]) throws -> Row {
        guard arguments.count > place else { return Row() }
        guard let options = arguments[place].object, arguments.count == place + 1,
            options.keys.allSatisfy(names.contains)
        else { throw Malformed("\(method) takes no \(arguments[place].json)") }
        return options
    }
}

extension Value {
    func text() throws -> String {
        guard let string else { throw Chain.Untyped() }
        return string
    }

    func whole() throws -> Int {
        guard let int else { throw Chain.Untyped() }
        return int
    }

    func list() throws -> [Value] {
        guard let array else { throw Chain.Untyped() }
        return array
    }

    /// The one member of an object that has no more and whose name starts with a dollar sign.
    var tagged: (tag: String, value: Value)? {
        guard let row = object, row.count == 1, row.keys[0].hasPrefix("$") else { return nil }
        return (row.keys[0], row.values[0])
    }

    /// The value a case writes down.
    func converted() throws -> Value {
        switch tagged {
        case ("$date", let text)?: return try Self.date(text.text()).fenecValue()
        case ("$floats", let list)?:
            guard let floats = list.floats else { throw Malformed("\(list.json) are no floats") }
            return .floats(floats)
        case ("$inc", let by)?: return .inc(try by.converted())
        case ("$expr", let list)?:
            let (text, params) = try list.fragment()
            return .expr(text, params: params)
        default: break
        }
        switch self {
        case .array(let values): return .array(try values.map { try $0.converted() })
        case .object(let row): return .object(Row(try row.map { ($0.key, try $0.value.converted()) }))
        default: return self
        }
    }

    /// `[text, parameter, ...]`
    func fragment() throws -> (text: String, params: [Value]) {
        let parts = try list()
        guard let text = parts.first else { throw Malformed("a fragment without a text") }
        return (try text.text(), try parts.dropFirst().map { try $0.converted() })
    }

    private static func date(_ text: String) throws -> Date {
        let row: Row = ["date": .string(text)]
        struct Holder: Decodable { let date: Date }
        return try row.decode(as: Holder.self).date
    }
}

extension Row {
    private func given(_ name: String) -> Value? {
        // Null stands for an argument that is left out.
        guard let value = self[name], !value.isNull else { return nil }
        return value
    }

    func whole(_ name: String) throws -> Int? { try given(name)?.whole() }
    func text(_ name: String) throws -> String? { try given(name)?.text() }

    func flag(_ name: String) throws -> Bool? {
        guard let value = given(name) else { return nil }
        guard let flag = value.bool else { throw Chain.Untyped() }
        return flag
    }

    func numbers(_ name: String) throws -> [Double]? {
        try given(name)?.list().map { number in
            guard let double = number.double else { throw Chain.Untyped() }
            return double
        }
    }

    /// A list of texts; nil where it is one text or left out.
    func texts(_ name: String) throws -> [String]? {
        guard let value = given(name), value.string == nil else { return nil }
        return try value.list().map { try $0.text() }
    }

    func returning() throws -> [String]? {
        switch given("returning") {
        case nil, .bool(false)?: return nil
        case .bool(true)?: return ["*"]
        case let value?: return try value.list().map { try $0.text() }
        }
    }
}

extension Cond {
    init(case value: Value) throws {
        guard let row = value.object else { throw Chain.Untyped() }
        switch value.tagged {
        case ("$or", let list)?: self = .or(try list.list().map { try Cond(case: $0) })
        case ("$and", let list)?: self = .and(try list.list().map { try Cond(case: $0) })
        case ("$not", let cond)?: self = .not(try Cond(case: cond))
        case ("$raw", let list)?:
            let (text, params) = try list.fragment()
            self = .raw(text, params: params)
        case ("$cmp", let list)?:
            let parts = try list.list()
            guard parts.count == 3 else { throw Malformed("\(value.json) is no comparison") }
            self = .cmp(try parts[0].text(), try parts[1].text(), try parts[2].converted())
        default: self = .fields(Row(try row.map { ($0.key, try $0.value.converted()) }))
        }
    }
}

extension Column {
    init(case value: Value) throws {
        if let name = value.string {
            self.init(name)
            return
        }
        switch value.tagged {
        case ("$expr", let list)?:
            let (text, params) = try list.fragment()
            self = .expr(text, params: params)
        case ("$bucket", let list)?:
            let parts = try list.list()
            guard parts.count >= 2 else { throw Malformed("\(value.json) is no bucket") }
            let zone = parts.count > 2 && !parts[2].isNull ? try parts[2].text() : nil
            self = try .bucket(parts[0].text(), parts[1].text(), zone)
        case ("$countDistinct", let field)?: self = try .countDistinct(field.text())
        case ("$first", let list)?:
            let (field, by) = try Self.end(list)
            self = try .first(field, by: by)
        case ("$last", let list)?:
            let (field, by) = try Self.end(list)
            self = try .last(field, by: by)
        case ("$distance", let list)?:
            let parts = try list.list()
            guard parts.count == 2 else { throw Malformed("\(value.json) is no distance") }
            self = try .distance(parts[0].text(), parts[1].converted())
        case ("$as", let list)?:
            let parts = try list.list()
            guard parts.count == 2 else { throw Malformed("\(value.json) is no column with a name") }
            self = try Column(case: parts[0]).as(parts[1].text())
        default: throw Chain.Untyped()
        }
    }

    private static func end(_ list: Value) throws -> (field: String, by: String?) {
        let parts = try list.list()
        guard let field = parts.first else { throw Malformed("\(list.json) names no field") }
        return (try field.text(), parts.count > 1 && !parts[1].isNull ? try parts[1].text() : nil)
    }
}

extension SortKey {
    init(case value: Value) throws {
        if let field = value.string {
            self.init(field)
            return
        }
        let parts = try value.list()
        guard let field = parts.first else { throw Malformed("\(value.json) is no key") }
        let direction = parts.count > 1 && parts[1].string != nil ? try parts[1].text() : "asc"
        let options = parts.last?.object ?? Row()
        self.init(try field.text(), direction, collate: try options.text("collate"))
    }
}
