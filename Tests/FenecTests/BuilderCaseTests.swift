import Foundation
import Testing

/// The cases of the conformance suite, where it lies beside this package, and those of FENEC_BUILDER_CASES.
@Suite struct BuilderCaseTests {
    private static let suite = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../shared/conformance/cases/09-builder.jsonl").standardizedFileURL.path

    private static var files: [String] {
        let named = ProcessInfo.processInfo.environment["FENEC_BUILDER_CASES"] ?? ""
        return [suite, named].filter { FileManager.default.fileExists(atPath: $0) }
    }

    @Test(arguments: files)
    func chainsMakeWhatTheirCasesSay(_ file: String) async throws {
        let outcome = try await Program("fenec-builder-test").run([file])
        #expect(outcome.status == 0, "\(outcome.output)")
    }
}
