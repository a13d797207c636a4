/// The words of the command line, understood.
enum Arguments {
    case help(String)
    case version
    case shell(Shell)
    case text(OneText)
    case importing(Import)
    case exporting(Export)
    case schema(SchemaCommand)
    case types([String])
    case care(CareCommand)

    static func parse(_ words: [String]) throws -> Arguments {
        switch words.first {
        case nil: throw UsageError("which file?")
        case "import": return try parseImport(Array(words.dropFirst()))
        case "export": return try parseExport(Array(words.dropFirst()))
        case "schema": return try parseSchema(Array(words.dropFirst()))
        case "types": return .types(Array(words.dropFirst()))
        case "backup": return try parseCare(Array(words.dropFirst()), "backup") { .backup(to: $0) }
        case "recover": return try parseCare(Array(words.dropFirst()), "recover") { .recover(to: $0) }
        case "help": return .help(Help.text)
        default: return try parseFile(words)
        }
    }

    private static func parseFile(_ words: [String]) throws -> Arguments {
        var options = Options(words)
        var style = Printer.Style()
        var wantsEcho = false
        var isChecked = false
        while let option = options.next() {
            switch option {
            case "-h", "--help": return .help(Help.text)
            case "--version": return .version
            case "--table": style.layout = .table
            case "--json": style.layout = .json
            case "--time": style.showsTime = true
            case "--echo": wantsEcho = true
            case "--check": isChecked = true
            default: throw UsageError("there is no option \(option)")
            }
        }
        let operands = options.operands
        if isChecked {
            guard operands.count == 1 else { throw UsageError("--check takes a file and nothing else") }
            return .care(CareCommand(action: .check, path: operands[0]))
        }
        switch operands.count {
        case 0:
            throw UsageError("which file?")
        case 1:
            return .shell(Shell(path: operands[0], style: style, echoes: wantsEcho))
        case 2, 3:
            return .text(
                OneText(
                    path: operands[0], text: operands[1], params: operands.count == 3 ? operands[2] : nil,
                    style: style))
        default:
            throw UsageError("too many words after the file: put the text and the parameters in quotes, one word each")
        }
    }

    private static func parseImport(_ words: [String]) throws -> Arguments {
        var options = Options(words)
        var rules = Import.Rules()
        while let option = options.next() {
            switch option {
            case "-h", "--help": return .help(Help.text)
            case "--format": rules.format = try DataFormat(name: options.value(of: option))
            case "--keep-going": rules.keepsGoing = true
            case "--replace": rules.replaces = true
            case "--rename":
                let (from, to) = try options.pair(of: option)
                rules.renames[from] = to
            case "--type":
                let (field, type) = try options.pair(of: option)
                rules.types[field] = type
            default: throw UsageError("import has no option \(option)")
            }
        }
        let operands = options.operands
        guard operands.count == 2 || operands.count == 3 else {
            throw UsageError("import takes a file, a collection, and the data's file unless it comes on standard input")
        }
        let collection = try Name.checked(operands[1], "a collection's name")
        for name in rules.renames.values { _ = try Name.checked(name, "a field's name") }
        let data = operands.count == 3 && operands[2] != "-" ? operands[2] : nil
        return .importing(Import(path: operands[0], collection: collection, data: data, rules: rules))
    }

    private static func parseExport(_ words: [String]) throws -> Arguments {
        var options = Options(words)
        var format: DataFormat?
        while let option = options.next() {
            switch option {
            case "-h", "--help": return .help(Help.text)
            case "--format": format = try DataFormat(name: options.value(of: option))
            default: throw UsageError("export has no option \(option)")
            }
        }
        let operands = options.operands
        guard operands.count == 2 || operands.count == 3 else {
            throw UsageError("export takes a file, a collection, and a file to write unless it goes to standard output")
        }
        let collection = try Name.checked(operands[1], "a collection's name")
        let out = operands.count == 3 && operands[2] != "-" ? operands[2] : nil
        return .exporting(Export(path: operands[0], collection: collection, out: out, format: format))
    }

    private static func parseCare(
        _ words: [String], _ name: String, _ action: (String) -> CareCommand.Action
    ) throws -> Arguments {
        var options = Options(words)
        var replaces = false
        while let option = options.next() {
            switch option {
            case "-h", "--help": return .help(Help.text)
            case "--force": replaces = true
            default: throw UsageError("\(name) has no option \(option)")
            }
        }
        let operands = options.operands
        guard operands.count == 2 else { throw UsageError("\(name) takes a file, and a file to write") }
        return .care(CareCommand(action: action(operands[1]), path: operands[0], replaces: replaces))
    }

    private static func parseSchema(_ words: [String]) throws -> Arguments {
        var options = Options(words)
        var isText = Console.outputIsTerminal
        var migrations: String?
        while let option = options.next() {
            switch option {
            case "-h", "--help": return .help(Help.text)
            case "--text": isText = true
            case "--json": isText = false
            case "--migrations": migrations = try options.value(of: option)
            default: throw UsageError("schema has no option \(option)")
            }
        }
        let operands = options.operands
        guard let name = operands.first, let action = SchemaCommand.Action(rawValue: name) else {
            throw UsageError("schema does one of plan, apply, describe")
        }
        let isDescribed = action == .describe
        guard operands.count == 3 || (isDescribed && operands.count == 2) else {
            throw UsageError(
                isDescribed
                    ? "schema describe takes a file, and a file to write unless it goes to standard output"
                    : "schema \(name) takes a file and a schema")
        }
        guard !isDescribed || migrations == nil else { throw UsageError("schema describe takes no migrations") }
        return .schema(
            SchemaCommand(
                action: action, path: operands[1], schema: operands.count == 3 ? operands[2] : nil,
                migrations: migrations, isText: isText))
    }
}

/// Takes options out of words, in whatever place they stand; after `--` everything is an operand.
struct Options {
    private var words: ArraySlice<String>
    private(set) var operands: [String] = []

    init(_ words: [String]) { self.words = words[...] }

    /// The next option; nil when none is left and `operands` is complete.
    mutating func next() -> String? {
        while let word = words.popFirst() {
            if word == "--" {
                operands += words
                words = []
            } else if word.hasPrefix("-"), word != "-" {
                // --name=value is --name value.
                guard word.hasPrefix("--"), let equals = word.firstIndex(of: "=") else { return word }
                words.insert(String(word[word.index(after: equals)...]), at: words.startIndex)
                return String(word[..<equals])
            } else {
                operands.append(word)
            }
        }
        return nil
    }

    mutating func value(of option: String) throws -> String {
        guard let value = words.popFirst() else { throw UsageError("\(option) needs a value") }
        return value
    }

    mutating func pair(of option: String) throws -> (String, String) {
        let value = try value(of: option)
        guard let equals = value.firstIndex(of: "="), equals > value.startIndex,
            value.index(after: equals) < value.endIndex
        else { throw UsageError("\(option) needs NAME=VALUE, not \"\(value)\"") }
        return (String(value[..<equals]), String(value[value.index(after: equals)...]))
    }
}
