// What the Swift package costs, beside JSONDecoder and the C call: make bench-swift
//
// Medians of several rounds in one run; ratios and not times are what the targets are about.
import CFenec
import FenecDB
import Foundation

struct Order: Codable, FenecValue, Equatable {
    var id: Int?
    var customer: String
    var city: String
    var quantity: Int
    var price: Double
    var paid: Bool
}

func seconds(_ rounds: Int = 9, _ work: () async throws -> Void) async rethrows -> Double {
    var times: [Double] = []
    for _ in 0..<rounds {
        let start = DispatchTime.now().uptimeNanoseconds
        try await work()
        times.append(Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9)
    }
    return times.sorted()[rounds / 2]
}

func report(_ what: String, _ figure: String, _ target: String = "") {
    let name = what + String(repeating: " ", count: max(1, 52 - what.count))
    print(name + figure + (target.isEmpty ? "" : "   (target \(target))"))
}

func number(_ value: Double, _ digits: Int = 1) -> String { String(format: "%.\(digits)f", value) }

/// The bytes `fenec_query` answers, through the C interface.
func answer(_ handle: UInt64, _ text: String, _ params: String) -> [UInt8] {
    var out: UnsafeMutablePointer<CChar>?
    var length = 0
    var text = text
    var params = params
    _ = text.withUTF8 { text in
        params.withUTF8 { params in
            fenec_query(handle, text.baseAddress, text.count, params.baseAddress, params.count, nil, 0, &out, &length)
        }
    }
    defer { fenec_free_string(out) }
    return Array(UnsafeRawBufferPointer(start: out, count: length))
}

// MARK: the same rows here and through C

let rowCount = 10_000
let cities = ["Berlin", "İstanbul", "Kyōto"]
let orders = (0..<rowCount).map { (n: Int) -> Order in
    let price = Double(n % 1000) * 1.01
    return Order(
        customer: "customer \(n * 7919 % rowCount)", city: cities[n % 3], quantity: n % 50, price: price,
        paid: n % 2 == 0)
}
let declaration = "create collection orders (customer text, city text, quantity int, price float, paid bool)"
let db = try Fenec.memory()
try await db.execute(declaration)
try await db.execute("put orders $1", orders)

var handle: UInt64 = 0
guard fenec_open_memory(&handle, nil, nil) == FENEC_OK else { fatalError("no memory database") }
_ = answer(handle, declaration, "")
_ = answer(handle, "put orders $1", Value.array([try orders.fenecValue()]).json)

print("Fenec \(Fenec.version), \(ProcessInfo.processInfo.activeProcessorCount) cores\n")

// MARK: rows decoded

/// The part of an answer that JSONDecoder is given.
struct Envelope: Decodable {
    struct Result: Decodable { let rows: [Order] }
    let result: Result
}

let bytes = Data(answer(handle, "get orders", ""))
let ours = try await seconds { _ = try await db.from("orders").rows(as: Order.self) }
let theirs = try await seconds { _ = try JSONDecoder().decode(Envelope.self, from: bytes) }
let engine = await seconds { _ = answer(handle, "get orders", "") }
let untyped = try await seconds { _ = try await db.query("get orders") }
guard try await db.from("orders").rows(as: Order.self) == JSONDecoder().decode(Envelope.self, from: bytes).result.rows
else { fatalError("both decode the same") }
report("rows(as:) of \(rowCount) rows of 6 fields", "\(number(Double(rowCount) / ours / 1000)) thousand rows/s")
report("JSONDecoder over the same bytes", "\(number(Double(rowCount) / theirs / 1000)) thousand rows/s")
report("  rows(as:) / JSONDecoder", "\(number(theirs / ours, 2)) x", ">= 3")
report("  of it the library's own work", "\(number(engine * 1000)) of \(number(ours * 1000)) ms")
report("query() of the same rows, as Row", "\(number(Double(rowCount) / untyped / 1000)) thousand rows/s")

// MARK: one row

let inserts = 2000
let insert =
    try await seconds(5) {
        for order in orders.prefix(inserts) { try await db.from("orders").insert(order) }
    } / Double(inserts)
report("insert of a Codable row, memory", "\(number(insert * 1e6)) µs")

let gets = 5000
let get =
    try await seconds {
        for n in 1...gets { _ = try await db.query("get orders where id = $1", n) }
    } / Double(gets)
let call =
    await seconds {
        for n in 1...gets { _ = answer(handle, "get orders where id = $1", "[\(n)]") }
    } / Double(gets)
report("get by id, end to end", "\(number(get * 1e6)) µs")
report("  / the C call", "\(number(get / call, 2)) x", "<= 3")

// MARK: live queries

/// Milliseconds from the end of a write to the element it makes.
func delay(_ writes: Int) async throws -> (ms: Double, runs: Int) {
    let db = try Fenec.memory()
    try await db.execute(declaration)
    var live = db.live(try db.from("orders").select("count(*)")).makeAsyncIterator()
    _ = try await live.next()
    for order in orders.prefix(writes) { try await db.from("orders").insert(order) }
    let start = DispatchTime.now().uptimeNanoseconds
    var runs = 0
    var count = 0
    while count < writes {
        count = try await live.next()?.first?["count"]?.int ?? 0
        runs += 1
    }
    return (Double(DispatchTime.now().uptimeNanoseconds - start) / 1e6, runs)
}

var delays: [Double] = []
for _ in 0..<15 { delays.append(try await delay(1).ms) }
report("a live query's delay after a write", "\(number(delays.sorted()[7])) ms", "<= 30")
let burst = try await delay(1000)
report("  after a burst of 1 000 writes", "\(number(burst.ms)) ms, \(burst.runs) runs", "1 run")

// MARK: many at once

let reads = 1000
let concurrent = try await seconds(5) {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for n in 1...reads { group.addTask { _ = try await db.query("get orders where id = $1", n) } }
        try await group.waitForAll()
    }
}
report("\(reads) reads at once", "\(number(Double(reads) / concurrent / 1000)) thousand reads/s")
_ = fenec_close(handle, nil, nil)
try await db.close()
