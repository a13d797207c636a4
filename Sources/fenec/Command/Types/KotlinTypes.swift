/// Row types as data classes that read a `Row`, which is a `Map<String, Any?>`.
struct KotlinTypes: TypeLanguage {
    let name = "kotlin"
    let fileName = "FenecSchema.kt"
    /// In lower case.
    let package: String

    static let reserved: Set<String> = [
        "as", "break", "class", "continue", "do", "else", "false", "for", "fun", "if", "in", "interface", "is", "null",
        "object", "package", "return", "super", "this", "throw", "true", "try", "typealias", "typeof", "val", "var",
        "when", "while",
    ]

    func opening(_ types: [RowType]) -> [String] { ["", "package \(package)", "", "import com.fenecdb.Row"] }

    func lines(of type: RowType) -> [String] {
        var lines = [
            "/** One row of `\(type.collection)`. */",
            "data class \(type.name)(",
            "    val id: Long,",
        ]
        for member in type.members {
            let spelled = Self.spelled(member.field.type) + (Self.isOptional(member) ? "?" : "")
            lines.append("    val \(Self.quoted(member.name)): \(spelled), // \(member.field.note)")
        }
        lines += [
            ") {",
            "    companion object {",
            "        /** Reads a row the binding answered. */",
            "        fun from(row: Row) = \(type.name)(",
            "            id = (row[\"id\"] as Number).toLong(),",
        ]
        for member in type.members {
            lines.append("            \(Self.quoted(member.name)) = \(Self.read(member)),")
        }
        return lines + ["        )", "    }", "}"]
    }

    private static func isOptional(_ member: RowType.Member) -> Bool {
        member.isOptional || member.field.type == .json
    }

    private static func spelled(_ type: DeclaredType) -> String {
        switch type {
        case .bool: return "Boolean"
        case .int: return "Long"
        case .float: return "Double"
        case .text, .timestamp, .sparse: return "String"
        case .bytes: return "List<Int>"
        case .json: return "Any"
        case .geo: return "List<Double>"
        case .vector: return "List<Float>"
        case .list(let element): return "List<\(spelled(element))>"
        }
    }

    private static func read(_ member: RowType.Member) -> String {
        let column = "row[\"\(member.field.name.replacingOccurrences(of: "\"", with: "\\\""))\"]"
        return read(column, as: member.field.type, isOptional: isOptional(member), depth: 0)
    }

    private static func read(_ value: String, as type: DeclaredType, isOptional: Bool, depth: Int) -> String {
        let mark = isOptional ? "?" : ""
        func number(_ kind: String) -> String { "(\(value) as Number\(mark))\(mark).to\(kind)()" }
        func list(of element: DeclaredType, _ read: (String) -> String) -> String {
            // A name for each level: inside another `it` is not the outer one.
            let each = depth == 0 ? "it" : "e\(depth)"
            let opening = depth == 0 ? "" : "\(each) -> "
            return "(\(value) as List<*>\(mark))\(mark).map { \(opening)\(read(each)) }"
        }
        switch type {
        case .bool: return "\(value) as Boolean\(mark)"
        case .int: return number("Long")
        case .float: return number("Double")
        case .text, .timestamp, .sparse: return "\(value) as String\(mark)"
        case .json: return value
        case .bytes: return list(of: .int) { "(\($0) as Number).toInt()" }
        case .geo: return list(of: .float) { "(\($0) as Number).toDouble()" }
        case .vector: return list(of: .float) { "(\($0) as Number).toFloat()" }
        case .list(let element):
            return list(of: element) { Self.read($0, as: element, isOptional: false, depth: depth + 1) }
        }
    }

    private static func quoted(_ name: String) -> String {
        TypeName.isWord(name, of: reserved) ? "`\(name)`" : name
    }

    /// Letters (category L and Nl) and `_`, then these and decimal digits.
    func canSpell(_ name: String) -> Bool { Self.canSpell(name) }

    static func canSpell(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, isLetter(first) else { return false }
        return name.unicodeScalars.allSatisfy { isLetter($0) || $0.properties.generalCategory == .decimalNumber }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber:
            return scalar.value <= 0xFFFF // a compiler of Kotlin reads UTF-16, unit by unit
        default:
            return scalar == "_"
        }
    }
}
