import FenecDB

/// What kinds of values a field was seen to hold, and the type that takes them all.
struct Observed: Equatable {
    private var bools = false
    private var wholes = false
    private var fractions = false
    private var times = false
    private var texts = false
    private var objects = false
    private var lists = false
    private var elements: [Observed] = [] // one or none: what the lists hold
    private var hasWholeNoDoubleHolds = false

    mutating func see(_ value: Value) {
        switch value {
        case .null: break
        case .bool: bools = true
        case .int(let number):
            wholes = true
            if Int64(exactly: Double(number)) != number { hasWholeNoDoubleHolds = true }
        case .double: fractions = true
        case .string(let text):
            if Self.isTime(text) { times = true } else { texts = true }
        case .object: objects = true
        case .array, .floats:
            lists = true
            for element in value.array ?? [] {
                if elements.isEmpty { elements = [Observed()] }
                elements[0].see(element)
            }
        }
    }

    /// The type of JSON data. Kinds that no one type takes as they are, are json.
    var type: String {
        if objects { return "json" }
        if lists {
            let element = elements.first?.type ?? "json"
            return hasScalars || element == "json" ? "json" : "[\(element)]"
        }
        switch (bools, wholes || fractions, times || texts) {
        case (true, false, false): return "bool"
        case (false, true, false):
            if !fractions { return "int" }
            return hasWholeNoDoubleHolds ? "json" : "float"
        case (false, false, true): return texts ? "text" : "timestamp"
        case (false, false, false): return "text"
        default: return "json"
        }
    }

    private var hasScalars: Bool { bools || wholes || fractions || times || texts }

    /// Dates, and dates with times, that a timestamp keeps whole: to the millisecond.
    static func isTime(_ text: String) -> Bool {
        var rest = text.utf8[...]
        func digits(_ count: Int) -> Int? {
            guard rest.count >= count, rest.prefix(count).allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count).reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        func take(_ characters: String) -> Bool {
            guard let first = rest.first, characters.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        guard let year = digits(4), take("-"), let month = digits(2), (1...12).contains(month), take("-"),
            let day = digits(2), day >= 1, day <= days(in: month, of: year)
        else { return false }
        if rest.isEmpty { return true }
        guard take("Tt "), let hour = digits(2), hour < 24, take(":"), let minute = digits(2), minute < 60 else {
            return false
        }
        if take(":") {
            guard let second = digits(2), second < 60 else { return false }
            if take(".") {
                let fraction = rest.prefix { (0x30...0x39).contains($0) }.count
                guard (1...3).contains(fraction) else { return false }
                rest = rest.dropFirst(fraction)
            }
        }
        if rest.isEmpty || (take("Zz") && rest.isEmpty) { return true }
        guard take("+-"), let hours = digits(2), hours < 24 else { return false }
        if rest.isEmpty { return true }
        _ = take(":")
        return digits(2).map { $0 < 60 } == true && rest.isEmpty
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: return 30
        case 2: return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: return 31
        }
    }
}
