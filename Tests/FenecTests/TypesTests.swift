import FenecDB
import Foundation
import Testing

@testable import fenec

private struct Wrong: Error, CustomStringConvertible {
    let description: String
}

private enum Golden {
    /// `Tests`.
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path

    static func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    }
}

private func types(_ language: any TypeLanguage, _ text: String, source: String = "a.fenecql") async throws -> String {
    try TypeWriter(language: language, source: source).text(of: await SchemaText(text).declared())
}

private func types(_ language: any TypeLanguage, of name: String) async throws -> String {
    try await types(language, Golden.text("types/\(name).fenecql"), source: "\(name).fenecql")
}

/// A program's text without what stands in comments and quotes.
private func code(_ text: String) -> String {
    var shown = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        let bare = line.trimmingCharacters(in: .whitespaces)
        if bare.hasPrefix("/**") || bare.hasPrefix("//") { continue }
        var quote: Character?
        for (place, character) in zip(line.indices, line) {
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "\"" || character == "'" {
                quote = character
            } else if line[place...].hasPrefix("//") {
                break
            } else {
                shown.append(character)
            }
        }
        shown.append("\n")
    }
    return shown
}

private func checkBalance(_ text: String) throws {
    let closing: [Character: Character] = [")": "(", "]": "[", "}": "{", ">": "<"]
    var open: [Character] = []
    var last: Character = " "
    for character in code(text) {
        defer { last = character }
        if character == ">", last == "-" || last == "=" { continue } // an arrow
        if closing.values.contains(character) { open.append(character) }
        if let opening = closing[character], open.popLast() != opening {
            throw Wrong(description: "`\(character)` closes nothing")
        }
    }
    if let left = open.last { throw Wrong(description: "`\(left)` stays open") }
}

