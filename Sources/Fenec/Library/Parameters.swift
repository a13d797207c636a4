/// Parameters as they cross to the library: JSON, and beside it the vectors among them as 32-bit floats.
struct Parameters {
    private(set) var json: [UInt8] = []
    /// For each vector its place from 0 (u32), its number of components (u32) and these, little-endian.
    private(set) var vectors: [UInt8] = []

    /// Vectors whose place is in `exact` go inside the JSON.
    init(_ values: [Value], exact: Set<Int> = []) throws {
        guard !values.isEmpty else { return }
        var writer = JSONWriter()
        writer.writeList(of: values.count) { place in
            guard case .floats(let floats) = values[place], !floats.isEmpty, !exact.contains(place),
                let place32 = UInt32(exactly: place), let count32 = UInt32(exactly: floats.count)
            else { return values[place] }
            append(place32)
            append(count32)
            vectors.reserveCapacity(vectors.count + 4 * floats.count)
            for float in floats { append((float == 0 ? 0 : float).bitPattern) }
            return .null
        }
        guard !writer.metComputed else { throw FenecError.misplacedComputed }
        json = writer.bytes
    }

    private mutating func append(_ word: UInt32) {
        withUnsafeBytes(of: word.littleEndian) { vectors.append(contentsOf: $0) }
    }
}
