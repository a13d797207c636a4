import Foundation

/// Instants as the database writes them: ISO 8601 text in UTC, milliseconds, the proleptic Gregorian
/// calendar throughout.
enum Timestamp {
    private static let dayMilliseconds: Int64 = 86_400_000

    /// `YYYY-MM-DDTHH:MM:SS.mmmZ`, rounded to the nearest millisecond.
    static func text(_ date: Date) throws -> String {
        let rounded = (date.timeIntervalSince1970 * 1000).rounded()
        // Within this bound the arithmetic on days cannot overflow; it reaches past the year 200 000 000.
        guard rounded.magnitude < 8e18, let milliseconds = Int64(exactly: rounded) else {
            throw FenecError(code: .type, message: "a date outside the range of a timestamp")
        }
        var days = milliseconds / dayMilliseconds
        var rest = milliseconds % dayMilliseconds
        if rest < 0 {
            rest += dayMilliseconds
            days -= 1
        }
        let (year, month, day) = civil(days)
        let seconds = rest / 1000
        return (year < 0 ? "-" : "") + padded(year.magnitude, 4) + "-" + padded(month.magnitude, 2) + "-"
            + padded(day.magnitude, 2) + "T" + padded((seconds / 3600).magnitude, 2) + ":"
            + padded((seconds / 60 % 60).magnitude, 2) + ":" + padded((seconds % 60).magnitude, 2) + "."
            + padded((rest % 1000).magnitude, 3) + "Z"
    }

    /// The instant of `YYYY-MM-DDTHH:MM:SS[.fraction]Z`; nil for any other text.
    static func date(_ text: String) -> Date? {
        var scanner = Digits(text.utf8)
        let isNegative = scanner.take(UInt8(ascii: "-"))
        guard let year = scanner.number(4...9), scanner.take(UInt8(ascii: "-")),
            let month = scanner.number(2...2), (1...12).contains(month), scanner.take(UInt8(ascii: "-")),
            let day = scanner.number(2...2), scanner.take(UInt8(ascii: "T")),
            let hour = scanner.number(2...2), hour < 24, scanner.take(UInt8(ascii: ":")),
            let minute = scanner.number(2...2), minute < 60, scanner.take(UInt8(ascii: ":")),
            let second = scanner.number(2...2), second <= 60
        else { return nil }
        var nanoseconds: Int64 = 0
        if scanner.take(UInt8(ascii: ".")) {
            guard let fraction = scanner.fraction() else { return nil }
            nanoseconds = fraction
        }
        guard scanner.take(UInt8(ascii: "Z")), scanner.isAtEnd else { return nil }
        let days = Self.days(isNegative ? -year : year, month, day)
        guard civil(days) == (isNegative ? -year : year, month, day) else { return nil }
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        // Milliseconds are divided once, which is the very date that was written.
        guard nanoseconds % 1_000_000 == 0 else {
            return Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9)
        }
        return Date(timeIntervalSince1970: Double(seconds * 1000 + nanoseconds / 1_000_000) / 1000)
    }

    /// Days since 1970-01-01 of a day, by eras of 400 years that begin in March.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func padded(_ number: UInt64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private struct Digits {
        private var rest: Substring.UTF8View.SubSequence

        init(_ text: String.UTF8View) { rest = text[...] }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func take(_ byte: UInt8) -> Bool {
            guard rest.first == byte else { return false }
            rest.removeFirst()
            return true
        }

        mutating func number(_ width: ClosedRange<Int>) -> Int64? {
            var value: Int64 = 0
            var count = 0
            while count < width.upperBound, let byte = rest.first, byte >= 0x30, byte <= 0x39 {
                value = value * 10 + Int64(byte - 0x30)
                rest.removeFirst()
                count += 1
            }
            return count >= width.lowerBound ? value : nil
        }

        /// Digits after a point as nanoseconds, further ones passed over.
        mutating func fraction() -> Int64? {
            var value: Int64 = 0
            var count = 0
            while let byte = rest.first, byte >= 0x30, byte <= 0x39 {
                if count < 9 { value = value * 10 + Int64(byte - 0x30) }
                rest.removeFirst()
                count += 1
            }
            guard count > 0 else { return nil }
            while count < 9 {
                value *= 10
                count += 1
            }
            return value
        }
    }
}
