/// What the steps of a ``Query`` have gathered, each part checked by itself.
struct Clauses: Sendable {
    struct Near: Sendable {
        let field: String
        let vector: Value
        let ef: Int?
        let exact: Bool
    }
    struct Match: Sendable {
        let field: String
        let text: String
        let fuzzy: Int?
        let prefix: Bool
    }
    struct Rerank: Sendable {
        let field: String
        let vector: Value
        let candidates: Int?
    }
    struct Fuse: Sendable {
        let k: Int?
        let candidates: Int?
    }
    /// A call in the select list that marks matches in a text.
    struct Mark: Sendable {
        let word: String
        let field: String
        /// What stands in the text before the parameters: a snippet's length.
        let words: Int?
        let params: [Value]
    }
    struct Facet: Sendable {
        let field: String
        let top: Int?
        let ranges: [Double]?
        let disjunctive: Bool
    }

    /// A level of a query: the documents of another collection that belong to each row of the level above.
    struct Level: Sendable {
        let name: String
        let on: [String]
        /// None: the id of the row above.
        let parentKey: [String]
        let columns: [Column.Item]
        let groups: [Column.Item]
        let filter: Filter?
        let required: Bool
        let order: [String]
        let limit: Int?
        let offset: Int
    }

    let collection: String
    var columns: [Column.Item] = []
    /// Whether the last list that `select` was given aggregates.
    var aggregates = false
    /// What every `where` and `orWhere` gave, joined with `and`; none where neither was called.
    var filters: [Filter] = []
    var groups: [Column.Item] = []
    var near: Near?
    var match: Match?
    var rerank: Rerank?
    var fuse: Fuse?
    var marks: [Mark] = []
    var facets: [Facet] = []
    var order: [String] = []
    var limit: Int?
    var offset = 0
    var require: Int?
    var levels: [Level] = []

    init(collection: String) { self.collection = collection }

    var reads: [String]? {
        let items = columns + groups + levels.flatMap { $0.columns + $0.groups }
        let filters = filters + levels.compactMap(\.filter)
        if items.contains(where: \.mayHoldQuery) || filters.contains(where: \.mayHoldQuery) { return nil }
        var names: [String] = []
        for name in [collection] + levels.map(\.name) where !names.contains(where: { $0.isSame(as: name) }) {
            names.append(name)
        }
        return names
    }
}
