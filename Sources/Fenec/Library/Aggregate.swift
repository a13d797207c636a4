/// The aggregates a column may be, by their spelling. All of it goes by ASCII bytes and scalars: no
/// locale, no fold and no canonical equivalence makes one letter another.
enum Aggregate {
    private static let names = ["sum", "avg", "min", "max", "first", "last"]

    /// The canonical text of a column's name that calls an aggregate; nil for any other name.
    static func canonical(_ name: String) -> String? {
        var scanner = Scanner(name)
        scanner.skipSpace()
        guard let word = scanner.word(), scanner.take("(") else { return nil }
        let text: String
        if word == "count" {
            if scanner.take("*") {
                text = "count(*)"
            } else if scanner.peek() == ")" {
                text = "count(*)"
            } else {
                scanner.skipSpace()
                guard scanner.word() == "distinct", scanner.skipSpace(), let path = scanner.path() else { return nil }
                scanner.skipSpace()
                text = "count(distinct \(path))"
            }
        } else {
            guard names.contains(word), let path = scanner.path() else { return nil }
            text = "\(word)(\(path))"
        }
        guard scanner.take(")") else { return nil }
        scanner.skipSpace()
        return scanner.isAtEnd ? text : nil
    }

    /// Whether a text holds a call of an aggregate.
    static func isCalled(in text: String) -> Bool {
        var scanner = Scanner(text)
        while !scanner.isAtEnd {
            guard let run = scanner.run() else {
                scanner.skip()
                continue
            }
            guard run == "count" || names.contains(run) else { continue }
            scanner.skipSpace()
            if scanner.peek() == "(" { return true }
        }
        return false
    }

    /// Whether a text holds `word`, an ASCII word in lower case, in any case of its letters.
    static func holds(_ word: String, in text: String) -> Bool {
        var scanner = Scanner(text)
        while !scanner.isAtEnd {
            guard let run = scanner.run() else {
                scanner.skip()
                continue
            }
            if run == word { return true }
        }
        return false
    }

    private struct Scanner {
        private let scalars: [Unicode.Scalar]
        private var at = 0

        init(_ text: String) { scalars = Array(text.unicodeScalars) }

        var isAtEnd: Bool { at == scalars.count }
        func peek() -> Unicode.Scalar? { at < scalars.count ? scalars[at] : nil }
        mutating func skip() { at += 1 }

        mutating func take(_ scalar: Unicode.Scalar) -> Bool {
            guard peek() == scalar else { return false }
            at += 1
            return true
        }

        /// True where there was some.
        @discardableResult
        mutating func skipSpace() -> Bool {
            let start = at
            while let scalar = peek(), Self.isSpace(scalar) { at += 1 }
            return at > start
        }

        /// ASCII letters, in lower case.
        mutating func word() -> String? { text { Self.isLetter($0) }?.lowercased() }

        /// ASCII letters, digits and underscores, in lower case.
        mutating func run() -> String? {
            text { Self.isLetter($0) || Self.isDigit($0) || $0 == "_" }?.lowercased()
        }

        /// ASCII names joined by dots.
        mutating func path() -> String? {
            let start = at
            guard let path = text({ Self.isLetter($0) || Self.isDigit($0) || $0 == "_" || $0 == "." }),
                (try? Name.checkedPath(path)) != nil
            else {
                at = start
                return nil
            }
            return path
        }

        private mutating func text(_ isPart: (Unicode.Scalar) -> Bool) -> String? {
            var text = String.UnicodeScalarView()
            while let scalar = peek(), isPart(scalar) {
                text.append(scalar)
                at += 1
            }
            return text.isEmpty ? nil : String(text)
        }

        private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
            ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
        }

        private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

        private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.value {
            case 0x09...0x0D, 0x20, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
                return true
            default: return false
            }
        }
    }
}
