/// What a text answered: that of its last statement.
public enum Answer: Sendable, Equatable {
    /// A read, or a write with `returning`.
    case rows(columns: [String], rows: [Row], facets: Facets = Facets())
    /// A write: how many documents it wrote.
    case affected(Int)
    /// A schema statement, with a message for people.
    case ok(String)
    /// `collections` and `describe`: one object per collection.
    case schemas([Row])

    /// The rows; none for another kind of answer.
    public var rows: [Row] {
        if case .rows(_, let rows, _) = self { return rows }
        return []
    }

    /// The facets; none for another kind of answer.
    public var facets: Facets {
        if case .rows(_, _, let facets) = self { return facets }
        return Facets()
    }

    /// How many documents were written; 0 for another kind of answer.
    public var affected: Int {
        if case .affected(let count) = self { return count }
        return 0
    }
}

/// How many rows hold one value of a facet.
public struct FacetCount: Sendable, Equatable {
    /// Any value; `.null` for rows whose field is null; a list `[from, to]` where ranges were asked for.
    public let value: Value
    public let count: Int

    public init(value: Value, count: Int) {
        self.value = value
        self.count = count
    }
}

/// The facets of an answer, in the order they were asked for.
public struct Facets: Sendable, Equatable, Sequence {
    public private(set) var fields: [String] = []
    private var counts: [[FacetCount]] = []

    public init() {}

    public var isEmpty: Bool { fields.isEmpty }

    /// The counts of a field, by the name or path `facet` was given.
    public subscript(field: String) -> [FacetCount]? {
        guard let place = fields.firstIndex(of: field) else { return nil }
        return counts[place]
    }

    public func makeIterator() -> AnyIterator<(field: String, counts: [FacetCount])> {
        var place = 0
        return AnyIterator {
            guard place < fields.count else { return nil }
            defer { place += 1 }
            return (field: fields[place], counts: counts[place])
        }
    }

    mutating func append(_ field: String, _ counts: [FacetCount]) {
        fields.append(field)
        self.counts.append(counts)
    }
}

/// Which collections were written since a number of the change counter.
public struct Changes: Sendable, Equatable {
    /// The change counter now: the cursor to ask from next.
    public let seq: UInt64
    /// The smallest cursor that is still answered.
    public let horizon: UInt64
    /// The collections written since; nil where it cannot be told and everything is stale.
    public let collections: [String]?
}
