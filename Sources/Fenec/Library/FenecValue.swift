import Foundation

/// What can be given as a parameter, a document, a vector or the value of a condition.
///
/// A `Codable` type only has to say so:
///
/// ```swift
/// struct Job: Codable, FenecValue { var id: Int?; var title: String }
/// try await db.execute("put jobs $1", Job(title: "paint"))
/// ```
public protocol FenecValue: Sendable {
    func fenecValue() throws -> Value
}

extension FenecValue where Self: Encodable {
    /// What the type encodes: its keys in the order they are encoded, a nil property left out.
    public func fenecValue() throws -> Value { try ValueEncoder.encode(self) }
}

extension Value: FenecValue {
    public func fenecValue() -> Value { self }
}

extension Row: FenecValue {
    public func fenecValue() -> Value { .object(self) }
}

extension String: FenecValue {
    public func fenecValue() -> Value { .string(self) }
}

extension Substring: FenecValue {
    public func fenecValue() -> Value { .string(String(self)) }
}

extension Bool: FenecValue {
    public func fenecValue() -> Value { .bool(self) }
}

extension Int: FenecValue { public func fenecValue() -> Value { .int(Int64(self)) } }
extension Int8: FenecValue { public func fenecValue() -> Value { .int(Int64(self)) } }
extension Int16: FenecValue { public func fenecValue() -> Value { .int(Int64(self)) } }
extension Int32: FenecValue { public func fenecValue() -> Value { .int(Int64(self)) } }
extension Int64: FenecValue { public func fenecValue() -> Value { .int(self) } }
extension UInt8: FenecValue { public func fenecValue() -> Value { .int(Int64(self)) } }
extension UInt16: FenecValue { public func fenecValue() -> Value { .int(Int64(self)) } }
extension UInt32: FenecValue { public func fenecValue() -> Value { .int(Int64(self)) } }
extension UInt: FenecValue { public func fenecValue() throws -> Value { try Value(whole: self) } }
extension UInt64: FenecValue { public func fenecValue() throws -> Value { try Value(whole: self) } }

extension Double: FenecValue {
    public func fenecValue() -> Value { .double(self) }
}

extension Float: FenecValue {
    public func fenecValue() -> Value { .double(Double(self)) }
}

extension Date: FenecValue {
    /// ISO text in UTC, rounded to the nearest millisecond.
    public func fenecValue() throws -> Value { .string(try Timestamp.text(self)) }
}

extension UUID: FenecValue {
    public func fenecValue() -> Value { .string(uuidString) }
}

extension Data: FenecValue {
    /// A list of 0…255, as the library answers `bytes`.
    public func fenecValue() -> Value { .array(map { .int(Int64($0)) }) }
}

extension Optional: FenecValue where Wrapped: FenecValue {
    public func fenecValue() throws -> Value { try self?.fenecValue() ?? .null }
}

extension Array: FenecValue where Element: FenecValue {
    /// A list; of `Float` a vector.
    public func fenecValue() throws -> Value {
        if Element.self == Float.self, let floats = self as? [Float] { return .floats(floats) }
        return .array(try map { try $0.fenecValue() })
    }
}

extension Dictionary: FenecValue where Key == String, Value: FenecValue {
    /// An object, its keys sorted by scalar value.
    public func fenecValue() throws -> FenecDB.Value {
        let sorted = sorted { $0.key.precedesByScalars($1.key) }
        return .object(Row(keys: sorted.map(\.key), values: try sorted.map { try $0.value.fenecValue() }))
    }
}

extension Value {
    /// An integer of any type; throws where 64 signed bits cannot hold it.
    init(whole number: some BinaryInteger) throws {
        guard let value = Int64(exactly: number) else {
            throw FenecError(code: .type, message: "\(number) is outside the range of a 64-bit signed integer")
        }
        self = .int(value)
    }
}

extension String {
    /// The order of UTF-8 bytes, which is that of scalar values; `<` would compare canonically.
    func precedesByScalars(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
