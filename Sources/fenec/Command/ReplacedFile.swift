import Foundation

/// A file that stands in its place when it is whole.
enum ReplacedFile {
    /// Writes beside `path`, symbolic links followed, and moves what was written there. A pipe or a device
    /// is written to as it is.
    static func write(to path: String, _ body: (inout Output) async throws -> Void) async throws {
        let out = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        var about = stat()
        let isReplaced = stat(out, &about) != 0 || about.st_mode & S_IFMT == S_IFREG
        let written = isReplaced ? out + ".part" : out
        let descriptor = open(written, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw refused(out) }
        var output = Output(descriptor: descriptor)
        do {
            try await body(&output)
            guard close(descriptor) == 0 else { throw refused(out) }
            if isReplaced, rename(written, out) != 0 { throw refused(out) }
        } catch {
            if isReplaced { unlink(written) }
            throw error
        }
    }

    private static func refused(_ out: String) -> CommandError {
        CommandError("\(out) cannot be written: \(String(cString: strerror(errno)))")
    }
}
