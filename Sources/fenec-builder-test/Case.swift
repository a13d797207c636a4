import FenecDB

/// A chain and what it is to make.
struct Case {
    private enum Expected {
        case statement(text: String, params: [Value])
        case refused
        case notSent
    }

    let name: String
    private let chain: [Value]
    private let expected: Expected

    init(_ value: Value, name: String) throws {
        self.name = name
        guard let chain = value["chain"]?.array, !chain.isEmpty else { throw Malformed("\(name) has no chain") }
        self.chain = chain
        if let text = value["text"]?.string, let params = value["params"]?.array {
            expected = .statement(text: text, params: params)
        } else if value["refused"]?.bool == true {
            expected = .refused
        } else if value["sent"]?.bool == false {
            expected = .notSent
        } else {
            throw Malformed("\(name) expects nothing")
        }
    }

    /// What is wrong with what the chain makes; nil where it is as expected.
    func fault() async -> String? {
        let outcome = await Chain.outcome(of: chain)
        switch (expected, outcome) {
        case (.statement(let text, let params), .statement(let made, let madeParams)):
            if !made.utf8.elementsEqual(text.utf8) { return "makes\n  \(made)\nand not\n  \(text)" }
            if Value.array(madeParams).isSame(as: .array(params)) { return nil }
            return "binds \(Value.array(madeParams).json) and not \(Value.array(params).json)"
        case (.refused, .refused), (.notSent, .notSent): return nil
        default: return "\(outcome) and not \(expected)"
        }
    }
}

extension Value {
    /// Equal as parameters are: numbers as doubles, objects by key whatever the order.
    fileprivate func isSame(as other: Value) -> Bool {
        if let left = double, let right = other.double { return left == right }
        if let left = array, let right = other.array {
            return left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        }
        if let left = object, let right = other.object {
            return left.count == right.count
                && left.allSatisfy { key, value in right[key].map { value.isSame(as: $0) } ?? false }
        }
        if let left = string, let right = other.string { return left.utf8.elementsEqual(right.utf8) }
        return self == other
    }
}
