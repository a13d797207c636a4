import FenecDB
import Foundation

/// A schema as text of the language, and the lines its names stand on.
struct SchemaText {
    let text: String

    /// Reads a file of UTF-8.
    init(contentsOf path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.unreadable() }
        defer { close(descriptor) }
        var data: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count == 0 { break }
            guard count > 0 || errno == EINTR else { throw Self.unreadable() }
            data += chunk.prefix(max(count, 0))
        }
        guard let text = String(bytes: data, encoding: .utf8) else { throw CommandError("is not valid UTF-8") }
        self.text = text
    }

    init(_ text: String) { self.text = text }

    /// What the library makes of it, collections in the order of the text.
    func declared() async throws -> DeclaredSchema {
        let db = try Fenec.memory()
        defer { Task { try? await db.close() } }
        try await db.schema(text)
        return try DeclaredSchema(description: await db.compareSchema(.null, .describe))
    }

    private static func unreadable() -> CommandError {
        CommandError("cannot be read: \(String(cString: strerror(errno)))")
    }

    /// The line, from 1, on which a collection or one of its fields is declared; 0 where it is not.
    func line(of collection: String, _ field: String?) -> Int {
        var words = Words(text)
        while let word = words.next() {
            guard word.lowercased() == "create", words.next()?.lowercased() == "collection" else { continue }
            var name = words.next()
            if name?.lowercased() == "if" { for _ in 0..<3 { name = words.next() } }
            guard let name, name.utf8.elementsEqual(collection.utf8) else { continue }
            guard let field else { return words.line }
            return words.next() == "(" ? Self.line(of: field, in: &words) : 0
        }
        return 0
    }

    /// A field's name stands behind `(` or a comma of the list.
    private static func line(of field: String, in words: inout Words) -> Int {
        var depth = 1
        var isName = true
        while depth > 0, let word = words.next() {
            if isName, word.utf8.elementsEqual(field.utf8) { return words.line }
            isName = false
            switch word {
            case "(", "[", "<": depth += 1
            case ")", "]", ">": depth -= 1
            case ",": isName = depth == 1
            default: break
            }
        }
        return 0
    }
}

/// The words and signs of a text, comments passed over. There are no strings in a schema.
private struct Words {
    private let scalars: [Unicode.Scalar]
    private var at = 0
    /// Of the word handed out last, from 1.
    private(set) var line = 1

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    mutating func next() -> String? {
        skip()
        guard at < scalars.count else { return nil }
        var word = String.UnicodeScalarView()
        repeat {
            word.append(scalars[at])
            at += 1
        } while at < scalars.count && Self.isOfName(word.last!) && Self.isOfName(scalars[at])
        return String(word)
    }

    private mutating func skip() {
        while at < scalars.count {
            let scalar = scalars[at]
            if scalar == "#" || (scalar == "-" && at + 1 < scalars.count && scalars[at + 1] == "-") {
                while at < scalars.count, scalars[at] != "\n" { at += 1 }
            } else if scalar == ";" || scalar.properties.isWhitespace {
                if scalar == "\n" { line += 1 }
                at += 1
            } else {
                return
            }
        }
    }

    private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
        Name.isValid("_" + String(scalar))
    }
}
