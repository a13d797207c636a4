import Foundation

/// Row types as classes that read decoded JSON.
struct DartTypes: TypeLanguage {
    let name = "dart"
    let fileName = "fenec_schema.dart"
    let takenMembers: Set<String> = [
        "int", "double", "bool", "num", "hashCode", "runtimeType", "toString", "noSuchMethod",
    ]

    private static let reserved: Set<String> = [
        "assert", "break", "case", "catch", "class", "const", "continue", "default", "do", "else", "enum", "extends",
        "false", "final", "finally", "for", "if", "in", "is", "new", "null", "rethrow", "return", "super", "switch",
        "this", "throw", "true", "try", "var", "void", "while", "with",
    ]

    func typeName(_ pascal: String) -> String { TypeName.ascii(pascal, lead: "F", reserved: Self.reserved) }
    func memberName(_ camel: String) -> String { TypeName.ascii(camel, lead: "f", reserved: Self.reserved) }
    func canSpell(_ name: String) -> Bool { true } // what is not ASCII became `_`
    func opening(_ types: [RowType]) -> [String] { [] }

    func lines(of type: RowType) -> [String] {
        var lines = ["/// One row of `\(type.collection)`.", "class \(type.name) {", "  final int id;"]
        for member in type.members {
            let spelled = Self.spelled(member.field.type) + (Self.isOptional(member) ? "?" : "")
            lines += ["  /// \(member.field.note)", "  final \(spelled) \(member.name);"]
        }
        let parameters = type.members.map { (Self.isOptional($0) ? "" : "required ") + "this.\($0.name)" }
        lines += [
            "",
            "  const \(type.name)({\((["required this.id"] + parameters).joined(separator: ", "))});",
            "",
            "  /// Reads a row out of decoded JSON.",
            "  factory \(type.name).fromJson(Map<String, Object?> j) => \(type.name)(",
            "        id: j['id'] as int,",
        ]
        for member in type.members { lines.append("        \(member.name): \(Self.read(member)),") }
        return lines + ["      );", "}"]
    }

    private static func isOptional(_ member: RowType.Member) -> Bool {
        member.isOptional || member.field.type == .json
    }

    private static func spelled(_ type: DeclaredType) -> String {
        switch type {
        case .bool: return "bool"
        case .int: return "int"
        case .float: return "double"
        case .text, .timestamp, .sparse: return "String"
        case .bytes: return "List<int>"
        case .json: return "Object"
        case .geo, .vector: return "List<double>"
        case .list(let element): return "List<\(spelled(element))>"
        }
    }

    private static func read(_ member: RowType.Member) -> String {
        let column = "j['\(member.field.name.replacingOccurrences(of: "'", with: "\\'"))']"
        return read(column, as: member.field.type, isOptional: isOptional(member), depth: 0)
    }

    private static func read(_ value: String, as type: DeclaredType, isOptional: Bool, depth: Int) -> String {
        let mark = isOptional ? "?" : ""
        func list(_ read: (String) -> String) -> String {
            let each = depth == 0 ? "e" : "e\(depth)"
            return "(\(value) as List<Object?>\(mark))\(mark).map((\(each)) => \(read(each))).toList()"
        }
        switch type {
        case .bool: return "\(value) as bool\(mark)"
        case .int: return "\(value) as int\(mark)"
        case .float: return "(\(value) as num\(mark))\(mark).toDouble()"
        case .text, .timestamp, .sparse: return "\(value) as String\(mark)"
        case .json: return value
        case .bytes: return list { "\($0) as int" }
        case .geo, .vector: return list { "(\($0) as num).toDouble()" }
        case .list(let element):
            return list { Self.read($0, as: element, isOptional: false, depth: depth + 1) }
        }
    }
}
