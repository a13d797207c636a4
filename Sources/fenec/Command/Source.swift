import Foundation

/// Data to import: the bytes of a file, or of standard input once it has ended.
enum Source {
    static func bytes(path: String?) throws -> Data {
        guard let path else { return try standardInput() }
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        } catch {
            throw CommandError("\(path) cannot be read: \((error as NSError).reason)")
        }
    }

    private static func standardInput() throws -> Data {
        do {
            return try FileHandle.standardInput.readToEnd() ?? Data()
        } catch {
            throw CommandError("standard input cannot be read: \((error as NSError).reason)")
        }
    }
}

extension NSError {
    /// Why the system refused, where the error knows it.
    fileprivate var reason: String {
        if let cause = userInfo[NSUnderlyingErrorKey] as? NSError, cause.domain == NSPOSIXErrorDomain {
            return String(cString: strerror(Int32(cause.code)))
        }
        return localizedDescription
    }
}
