import Foundation

/// Draws that a seed repeats: FENEC_SEED=7 swift test. Every test that uses it prints its seed.
struct Random: RandomNumberGenerator {
    private var state: UInt64

    init(_ test: String) {
        let seed =
            ProcessInfo.processInfo.environment["FENEC_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0...999_999)
        print("\(test): FENEC_SEED=\(seed)")
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
    mutating func one<T>(of choices: [T]) -> T { choices[below(choices.count)] }

    mutating func text() -> String {
        let scalars = "ab Z\"\\\n\t\u{0}\u{1F}/é\u{301}ğ名😀\u{FFFD}\u{10FFFF}'$?`".unicodeScalars.map { $0 }
        var text = String.UnicodeScalarView()
        for _ in 0..<below(9) { text.append(one(of: scalars)) }
        return String(text)
    }

    mutating func double() -> Double {
        let bits = Double(bitPattern: next())
        return one(of: [bits.isFinite ? bits : 0.1, Double(below(1000)), Double(below(1000)) / 8, -0.5, 1e15, 1e-300])
    }

    mutating func float() -> Float {
        let bits = Float(bitPattern: UInt32(truncatingIfNeeded: next()))
        return one(of: [bits.isFinite ? bits : 0.1, Float(below(1000)), 0.1, 7.038531e-26])
    }
}
