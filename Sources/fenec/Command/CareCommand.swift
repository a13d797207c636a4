import FenecDB
import Foundation

/// `fenec FILE --check`, `fenec backup FILE COPY`, `fenec recover FILE OUT`.
struct CareCommand {
    enum Action {
        case check
        case backup(to: String)
        case recover(to: String)
    }

    /// What the process ends with where a recovery is not whole.
    static let incomplete: Int32 = 3

    let action: Action
    let path: String
    var replaces = false

    func run() async throws -> Int32 {
        guard FileManager.default.fileExists(atPath: path) else { throw CommandError("there is no file \(path)") }
        switch action {
        case .check: return try await check()
        case .backup(let copy): return try await backup(to: copy)
        case .recover(let out): return try await recover(to: out)
        }
    }

    // MARK: check

    private func check() async throws -> Int32 {
        let progress = CareLine()
        let report = try await withDatabase { db in try await db.check(progress: progress.show) }
        progress.clear()
        var output = Output.standard
        for finding in report.findings { output.write("\(DisplayText.visible(finding))\n") }
        let looked = [
            Printer.counted(report.collections, "collection"), Printer.counted(report.documents, "document"),
            Printer.counted(report.values, "large value"), Self.counted(report.indexes, "index", "indexes"),
            Self.counted(report.entries + report.postings, "entry", "entries"),
        ].joined(separator: ", ")
        let verdict = report.isSound ? "sound" : "not sound: \(Printer.counted(report.findingCount, "finding"))"
        output.write("\(DisplayText.visible(path)) is \(verdict) (\(looked))\n")
        try output.flush()
        return report.isSound ? 0 : 1
    }

    private static func counted(_ count: Int, _ one: String, _ several: String) -> String {
        "\(count) \(count == 1 ? one : several)"
    }

    // MARK: backup

    private func backup(to copy: String) async throws -> Int32 {
        let progress = CareLine()
        let report: BackupReport
        do {
            report = try await withDatabase { db in
                try await db.backup(to: copy, replacing: replaces, progress: progress.show)
            }
        } catch let error as FenecError where error.code == .io && error.message.hasSuffix("is there already") {
            throw CommandError("\(copy) is there already; --force replaces it")
        }
        progress.clear()
        var output = Output.standard
        output.write("\(Printer.counted(report.documents, "document")), \(report.bytes) bytes in \(DisplayText.visible(copy))\n")
        try output.flush()
        return 0
    }

    // MARK: recover

    private func recover(to out: String) async throws -> Int32 {
        let progress = CareLine()
        let report: RecoveryReport
        do {
            report = try await Fenec.recover(path, to: out, replacing: replaces, progress: progress.show)
        } catch let error as FenecError where error.code == .io && error.message.hasSuffix("is there already") {
            throw CommandError("\(error.message); --force replaces it")
        }
        progress.clear()
        var output = Output.standard
        for loss in report.losses { output.write("\(DisplayText.visible(loss))\n") }
        let taken =
            "\(Printer.counted(report.collections, "collection")), \(Printer.counted(report.documents, "document"))"
        let verdict = report.isWhole ? "nothing is lost" : "not all of it: \(Self.counted(report.lossCount, "loss", "losses"))"
        output.write("\(taken) in \(DisplayText.visible(out)), \(verdict)\n")
        try output.flush()
        return report.isWhole ? 0 : Self.incomplete
    }

    private func withDatabase<T: Sendable>(_ work: (Fenec) async throws -> T) async throws -> T {
        let db = try await Fenec.open(path: path, options: .noAutoCompact)
        do {
            let result = try await work(db)
            try await db.close()
            return result
        } catch {
            try? await db.close()
            throw error
        }
    }
}

/// A ``Progress`` that is told from a thread of the package's.
private final class CareLine: @unchecked Sendable { // `progress` is guarded by `lock`
    private let lock = NSLock()
    private var progress = Progress()

    func show(_ now: CareProgress) {
        lock.lock()
        defer { lock.unlock() }
        let far = now.total.map { "\(now.done) of \($0)" } ?? (now.done > 0 ? "\(now.done)" : "")
        progress.show("\(now.what) \(far)")
    }

    func clear() {
        lock.lock()
        defer { lock.unlock() }
        progress.clear()
    }
}
