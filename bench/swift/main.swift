// What the Swift package costs, beside JSONDecoder and the C call: make bench-swift
//
// Names of parts (decode, row, live, many) run those alone. Ratios and not times are what the targets are
// about: what is compared takes turns in one run, and medians are told.
import Foundation

let parts: [(name: String, run: @Sendable () async throws -> Void)] = [
    ("decode", decoding), ("row", oneRow), ("live", liveQueries), ("many", manyAtOnce),
]
let wanted = CommandLine.arguments.dropFirst()
print("\(Bench.head)\n")
for part in parts where wanted.isEmpty || wanted.contains(part.name) { try await part.run() }