@Suite struct TypesTests {
    @Test func theOutputIsWhatItWas() async throws {
        #expect(try await types(SwiftTypes(), of: "app") == Golden.text("types/app.swift"))
        #expect(try await types(KotlinTypes(package: "com.shop.db"), of: "app") == Golden.text("types/app.kt"))
        #expect(try await types(DartTypes(), of: "app") == Golden.text("types/app.dart"))
        for name in ["every", "names"] {
            #expect(
                try await types(KotlinTypes(package: "fenecschema"), of: name) == Golden.text("types/\(name).kt"))
            #expect(try await types(DartTypes(), of: name) == Golden.text("types/\(name).dart"))
        }
        // These two are compiled into this very target.
        #expect(
            try await types(SwiftTypes(), of: "every") == Golden.text("FenecTests/Generated/EveryTypes.swift"))
        #expect(
            try await types(SwiftTypes(), of: "names") == Golden.text("FenecTests/Generated/NamesTypes.swift"))
    }

    @Test func namesAreMadeSo() {
        let names: [(String, pascal: String, camel: String)] = [
            ("title", "Title", "title"), ("product_id", "ProductId", "productId"), ("URL", "URL", "uRL"),
            ("_hidden", "Hidden", "hidden"), ("a__b", "AB", "aB"), ("x2_y", "X2Y", "x2Y"), ("_2fa", "F2fa", "f2fa"),
            ("_", "F", "f"), ("élan_vital", "ÉlanVital", "élanVital"), ("ß_ß", "SSSS", "sSSS"),
        ]
        for name in names {
            #expect(TypeName.pascal(name.0) == name.pascal)
            #expect(TypeName.camel(name.0) == name.camel)
        }
        var taken = TakenNames(["a"])
        #expect(["a", "b", "a", "b", "a3", "a"].map { taken.unique($0) } == ["a2", "b", "a3", "b2", "a32", "a4"])
        // Told apart by their bytes: the sign of Ångström and the letter.
        #expect(taken.unique("\u{212B}").utf8.count == 3)
        #expect(taken.unique("\u{C5}").utf8.count == 2)
    }

    @Test func kotlinAndDartAreBalancedAndSpellNoReservedWord() async throws {
        for name in ["app", "every", "names"] {
            let kotlin = try await types(KotlinTypes(package: "p"), of: name)
            let dart = try await types(DartTypes(), of: name)
            try checkBalance(kotlin)
            try checkBalance(dart)
            for line in code(kotlin).split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.first == "val" else { continue }
                #expect(!KotlinTypes.reserved.contains(String(words[1].dropLast())), "\(line)")
            }
            #expect(!dart.contains(" class;"))
            #expect(dart.allSatisfy { $0.isASCII } == (name != "names"))
        }
    }

    @Test func membersAreUniqueWhateverTheNames() async throws {
        var random = SystemRandomNumberGenerator()
        let parts = ["a", "A", "b", "_", "2", "id", "in", "ş", "class", "int", "é"]
        for _ in 0..<30 {
            var names: [String] = []
            for _ in 0..<12 {
                let name = (0..<Int.random(in: 1...3, using: &random)).map { _ in parts.randomElement(using: &random)! }
                    .joined()
                if Name.isValid(name), name != "id", !names.contains(name) { names.append(name) }
            }
            guard !names.isEmpty else { continue }
            let text = "create collection t (" + names.map { "\($0) int" }.joined(separator: ", ") + ")"
            for language: any TypeLanguage in [SwiftTypes(), KotlinTypes(package: "p"), DartTypes()] {
                let first = try await types(language, text)
                let lines = first.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                let members = lines.filter {
                    $0.hasPrefix("public var ") || $0.hasPrefix("val ") || $0.hasPrefix("final ")
                }
                #expect(members.count == names.count + 1, "\(text)")
                #expect(Set(members.map { $0.components(separatedBy: "  //")[0] }).count == members.count, "\(text)")
                #expect(try await types(language, text) == first)
            }
        }
    }

    @Test func whatCannotBeSpelledIsRefusedWithItsLine() async throws {
        let folder = try Folder()
        let text = "-- create collection a (x² int)\ncreate collection if not exists a (\n  x [int], # x²\n  x² int)"
        let path = try folder.file("s.fenecql", holding: text)
        let outcome = try await Program("fenec").run(["types", "--lang", "kt", path])
        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(
            outcome.error
                == "\(path): line 4: the field `a.x²` cannot be spelled in Kotlin, where it would be `x²`\n")
        // Swift spells it, Dart writes `_`.
        #expect(try await types(SwiftTypes(), text).contains("public var x²: Int64?  // int\n"))
        #expect(try await types(DartTypes(), text).contains("final int? x_;\n"))
    }

    @Test func theCommandIsUsedSo() async throws {
        let folder = try Folder()
        let schema = try folder.file("s.fenecql", holding: "create collection t (a int)")
        let out = try folder.file("out", holding: "old")
        let written = try await Program("fenec").run(["types", "--lang=dart", "-o", out, "--name", "X", schema])
        #expect(written.status == 0)
        #expect(written.output == "")
        #expect(written.error == "\(out): 1 collection\n")
        #expect(try String(contentsOfFile: out, encoding: .utf8).contains("class T {"))
        // The last file counts.
        let last = try await Program("fenec").run(["types", "nowhere.fenecql", "--lang", "kt", schema])
        #expect(last.status == 0)
        #expect(last.lines[1] == "// fenec types --lang kotlin \(schema) > FenecSchema.kt")
        #expect(last.lines[3] == "package fenecschema")
        let help = try await Program("fenec").run(["types", "--help"])
        #expect(help.status == 0)
        #expect(help.output.hasPrefix("fenec types --lang"))
        let bare = try await Program("fenec").run(["types", "--lang", "swift"])
        #expect(bare.status == 2)
        #expect(bare.output == "")
        #expect(bare.error == help.output)

        let bad = try folder.file("bad.fenecql", holding: "create collection t (a int); get t")
        for (arguments, fault) in [
            ([schema], "swift, kotlin or dart"), (["--lang", "cobol", schema], "swift, kotlin or dart"),
            (["--lang"], "--lang needs a value"), (["--lang", "dart", "--none", schema], "--none"),
            (["--lang", "dart", folder.file("nowhere.fenecql")], "nowhere.fenecql: cannot be read: No such file"),
            (["--lang", "dart", folder.file("nowhere")], "No such file"),
            (["--lang", "dart", folder.path], "is not a file"),
            (["--lang", "dart", bad], "\(bad): query error: schema description: the description: position 29: "),
            (["--lang", "kt", "--name", "a b", schema], "no package"),
            (["--lang", "kt", "--name", "a.in", schema], "no package"),
            (["--lang", "dart", "-o", folder.file("none/out"), schema], "cannot be written"),
        ] {
            let outcome = try await Program("fenec").run(["types"] + arguments)
            #expect(outcome.status == 2, "\(arguments)")
            #expect(outcome.output == "")
            #expect(outcome.lines.isEmpty && outcome.error.filter { $0 == "\n" }.count == 1, "\(outcome.error)")
            #expect(outcome.error.contains(fault), "\(outcome.error)")
        }
    }

    @Test func aDatabaseIsReadWhileItIsInUse() async throws {
        let folder = try Folder()
        let path = folder.file("a.fenec")
        let db = try await Fenec.open(path: path)
        try await db.schema(try Golden.text("types/every.fenecql"))
        let outcome = try await Program("fenec").run(["types", "--lang", "swift", path])
        #expect(outcome.status == 0, "\(outcome.error)")
        let expected = try Golden.text("FenecTests/Generated/EveryTypes.swift")
        #expect(outcome.output == expected.replacingOccurrences(of: "every.fenecql", with: path))
        try await db.execute("alter collection every_type drop field flags")
        #expect(try await Program("fenec").run(["types", "--lang", "swift", path]).output.contains("blobs: [[UInt8]]?"))
        try await db.close()
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(files == ["a.fenec", "a.fenec.lock"])
    }
}

