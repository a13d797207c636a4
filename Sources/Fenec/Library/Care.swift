import CFenec
import Foundation

/// How far a check, a backup or a recovery is.
public struct CareProgress: Sendable {
    /// A collection, or `pages`.
    public let what: String
    public let done: Int
    /// How many there are, where that is known.
    public let total: Int?
}

/// What ``Fenec/check(progress:)`` found.
public struct CheckReport: Sendable {
    /// What does not agree, a line each, naming collection, field and id. After 100 lines of a collection one
    /// says how many more there are.
    public let findings: [String]
    /// How many there are, those that no line tells of included.
    public let findingCount: Int
    /// How much was looked at.
    public let collections, indexes, documents: Int
    /// Large values and vectors, which stand outside of their records.
    public let values: Int
    /// Entries of indexes, and of text indexes places where a word stands.
    public let entries, postings: Int

    /// Whether everything agrees.
    public var isSound: Bool { findingCount == 0 }
}

/// What ``Fenec/backup(to:replacing:progress:)`` copied.
public struct BackupReport: Sendable {
    public let documents: Int
    /// The size of the copy.
    public let bytes: Int
}

/// What ``Fenec/recover(_:to:replacing:progress:)`` could read.
public struct RecoveryReport: Sendable {
    /// What is lost, a line each: collection, ids, pages.
    public let losses: [String]
    /// How many there are, those that no line tells of included.
    public let lossCount: Int
    public let collections, documents: Int
    /// Rows whose declaration is lost; they are in a file of JSON lines, called as the new one and `.strays.jsonl`.
    public let strays: Int

    /// Whether nothing is lost.
    public var isWhole: Bool { lossCount == 0 }
}

/// What the library tells while it works: lines kept, progress handed on, asked whether to go on.
final class CareWatch: Sendable {
    private struct State {
        var lines: [String] = []
        var isCancelled = false
    }
    private let state = Locked(State())
    private let progress: (@Sendable (CareProgress) -> Void)?

    init(_ progress: (@Sendable (CareProgress) -> Void)?) { self.progress = progress }

    var lines: [String] { state.withLock { $0.lines } }
    func cancel() { state.withLock { $0.isCancelled = true } }

    private func find(_ line: String) { state.withLock { $0.lines.append(line) } }

    private func goesOn(_ what: String, _ done: Int64, _ total: Int64) -> Bool {
        progress?(CareProgress(what: what, done: Int(done), total: total > 0 ? Int(total) : nil))
        return !state.withLock { $0.isCancelled }
    }

    /// Calls the library with this watch, on this thread.
    func run<T>(_ body: (UnsafePointer<care_watch>) throws -> T) rethrows -> T {
        var watch = care_watch(
            context: Unmanaged.passUnretained(self).toOpaque(),
            found: { context, line, length in
                guard let context else { return }
                Unmanaged<CareWatch>.fromOpaque(context).takeUnretainedValue().find(CareWatch.text(line, length))
            },
            goes_on: { context, what, length, done, total in
                guard let context else { return 0 }
                let watch = Unmanaged<CareWatch>.fromOpaque(context).takeUnretainedValue()
                return watch.goesOn(CareWatch.text(what, length), done, total) ? 1 : 0
            })
        return try withExtendedLifetime(self) { try body(&watch) }
    }

    /// Bytes that are no UTF-8 are possible: SQLite quotes what it finds.
    private static func text(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
        guard let start else { return "" }
        return start.withMemoryRebound(to: UInt8.self, capacity: length) {
            String(decoding: UnsafeBufferPointer(start: $0, count: length), as: UTF8.self)
        }
    }

    /// Runs `work` so that cancelling the task ends it, with a `CancellationError`.
    func cancellable<T: Sendable>(
        _ work: @Sendable () async throws -> (T, stopped: Bool)
    ) async throws -> T {
        let (answer, stopped) = try await withTaskCancellationHandler(operation: work, onCancel: { cancel() })
        if stopped { throw CancellationError() }
        return answer
    }
}

