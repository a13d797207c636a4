import CFenec
import FenecDB
import Foundation

/// Times and lines of the report.
enum Bench {
    static var head: String { "Fenec \(Fenec.version), \(ProcessInfo.processInfo.activeProcessorCount) cores" }

    static func seconds(_ work: () async throws -> Void) async throws -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        try await work()
        return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    }

    static func median(_ figures: [Double]) -> Double { figures.sorted()[figures.count / 2] }

    /// The medians of works that take turns, so that what else the machine does meets all of them.
    static func medians(rounds: Int, _ works: [() async throws -> Void]) async throws -> [Double] {
        var times = [[Double]](repeating: [], count: works.count)
        for _ in 0..<rounds {
            for (place, work) in works.enumerated() { times[place].append(try await seconds(work)) }
        }
        return times.map(median)
    }

    static func report(_ what: String, _ figure: String, _ target: String = "") {
        let name = what + String(repeating: " ", count: max(1, 52 - what.count))
        print(name + figure + (target.isEmpty ? "" : "   (target \(target))"))
    }

    static func number(_ value: Double, _ digits: Int = 1) -> String { String(format: "%.\(digits)f", value) }
}

struct Order: Codable, FenecValue, Equatable {
    static let declaration = "create collection orders (customer text, city text, quantity int, price float, paid bool)"

    var id: Int?
    var customer: String
    var city: String
    var quantity: Int
    var price: Double
    var paid: Bool

    static let count = 10_000
    static let some: [Order] = {
        let cities = ["Berlin", "İstanbul", "Kyōto"]
        return (0..<count).map { n in
            let price = Double(n % 1000) * 1.01
            return Order(
                customer: "customer \(n * 7919 % count)", city: cities[n % 3], quantity: n % 50, price: price,
                paid: n % 2 == 0)
        }
    }()

    /// A database in memory that holds them.
    static func database() async throws -> Fenec {
        let db = try Fenec.memory()
        try await db.execute(declaration)
        try await db.execute("put orders $1", some)
        return db
    }
}

/// A database of the same rows through the C interface.
struct CDatabase {
    private let handle: UInt64

    init() throws {
        var handle: UInt64 = 0
        guard fenec_open_memory(&handle, nil, nil) == FENEC_OK else { fatalError("no memory database") }
        self.handle = handle
        _ = answer(Order.declaration, "")
        _ = answer("put orders $1", Value.array([try Order.some.fenecValue()]).json)
    }

    /// The bytes `fenec_query` answers.
    func answer(_ text: String, _ params: String) -> [UInt8] {
        var out: UnsafeMutablePointer<CChar>?
        let count = call(text, params, &out)
        defer { fenec_free_string(out) }
        return Array(UnsafeRawBufferPointer(start: out, count: count))
    }

    /// The call and nothing else.
    func run(_ text: String, _ params: String) {
        var out: UnsafeMutablePointer<CChar>?
        _ = call(text, params, &out)
        fenec_free_string(out)
    }

    private func call(_ text: String, _ params: String, _ out: inout UnsafeMutablePointer<CChar>?) -> Int {
        var length = 0
        var text = text
        var params = params
        _ = text.withUTF8 { text in
            params.withUTF8 { params in
                fenec_query(
                    handle, text.baseAddress, text.count, params.baseAddress, params.count, nil, 0, &out, &length)
            }
        }
        return length
    }

    func close() { _ = fenec_close(handle, nil, nil) }
}
