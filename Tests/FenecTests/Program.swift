import Foundation

/// A program of this package, as a process beside the tests.
struct Program {
    struct Outcome {
        let status: Int32
        let output: String
        let error: String
        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    private let executable: URL

    init(_ name: String) {
        #if canImport(Darwin)
            let bundles = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
            let folder = (bundles ?? Bundle.main).bundleURL.deletingLastPathComponent()
        #else
            let folder = Bundle.main.bundleURL
        #endif
        executable = folder.appendingPathComponent(name)
    }

    /// Blocks until the process has ended, on a thread of its own: with one cooperative thread none may.
    func run(_ arguments: [String], input: String = "") async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try ended(arguments, input) })
            }
        }
    }

    private func ended(_ arguments: [String], _ input: String) throws -> Outcome {
        let folder = try Folder()
        let output = folder.file("output")
        let error = folder.file("error")
        for path in [output, error] { try Data().write(to: URL(fileURLWithPath: path)) }
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = try FileHandle(
            forReadingFrom: URL(fileURLWithPath: try folder.file("input", holding: input)))
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: error))
        try process.run()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: try String(contentsOfFile: output, encoding: .utf8),
            error: try String(contentsOfFile: error, encoding: .utf8))
    }
}
