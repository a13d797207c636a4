/// Cuts input into texts: one ends at a line that ends in `;`, at an empty line, or with the input.
///
/// It knows as much of the language as that takes, quotes and comments.
struct StatementReader {
    struct Text: Equatable {
        let text: String
        let line: Int // its first one, from 1
    }

    private let nextLine: (_ begins: Bool) throws -> String?
    private var lineNumber = 0

    /// `nextLine` answers a line without its end, nil at the end of input; it is told whether the line
    /// would begin a text.
    init(_ nextLine: @escaping (_ begins: Bool) throws -> String?) {
        self.nextLine = nextLine
    }

    /// The next text that holds a statement, the comments right before it included.
    mutating func next() throws -> Text? {
        var lines: [String] = []
        var start = 0
        var quote: Unicode.Scalar?
        var hasCode = false
        while let line = try nextLine(!hasCode) {
            lineNumber += 1
            if quote == nil, line.allSatisfy(\.isWhitespace) {
                if hasCode { break }
                lines = []
                continue
            }
            if lines.isEmpty { start = lineNumber }
            lines.append(line)
            let last = Self.scan(line, &quote, &hasCode)
            if hasCode, quote == nil, last == ";" { break }
        }
        return hasCode ? Text(text: lines.joined(separator: "\n"), line: start) : nil
    }

    /// Goes over a line; answers its last character that is neither white space nor comment. `hasCode`
    /// becomes true with anything that begins a statement.
    private static func scan(
        _ line: String, _ quote: inout Unicode.Scalar?, _ hasCode: inout Bool
    ) -> Unicode.Scalar? {
        var last: Unicode.Scalar?
        let scalars = Array(line.unicodeScalars)
        var at = 0
        while at < scalars.count {
            let scalar = scalars[at]
            if let open = quote {
                if scalar == "\\" {
                    at += 1 // and whatever it escapes
                } else if scalar == open {
                    quote = nil
                }
                last = open
            } else if scalar == "#" || (scalar == "-" && at + 1 < scalars.count && scalars[at + 1] == "-") {
                return last
            } else if scalar == "\"" || scalar == "'" {
                quote = scalar
                last = scalar
                hasCode = true
            } else if !scalar.properties.isWhitespace {
                last = scalar
                if scalar != ";" { hasCode = true }
            }
            at += 1
        }
        return last
    }
}
