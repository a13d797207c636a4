/// The parameters of one statement, numbered as they are bound.
struct Binder {
    private(set) var params: [Value] = []

    /// The next number, `$1` first, which stands for `value`.
    mutating func bind(_ value: Value) throws -> String {
        guard !value.holdsComputed else { throw FenecError.misplacedComputed }
        params.append(value)
        return "$\(params.count)"
    }

    /// `text` with the numbers of `values` in place of its question marks, wherever these stand.
    mutating func fill(_ text: String, _ values: [Value]) throws -> String {
        let parts = text.unicodeScalars.split(separator: "?", omittingEmptySubsequences: false)
        guard parts.count == values.count + 1 else {
            throw FenecError.refused(
                "\(Value.string(text).json) has \(parts.count - 1) question marks, \(values.count) parameters are given"
            )
        }
        var filled = String(parts[0])
        for (value, part) in zip(values, parts.dropFirst()) {
            filled += try bind(value)
            filled.unicodeScalars.append(contentsOf: part)
        }
        return filled
    }
}

extension Int {
    /// The largest whole number that stands in a text: every JSON reader keeps it exactly.
    private static let largestWritten = (1 << 53) - 1

    /// The number as it is, for `word`, where it is neither too small nor too large.
    func checked(_ word: String, atLeast least: Int = 0) throws -> Int {
        guard self >= least, self <= Self.largestWritten else {
            throw FenecError.refused("\(word) takes a whole number from \(least) to 2^53 - 1, not \(self)")
        }
        return self
    }
}

extension Double {
    /// A finite number as JavaScript writes it: the fewest digits that read back, plain from 10^-6 up to
    /// 10^21 and with an exponent outside.
    var javaScriptText: String {
        if self == 0 { return "0" }
        let parts = magnitude.description.split(separator: "e", omittingEmptySubsequences: false)
        let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let whole = String(mantissa[0])
        let fraction = mantissa.count > 1 ? String(mantissa[1]) : ""
        var digits = Substring(whole + fraction)
        // Where the point stands, counted from the first of `digits`.
        var point = whole.count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        while digits.first == "0" {
            digits.removeFirst()
            point -= 1
        }
        while digits.last == "0" { digits.removeLast() }
        return (self < 0 ? "-" : "") + Self.text(digits, point)
    }

    private static func text(_ digits: Substring, _ point: Int) -> String {
        switch point {
        case digits.count...21 where digits.count <= 21:
            return digits + String(repeating: "0", count: point - digits.count)
        case 1...21:
            return digits.prefix(point) + "." + digits.dropFirst(point)
        case -5...0:
            return "0." + String(repeating: "0", count: -point) + digits
        default:
            let exponent = point - 1
            return digits.prefix(1) + (digits.count > 1 ? "." + digits.dropFirst() : "") + "e"
                + (exponent < 0 ? "-" : "+") + String(exponent.magnitude)
        }
    }
}
