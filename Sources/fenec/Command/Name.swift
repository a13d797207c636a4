/// Names of collections and fields. The language has no quotes for them, so one that is put into a text
/// has to be a name by its rule: `Alphabetic` or `_`, then these and digits.
enum Name {
    static func isValid(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, begins(first) else { return false }
        return name.unicodeScalars.allSatisfy(continues)
    }

    static func checked(_ name: String, _ what: String) throws -> String {
        guard isValid(name) else {
            throw UsageError("\"\(name)\" is not \(what): letters, digits and _, not beginning with a digit")
        }
        return name
    }

    /// The nearest name to any text.
    static func made(from text: String) -> String {
        var name = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { name.append(continues(scalar) ? scalar : "_") }
        if name.first.map(begins) != true { name.insert("_", at: name.startIndex) }
        return String(name)
    }

    private static func begins(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isAlphabetic
    }

    private static func continues(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .decimalNumber, .letterNumber, .otherNumber: return true
        default: return begins(scalar)
        }
    }
}
