import Foundation

/// Encodes an `Encodable` as a ``Value``, its keys in the order they are encoded.
///
/// Foundation's `JSONEncoder` is no help here: the order of its keys is its own.
enum ValueEncoder {
    static func encode<T: Encodable>(_ value: T) throws -> Value {
        try node(of: value, path: []).value
    }

    /// Encodes what a container is given, the types with a form of their own (a date, a vector) included.
    fileprivate static func node<T: Encodable>(of value: T, path: [any CodingKey]) throws -> EncodedNode {
        if let ready = try form(of: value) { return EncodedNode(ready) }
        guard path.count < JSONReader.depthLimit else {
            throw FenecError(code: .type, message: "a value nests more than \(JSONReader.depthLimit) levels deep")
        }
        let node = EncodedNode()
        try value.encode(to: NodeEncoder(node: node, codingPath: path))
        if value is any Unordered { node.sortKeys() }
        return node
    }

    private static func form<T: Encodable>(of value: T) throws -> Value? {
        switch value {
        case let value as Value: return value
        case let value as Row: return .object(value)
        case let value as Date: return try value.fenecValue()
        case let value as UUID: return value.fenecValue()
        case let value as Data: return value.fenecValue()
        case let value as URL: return .string(value.absoluteString)
        case let value as Decimal: return number(value)
        default:
            // An array is asked for its type: an empty list of anything would cast to [Float].
            return T.self == [Float].self ? (value as? [Float]).map { .floats($0) } : nil
        }
    }

    private static func number(_ value: Decimal) -> Value {
        if let whole = Int64(value.description) { return .int(whole) }
        return .double(Double(value.description) ?? .nan)
    }
}

/// A dictionary whose keys have no order and are sorted.
private protocol Unordered {}
extension Dictionary: Unordered {}

/// What has been encoded so far: containers are handed out before they are filled, so it is a reference.
private final class EncodedNode {
    enum Content {
        case nothing
        case scalar(Value)
        case list([EncodedNode])
        case object(keys: [String], nodes: [EncodedNode])
    }
    private var content: Content

    init() { content = .nothing }
    init(_ value: Value) { content = .scalar(value) }

    var value: Value {
        switch content {
        case .nothing: return .null
        case .scalar(let value): return value
        case .list(let nodes): return .array(nodes.map(\.value))
        case .object(let keys, let nodes): return .object(Row(keys: keys, values: nodes.map(\.value)))
        }
    }

    var count: Int {
        if case .list(let nodes) = content { return nodes.count }
        return 0
    }

    func set(_ value: Value) { content = .scalar(value) }

    func become(_ other: EncodedNode) { content = other.content }

    func startList() {
        if case .list = content { return }
        content = .list([])
    }

    func startObject() {
        if case .object = content { return }
        content = .object(keys: [], nodes: [])
    }

    func append(_ node: EncodedNode) {
        guard case .list(var nodes) = content else { return }
        content = .nothing // or the list would be copied
        nodes.append(node)
        content = .list(nodes)
    }

    /// A key given again keeps its place and takes the later node.
    func set(_ key: String, _ node: EncodedNode) {
        guard case .object(var keys, var nodes) = content else { return }
        content = .nothing
        if let place = keys.firstIndex(of: key) {
            nodes[place] = node
        } else {
            keys.append(key)
            nodes.append(node)
        }
        content = .object(keys: keys, nodes: nodes)
    }

    func child(_ key: String) -> EncodedNode? {
        guard case .object(let keys, let nodes) = content, let place = keys.firstIndex(of: key) else { return nil }
        return nodes[place]
    }

    func sortKeys() {
        guard case .object(let keys, let nodes) = content else { return }
        let sorted = zip(keys, nodes).sorted { $0.0.precedesByScalars($1.0) }
        content = .object(keys: sorted.map(\.0), nodes: sorted.map(\.1))
    }
}

private struct IndexKey: CodingKey {
    let intValue: Int?
    let stringValue: String

    init(_ index: Int) {
        intValue = index
        stringValue = "Index \(index)"
    }

    init?(intValue: Int) { self.init(intValue) }
    init?(stringValue: String) { return nil }
}

private struct SuperKey: CodingKey {
    let stringValue = "super"
    var intValue: Int? { nil }
    init() {}
    init?(stringValue: String) { return nil }
    init?(intValue: Int) { return nil }
}

private struct NodeEncoder: Encoder {
    let node: EncodedNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.startObject()
        return KeyedEncodingContainer(KeyedNodes<Key>(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.startList()
        return ListedNodes(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleNode(node: node, codingPath: codingPath)
    }
}

private struct KeyedNodes<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodedNode
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { node.set(key.stringValue, EncodedNode(.null)) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        node.set(key.stringValue, try ValueEncoder.node(of: value, path: codingPath + [key]))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder(SuperKey()) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

    /// Asked twice for one key, it goes on with what is there, as `Encoder` demands of containers.
    private func encoder(_ key: any CodingKey) -> NodeEncoder {
        let child = node.child(key.stringValue) ?? EncodedNode()
        node.set(key.stringValue, child)
        return NodeEncoder(node: child, codingPath: codingPath + [key])
    }
}

private struct ListedNodes: UnkeyedEncodingContainer {
    let node: EncodedNode
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    func encodeNil() { node.append(EncodedNode(.null)) }

    func encode<T: Encodable>(_ value: T) throws {
        node.append(try ValueEncoder.node(of: value, path: codingPath + [IndexKey(count)]))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder() }

    private func encoder() -> NodeEncoder {
        let child = EncodedNode()
        let path = codingPath + [IndexKey(count)]
        node.append(child)
        return NodeEncoder(node: child, codingPath: path)
    }
}

/// The standard library's scalars, which know no form of their own, end here.
private struct SingleNode: SingleValueEncodingContainer {
    let node: EncodedNode
    let codingPath: [any CodingKey]

    func encodeNil() { node.set(.null) }
    func encode(_ value: Bool) { node.set(.bool(value)) }
    func encode(_ value: String) { node.set(.string(value)) }
    func encode(_ value: Double) { node.set(.double(value)) }
    func encode(_ value: Float) { node.set(.double(Double(value))) }
    func encode(_ value: Int) { node.set(.int(Int64(value))) }
    func encode(_ value: Int8) { node.set(.int(Int64(value))) }
    func encode(_ value: Int16) { node.set(.int(Int64(value))) }
    func encode(_ value: Int32) { node.set(.int(Int64(value))) }
    func encode(_ value: Int64) { node.set(.int(value)) }
    func encode(_ value: UInt) throws { node.set(try Value(whole: value)) }
    func encode(_ value: UInt8) { node.set(.int(Int64(value))) }
    func encode(_ value: UInt16) { node.set(.int(Int64(value))) }
    func encode(_ value: UInt32) { node.set(.int(Int64(value))) }
    func encode(_ value: UInt64) throws { node.set(try Value(whole: value)) }

    func encode<T: Encodable>(_ value: T) throws {
        node.become(try ValueEncoder.node(of: value, path: codingPath))
    }
}