extension Fenec {
    /// Looks at everything in the database, whether it agrees with itself: the pages of the file, every
    /// record's checksum, every value's form and type, every index against the documents, both ways.
    ///
    /// ```swift
    /// let report = try await db.check()
    /// for finding in report.findings { print(finding) }
    /// ```
    ///
    /// It looks at one committed state; reads and writes go on beside it. It reads all there is, so it takes
    /// its time: `progress` is told now and then, and cancelling the task ends it.
    public func check(progress: (@Sendable (CareProgress) -> Void)? = nil) async throws -> CheckReport {
        let watch = CareWatch(progress)
        return try await watch.cancellable {
            try await call { handle in
                let counts = try Library.check(handle, watch)
                let report = CheckReport(
                    findings: watch.lines, findingCount: try counts("findings"), collections: try counts("collections"),
                    indexes: try counts("indexes"), documents: try counts("documents"), values: try counts("values"),
                    entries: try counts("entries"), postings: try counts("postings"))
                return (report, counts.stopped)
            }
        }
    }

    /// Copies one committed state into a file of its own, which opens anywhere, while reads and writes go on.
    ///
    /// ```swift
    /// try await db.backup(to: folder.appendingPathComponent("app.backup").path)
    /// ```
    ///
    /// The copy is there whole and on the disk when this returns, or not at all. A file that is there already
    /// is an `io` error unless `replacing`, and one that is an open database `locked` even then. The records
    /// are checked as they are copied: where one is damaged this throws `corrupt`, and what was there stays.
    @discardableResult
    public func backup(
        to path: String, replacing: Bool = false, progress: (@Sendable (CareProgress) -> Void)? = nil
    ) async throws -> BackupReport {
        let watch = CareWatch(progress)
        return try await watch.cancellable {
            try await call { handle in
                let counts: CareCounts
                do {
                    counts = try Library.backup(handle, path, replacing, watch)
                } catch var error as FenecError where error.code == .corrupt {
                    error = FenecError(
                        code: .corrupt, message: ([error.message] + watch.lines).joined(separator: "\n"), at: nil)
                    throw error
                }
                return (BackupReport(documents: try counts("documents"), bytes: try counts("bytes")), counts.stopped)
            }
        }
    }

    /// Exports what can be read of a damaged file into a new database; the file itself is left as it is.
    ///
    /// ```swift
    /// let report = try await Fenec.recover(damaged, to: recovered)
    /// for loss in report.losses { print(loss) }
    /// ```
    ///
    /// It does not matter what is damaged: pages are read one by one, what is taken over has a checksum that
    /// is right, and indexes are built anew. Where nothing of a database is left it throws `corrupt`. The file
    /// must not be open in this process.
    public static func recover(
        _ path: String, to newPath: String, replacing: Bool = false,
        progress: (@Sendable (CareProgress) -> Void)? = nil
    ) async throws -> RecoveryReport {
        let watch = CareWatch(progress)
        return try await watch.cancellable {
            try await Workers.shared.run {
                let counts = try Library.recover(path, newPath, replacing, watch)
                let report = RecoveryReport(
                    losses: watch.lines, lossCount: try counts("lost"), collections: try counts("collections"),
                    documents: try counts("documents"), strays: try counts("strays"))
                return (report, counts.stopped)
            }
        }
    }
}

/// The numbers of an answer, by name.
struct CareCounts: Sendable {
    private let answer: Value

    init(json: UnsafeBufferPointer<UInt8>) throws { answer = try JSONReader.read(json) }

    var stopped: Bool { answer["stopped"]?.bool ?? false }

    func callAsFunction(_ name: String) throws -> Int {
        guard let count = answer[name]?.int else { throw FenecError.unreadable }
        return count
    }
}
