import FenecDB
import Foundation

/// The part of an answer that JSONDecoder is given.
private struct Envelope: Decodable {
    struct Result: Decodable { let rows: [Order] }
    let result: Result
}

@Sendable func decoding() async throws {
    let db = try await Order.database()
    let c = try CDatabase()
    let bytes = Data(c.answer("get orders", ""))
    guard
        try await db.from("orders").rows(as: Order.self)
            == JSONDecoder().decode(Envelope.self, from: bytes).result.rows
    else { fatalError("both decode the same") }
    let times = try await Bench.medians(
        rounds: 15,
        [
            { _ = try await db.from("orders").rows(as: Order.self) },
            { _ = try JSONDecoder().decode(Envelope.self, from: bytes) },
            { c.run("get orders", "") },
            { _ = try await db.query("get orders") },
        ])
    func rate(_ seconds: Double) -> String { "\(Bench.number(Double(Order.count) / seconds / 1000)) thousand rows/s" }
    Bench.report("rows(as:) of \(Order.count) rows of 6 fields", rate(times[0]))
    Bench.report("JSONDecoder over the same bytes", rate(times[1]))
    Bench.report("  rows(as:) / JSONDecoder", "\(Bench.number(times[1] / times[0], 2)) x", ">= 3")
    Bench.report(
        "  of it the library's own work", "\(Bench.number(times[2] * 1000)) of \(Bench.number(times[0] * 1000)) ms")
    Bench.report("query() of the same rows, as Row", rate(times[3]))
    c.close()
    try await db.close()
}

@Sendable func oneRow() async throws {
    let db = try await Order.database()
    let c = try CDatabase()
    let count = 2000
    let text = "get orders where id = $1"
    let times = try await Bench.medians(
        rounds: 15,
        [
            { for n in 1...count { c.run(text, "[\(n)]") } },
            { for n in 1...count { _ = try await db.query(text, n) } },
            { for n in 1...count { _ = try await db.query(as: Order.self, text, n) } },
            { try await onMainActor(db, text, count) },
        ]
    ).map { $0 / Double(count) }
    func ratio(_ time: Double) -> String { "\(Bench.number(time / times[0], 2)) x the C call" }
    Bench.report("get by id, the C call", "\(Bench.number(times[0] * 1e6)) µs")
    Bench.report("get by id, end to end", "\(Bench.number(times[1] * 1e6)) µs, \(ratio(times[1]))", "<= 3")
    Bench.report("  decoded", "\(Bench.number(times[2] * 1e6)) µs, \(ratio(times[2]))")
    Bench.report("  asked by the main actor", "\(Bench.number(times[3] * 1e6)) µs, \(ratio(times[3]))")
    let inserts = 1000
    let insert =
        try await Bench.medians(
            rounds: 5, [{ for order in Order.some.prefix(inserts) { try await db.from("orders").insert(order) } }])[0]
        / Double(inserts)
    Bench.report("insert of a Codable row, memory", "\(Bench.number(insert * 1e6)) µs")
    c.close()
    try await db.close()
}

@MainActor private func onMainActor(_ db: Fenec, _ text: String, _ count: Int) async throws {
    for n in 1...count { _ = try await db.query(text, n) }
}

@Sendable func liveQueries() async throws {
    var delays: [Double] = []
    for _ in 0..<15 { delays.append(try await delay(1).ms) }
    Bench.report("a live query's delay after a write", "\(Bench.number(Bench.median(delays))) ms", "<= 30")
    let burst = try await delay(1000)
    Bench.report("  after a burst of 1 000 writes", "\(Bench.number(burst.ms)) ms, runs: \(burst.runs)", "1 run")
}

/// Milliseconds from the end of a write to the element it makes.
private func delay(_ writes: Int) async throws -> (ms: Double, runs: Int) {
    let db = try Fenec.memory()
    try await db.execute(Order.declaration)
    var live = db.live(try db.from("orders").select("count(*)")).makeAsyncIterator()
    _ = try await live.next()
    for order in Order.some.prefix(writes) { try await db.from("orders").insert(order) }
    let start = DispatchTime.now().uptimeNanoseconds
    var runs = 0
    var count = 0
    while count < writes {
        count = try await live.next()?.first?["count"]?.int ?? 0
        runs += 1
    }
    return (Double(DispatchTime.now().uptimeNanoseconds - start) / 1e6, runs)
}

@Sendable func manyAtOnce() async throws {
    let db = try await Order.database()
    let reads = 1000
    let seconds = try await Bench.medians(
        rounds: 9,
        [
            {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for n in 1...reads { group.addTask { _ = try await db.query("get orders where id = $1", n) } }
                    try await group.waitForAll()
                }
            }
        ])[0]
    Bench.report("\(reads) reads at once", "\(Bench.number(Double(reads) / seconds / 1000)) thousand reads/s")
    try await db.close()
}
