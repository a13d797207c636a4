/// What the database works out as it writes a field.
enum Computed {
    /// The field's number, or 0 where it has none, and this much more.
    case increment(Value)
    /// FenecQL, a `?` for each parameter.
    case expression(String, [Value])
}

extension Value {
    /// As a field of a patch: the field's number and `by` more; a field without one counts from 0.
    ///
    /// ```swift
    /// try await db.from("jobs").where("id", 7).update(["tries": .inc()] as Value)
    /// ```
    public static func inc(_ by: Value = 1) -> Value {
        .object(Row(keys: [], values: [by]))
    }

    /// As a field of a document or a patch: what a FenecQL expression answers, each `?` in it a parameter.
    /// The text stands in the statement as it is, so it is for constants of the program.
    ///
    /// ```swift
    /// try await db.from("jobs").insert(["title": "paint", "due": .expr("now()")] as Value)
    /// ```
    public static func expr(_ text: String, _ params: Value...) -> Value { expr(text, params: params) }

    /// An expression with its parameters in a list.
    public static func expr(_ text: String, params: [Value]) -> Value {
        .object(Row(keys: [], values: [.string(text), .array(params)]))
    }

    /// What `inc` or `expr` made; nil for every other value.
    var computed: Computed? {
        guard case .object(let row) = self, let parts = row.computed else { return nil }
        if parts.count == 2, let text = parts[0].string, let params = parts[1].array {
            return .expression(text, params)
        }
        return .increment(parts[0])
    }

    /// Whether it is computed or has one somewhere inside. Its stack does not grow with the depth.
    var holdsComputed: Bool {
        var rest = [self]
        while let value = rest.popLast() {
            switch value {
            case .array(let values):
                rest.append(contentsOf: values)
            case .object(let row):
                if row.computed != nil { return true }
                rest.append(contentsOf: row.values)
            default: break
            }
        }
        return false
    }
}

extension FenecError {
    static let misplacedComputed = refused(
        ".inc and .expr stand only as a field of a document or a patch that a query writes")
}
