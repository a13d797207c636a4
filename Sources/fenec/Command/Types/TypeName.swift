/// Names of types and members, made of names of collections and fields.
enum TypeName {
    /// `product_id` is `ProductId`.
    static func pascal(_ name: String) -> String {
        var made = ""
        var isUpper = true
        for scalar in name.unicodeScalars {
            if scalar == "_" {
                isUpper = true
            } else if isUpper {
                made += scalar.properties.uppercaseMapping
                isUpper = false
            } else {
                made.unicodeScalars.append(scalar)
            }
        }
        let first = made.unicodeScalars.first
        return first == nil || ("0"..."9").contains(first!) ? "F" + made : made
    }

    /// `product_id` is `productId`.
    static func camel(_ name: String) -> String {
        let scalars = pascal(name).unicodeScalars
        return scalars.first!.properties.lowercaseMapping + String(scalars.dropFirst())
    }

    /// Letters, digits and `_` alone, not beginning with `_`; `lead` goes before one that does.
    static func ascii(_ name: String, lead: String, reserved: Set<String>) -> String {
        var made = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            let isKept = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            made.append(isKept ? scalar : "_")
        }
        if made.first == "_" { made.insert(contentsOf: lead.unicodeScalars, at: made.startIndex) }
        return isWord(String(made), of: reserved) ? String(made) + "_" : String(made)
    }

    /// Whether it is one of the words, all of them ASCII. Texts that only normalise alike are none.
    static func isWord(_ name: String, of words: Set<String>) -> Bool {
        name.utf8.allSatisfy { $0 < 0x80 } && words.contains(name)
    }

    /// Taken among the types of every language.
    static let taken: Set<String> = [
        "Any", "Bool", "Boolean", "Codable", "CodingKey", "CodingKeys", "Decoder", "Double", "Encoder", "Equatable",
        "Float", "Function", "Int", "Int64", "JSON", "List", "Long", "Map", "Number", "Object", "Row", "Self",
        "Sendable", "String", "UInt8",
    ]
}

/// Names given out, each once. They are told apart by their bytes.
struct TakenNames {
    private var taken: Set<[UInt8]>

    init(_ taken: Set<String>) { self.taken = Set(taken.map { Array($0.utf8) }) }

    /// `name`, or with the first free number from 2 on behind it.
    mutating func unique(_ name: String) -> String {
        var made = name
        var number = 2
        while !taken.insert(Array(made.utf8)).inserted {
            made = "\(name)\(number)"
            number += 1
        }
        return made
    }
}
