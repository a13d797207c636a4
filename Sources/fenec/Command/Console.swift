import Foundation

/// The terminal, as far as a command has to know one.
enum Console {
    static var inputIsTerminal: Bool { isatty(0) == 1 }
    static var outputIsTerminal: Bool { isatty(1) == 1 }
    static var errorIsTerminal: Bool { isatty(2) == 1 }

    /// Columns of the terminal; a number that pages well where there is none.
    static var width: Int {
        var size = winsize()
        if ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        return 120
    }

    /// A message on standard error, its control characters made visible.
    static func complain(_ message: String) {
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
        tell("fenec: " + lines.map { DisplayText.visible(String($0)) }.joined(separator: "\n       ") + "\n")
    }

    /// Text on standard error as it is.
    static func tell(_ text: String) {
        var error = Output(descriptor: 2)
        error.write(text)
        try? error.flush()
    }
}

/// A line on the terminal that says how far something is; nothing where standard error is no terminal.
struct Progress {
    private static let between: UInt64 = 100_000_000 // nanoseconds
    private var shown: UInt64 = 0

    mutating func show(_ text: @autoclosure () -> String) {
        guard Console.errorIsTerminal else { return }
        let now = DispatchTime.now().uptimeNanoseconds
        guard now - shown >= Self.between else { return }
        shown = now
        Console.tell("\r\u{1B}[K\(text())")
    }

    mutating func clear() {
        if shown != 0 { Console.tell("\r\u{1B}[K") }
        shown = 0
    }
}
