/// A vector for a text: notes that share parts of words lie near each other.
///
/// It stands for the model an app would ask, and needs none: every three letters count at one of 64 places.
enum Meaning {
    static let dimensions = 64

    static func vector(_ text: String) -> [Float] {
        var counts = [Float](repeating: 0, count: dimensions)
        for word in text.lowercased().split(whereSeparator: { !$0.isLetter && !$0.isNumber }) {
            let letters = Array(" \(word) ".unicodeScalars)
            for start in 0..<max(letters.count - 2, 0) {
                counts[place(letters[start..<start + 3])] += 1
            }
        }
        let length = counts.reduce(0) { $0 + $1 * $1 }.squareRoot()
        // A text without a letter has no direction of its own: any will do, but not none.
        return length > 0 ? counts.map { $0 / length } : [1] + counts.dropFirst()
    }

    /// The same on every run, unlike `Hasher`.
    private static func place(_ letters: ArraySlice<Unicode.Scalar>) -> Int {
        var hash: UInt32 = 2_166_136_261
        for letter in letters { hash = (hash ^ letter.value) &* 16_777_619 }
        return Int(hash >> 8) % dimensions
    }
}