extension EveryType: FenecValue {}
extension EveryRequired: FenecValue {}
extension ReservedWords: FenecValue {}

/// What `fenec types` wrote for Swift, over a database of the schema it was written from.
@Suite struct GeneratedTypesTests {
    private func database(_ name: String) async throws -> Fenec {
        let db = try Fenec.memory()
        try await db.schema(try Golden.text("types/\(name).fenecql"))
        return db
    }

    private func roundTripped<T: Codable>(_ value: T) throws -> T {
        try JSONDecoder().decode(T.self, from: JSONEncoder().encode(value))
    }

    private var whole: EveryRequired {
        EveryRequired(
            id: 7, flag: true, count: .max, ratio: 0.1, title: "ı", seen: "2031-01-02T03:04:05.006Z",
            photo: [0, 255], extra: .object(["a": .array([.null, .bool(false), .number(1.5), .string("x")])]),
            spot: [1.5, -2], look: [0.1, 2, -3], half: [0.5, 1], words: "{1:0.5,9:2}/9", tags: ["b", "a"],
            grid: [[1], [], [-2, 3]], times: ["1969-12-31T23:59:59Z"], looks: [[1, 2]], places: [[3, 4]],
            blobs: [[], [1]], flags: [true, false])
    }

    @Test func rowsOfEveryTypeGoInAndComeOut() async throws {
        let db = try await database("every")
        try await db.from("every_required").insert(whole)
        #expect(try await db.from("every_required").rows(as: EveryRequired.self) == [whole])
        #expect(try await db.query(as: EveryRequired.self, "get every_required") == [whole])
        #expect(try roundTripped(whole) == whole)
        // A json value may be null where it is required.
        try await db.execute("set every_required {extra: null}")
        #expect(try await db.query(as: EveryRequired.self, "get every_required").map(\.extra) == [.null])
        try await db.close()
    }

    @Test func nullsAreNil() async throws {
        let db = try await database("every")
        try await db.execute("put every_type {}")
        let rows = try await db.from("every_type").rows(as: EveryType.self)
        #expect(rows == [EveryType(id: 1)])
        #expect(try roundTripped(rows[0]) == rows[0])
        // And with everything set.
        try await db.execute("del every_type")
        let all = EveryType(
            id: 3, flag: false, count: -1, ratio: 2, title: "t", seen: "2031-01-01T00:00:00Z", photo: [], extra: .null,
            spot: [0, 0], look: [1, 0, 0], half: [1, 1], words: "{}/9", tags: [], grid: [], times: [], looks: [],
            places: [], blobs: [], flags: [])
        try await db.from("every_type").insert(all)
        var read = try await db.from("every_type").first(as: EveryType.self)
        #expect(read?.extra == nil) // null is null
        read?.extra = .null
        #expect(read == all)
        try await db.close()
    }

    @Test func namesOfFieldsAreKept() async throws {
        let db = try await database("names")
        var row = ReservedWords(id: 1, default: "d")
        row.hashCode = 2
        row.class = 3
        row.class2 = 4
        row.null = 5
        row.`self` = 6
        try await db.from("reserved_words").insert(row)
        #expect(try await db.from("reserved_words").rows(as: ReservedWords.self) == [row])
        let raw = try await db.query("get reserved_words")
        #expect(raw[0]["hash_code"] == 2)
        #expect(raw[0]["class"] == 3)
        #expect(raw[0]["class_"] == 4)
        let numbered = try await db.query(
            as: NumberedNames.self, "put numbered_names {a_b: 1, aB: 2, Id: 3, URL: \"u\", _: \"f\"} returning *")
        #expect(numbered.map { [$0.aB, $0.aB2, $0.id2] } == [[1, 2, 3]])
        #expect(numbered[0].uRL == "u")
        #expect(numbered[0].f == "f")
        try await db.close()
    }
}
