/// Text as a terminal can show it.
enum DisplayText {
    /// The text with everything that would move the cursor, colour or reorder what is shown written out.
    static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": shown += "\\n"
            case "\r": shown += "\\r"
            case "\t": shown += "\\t"
            case _ where isControl(scalar):
                let digits = String(scalar.value, radix: 16)
                shown += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: return true
        // Marks that turn the writing direction: all but the joiners, which emoji and scripts are made of.
        case .format: return scalar != "\u{200D}" && scalar != "\u{200C}" && scalar.value < 0xE0000
        default: return false
        }
    }

    /// How many columns a terminal gives the text.
    static func width(_ text: String) -> Int {
        text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.reduce(0) { $0 + width($1) }
    }

    /// A character is as wide as its widest scalar; marks and joiners add nothing.
    private static func width(_ character: Character) -> Int {
        var widest = 0
        for scalar in character.unicodeScalars {
            if scalar == "\u{FE0F}" { return 2 }
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .format: continue
            default: widest = max(widest, isWide(scalar) ? 2 : 1)
            }
        }
        return widest
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F1E6...0x1F1FF,
            0x20000...0x3FFFD:
            return true
        default:
            return scalar.properties.isEmojiPresentation
        }
    }

    /// The text cut to `limit` columns, its end marked where something is missing.
    static func cut(_ text: String, to limit: Int) -> String {
        guard width(text) > limit else { return text }
        var shown = ""
        var used = 0
        for character in text {
            let wide = width(character)
            if used + wide > limit - 1 { break }
            shown.append(character)
            used += wide
        }
        return shown + "…"
    }

    static func padded(_ text: String, to columns: Int, right: Bool) -> String {
        let padding = String(repeating: " ", count: max(0, columns - width(text)))
        return right ? padding + text : text + padding
    }
}
