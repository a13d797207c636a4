import FenecDB
import Foundation

/// A note as the database keeps it. Its properties are the fields, in this order.
public struct Note: Codable, Sendable, Identifiable, Equatable, FenecValue {
    /// Given by the database.
    public private(set) var id: Int?
    public var title: String
    public var body: String
    public var tag: String?
    public var pinned = false
    public var edited = Date()

    public init(title: String, body: String, tag: String? = nil) {
        self.title = title
        self.body = body
        self.tag = tag
    }
}

/// A note that a search found, with the part of its text that matched.
public struct Hit: Decodable, Sendable, Identifiable, Equatable {
    private enum CodingKeys: String, CodingKey {
        case id, title, excerpt = "snippet(body)", score = "_score"
    }
    public let id: Int
    public let title: String
    /// Matches stand between `<b>` and `</b>`; nil where the note is near in meaning but holds none of the words.
    public let excerpt: String?
    public let score: Double
}
