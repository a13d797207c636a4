/// Row types as structs that are `Codable`.
struct SwiftTypes: TypeLanguage {
    let name = "swift"
    let fileName = "FenecSchema.swift"

    private static let reserved: Set<String> = [
        "Any", "Self", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
        "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard",
        "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
        "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super",
        "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    func opening(_ types: [RowType]) -> [String] {
        let holdsJSON = types.contains { $0.members.contains { $0.field.type == .json } }
        return ["", "import Foundation"] + (holdsJSON ? [""] + Self.json : [])
    }

    func lines(of type: RowType) -> [String] {
        var lines = [
            "/// One row of `\(type.collection)`.",
            "public struct \(type.name): Codable, Sendable, Equatable {",
            "    public var id: Int64",
        ]
        for member in type.members {
            let optional = member.isOptional ? "?" : ""
            let spelled = Self.spelled(member.field.type)
            lines.append("    public var \(Self.quoted(member.name)): \(spelled)\(optional)  // \(member.field.note)")
        }
        if type.members.contains(where: \.isRenamed) {
            lines += ["", "    enum CodingKeys: String, CodingKey {", "        case id"]
            for member in type.members {
                let key = member.isRenamed ? " = \"\(member.field.name)\"" : ""
                lines.append("        case \(Self.quoted(member.name))\(key)")
            }
            lines.append("    }")
        }
        return lines + ["}"]
    }

    private static func spelled(_ type: DeclaredType) -> String {
        switch type {
        case .bool: return "Bool"
        case .int: return "Int64"
        case .float: return "Double"
        case .text, .timestamp, .sparse: return "String"
        case .bytes: return "[UInt8]"
        case .json: return "JSON"
        case .geo: return "[Double]"
        case .vector: return "[Float]"
        case .list(let element): return "[\(spelled(element))]"
        }
    }

    private static func quoted(_ name: String) -> String {
        TypeName.isWord(name, of: reserved) ? "`\(name)`" : name
    }

    /// What the language reference calls identifier-head and identifier-character, of the characters that
    /// stand in names of the schema.
    func canSpell(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, !Self.isMark(first) else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII || Self.isMark(scalar) || Self.heads.contains { $0.contains(scalar.value) }
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        marks.contains { $0.contains(scalar.value) }
    }

    private static let marks: [ClosedRange<UInt32>] = [0x300...0x36F, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F]

    private static let heads: [ClosedRange<UInt32>] =
        [
            0xA8...0xA8, 0xAA...0xAA, 0xAD...0xAD, 0xAF...0xAF, 0xB2...0xB5, 0xB7...0xBA, 0xBC...0xBE, 0xC0...0xD6,
            0xD8...0xF6, 0xF8...0x2FF, 0x370...0x167F, 0x1681...0x180D, 0x180F...0x1DBF, 0x1E00...0x1FFF,
            0x200B...0x200D, 0x202A...0x202E, 0x203F...0x2040, 0x2054...0x2054, 0x2060...0x206F, 0x2070...0x20CF,
            0x2100...0x218F, 0x2460...0x24FF, 0x2776...0x2793, 0x2C00...0x2DFF, 0x2E80...0x2FFF, 0x3004...0x3007,
            0x3021...0x302F, 0x3031...0x303F, 0x3040...0xD7FF, 0xF900...0xFD3D, 0xFD40...0xFDCF, 0xFDF0...0xFE1F,
            0xFE30...0xFE44, 0xFE47...0xFFFD,
        ] + (1...14).map { ($0 << 16)...($0 << 16 | 0xFFFD) }

    private static let json = """
        /// `json`: any JSON value.
        public indirect enum JSON: Codable, Sendable, Equatable {
            case null
            case bool(Bool)
            case number(Double)
            case string(String)
            case array([JSON])
            case object([String: JSON])

            public init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if container.decodeNil() {
                    self = .null
                } else if let value = try? container.decode(Bool.self) {
                    self = .bool(value)
                } else if let value = try? container.decode(Double.self) {
                    self = .number(value)
                } else if let value = try? container.decode(String.self) {
                    self = .string(value)
                } else if let value = try? container.decode([JSON].self) {
                    self = .array(value)
                } else {
                    self = .object(try container.decode([String: JSON].self))
                }
            }

            public func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                switch self {
                case .null: try container.encodeNil()
                case .bool(let value): try container.encode(value)
                case .number(let value): try container.encode(value)
                case .string(let value): try container.encode(value)
                case .array(let value): try container.encode(value)
                case .object(let value): try container.encode(value)
                }
            }
        }
        """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
}
