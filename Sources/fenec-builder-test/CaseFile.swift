import FenecDB
import Foundation

/// A case that cannot be read, with the reason.
struct Malformed: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Where cases are: a file of JSON lines, or a folder of such files.
enum CaseFile {
    static func cases(at path: String) throws -> [Case] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw Malformed("there is no such file")
        }
        guard isFolder.boolValue else { return try cases(ofFile: path) { !$0.allSatisfy(\.isWhitespace) } }
        let files = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        return try files.filter { $0.hasSuffix(".jsonl") }.flatMap { file in
            // A folder may hold the cases of other chapters too.
            try cases(ofFile: path + "/" + file) { $0.contains("\"chain\"") }
        }
    }

    private static func cases(ofFile path: String, where isCase: (Substring) -> Bool) throws -> [Case] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return try text.split(separator: "\n").enumerated().filter { isCase($0.element) }.map { place, line in
            let value = try Value.parse(String(line))
            return try Case(value, name: value["id"]?.string ?? "\(path):\(place + 1)")
        }
    }
}
