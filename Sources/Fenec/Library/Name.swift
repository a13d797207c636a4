/// The names a chain of ``Query`` puts into its text: the boundary that keeps a caller's text out of it.
enum Name {
    enum Kind: String { case collection, field, column }

    /// `name` as it is where it is one name.
    static func checked(_ name: String, _ kind: Kind = .field) throws -> String {
        guard isName(name.unicodeScalars) else { throw refusal(name, kind) }
        return name
    }

    /// `path` as it is where it is names joined by dots.
    static func checkedPath(_ path: String, _ kind: Kind = .field) throws -> String {
        let parts = path.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ isName($0) }) else { throw refusal(path, kind) }
        return path
    }

    private static func isName<Scalars: Collection>(_ scalars: Scalars) -> Bool
    where Scalars.Element == Unicode.Scalar {
        guard let first = scalars.first, first == "_" || first.properties.isAlphabetic else { return false }
        return scalars.dropFirst().allSatisfy { $0 == "_" || $0.properties.isAlphabetic || isNumber($0) }
    }

    private static func isNumber(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .decimalNumber, .letterNumber, .otherNumber: return true
        default: return false
        }
    }

    private static func refusal(_ name: String, _ kind: Kind) -> FenecError {
        .refused("\(Value.string(name).json) is no name of a \(kind.rawValue)")
    }
}

extension FenecError {
    /// A chain of the builder that cannot be a statement; nothing of it has run.
    static func refused(_ message: String) -> FenecError { FenecError(code: .builder, message: message) }
}

extension String {
    /// Equal as the library compares names, by scalars; `==` would compare canonically.
    func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
