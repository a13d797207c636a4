// Runs builder cases: fenec-builder-test [FILE_OR_FOLDER...], and those FENEC_BUILDER_CASES names beside them.
// The form of a case is that of the conformance suite's 09-builder.README.md. Ends with a line
// "N passed, N failed" and status 1 where a case failed or none was found.
import FenecDB
import Foundation

let named = CommandLine.arguments.dropFirst() + [ProcessInfo.processInfo.environment["FENEC_BUILDER_CASES"] ?? ""]
var passed = 0
var failed = 0
var seen: Set<String> = []

for path in named where !path.isEmpty && seen.insert(path).inserted {
    do {
        for place in try CaseFile.cases(at: path) {
            if let fault = await place.fault() {
                failed += 1
                print("\(place.name): \(fault)")
            } else {
                passed += 1
            }
        }
    } catch {
        failed += 1
        print("\(path): \(error)")
    }
}
print("\(passed) passed, \(failed) failed")
exit(failed == 0 && passed > 0 ? 0 : 1)
