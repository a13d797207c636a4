import Foundation
import Testing

@testable import FenecDB

/// Jobs are handed to threads that are just falling asleep, waking up, or kept busy by another.
@Suite struct WorkersTests {
    @Test func everyJobRunsOnceWhateverItsThreadDoes() async throws {
        let tasks = 8
        let jobs = 3000
        let runs = Locked([Int](repeating: 0, count: tasks * jobs))
        let answers = await withTaskGroup(of: Int.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var random = Random("jobs of task \(task)")
                    var sum = 0
                    for job in 0..<jobs {
                        let (pause, length) = (Int.random(in: 0..<40, using: &random), Int.random(in: 0..<40, using: &random))
                        let answer = await Workers.shared.result {
                            runs.withLock { $0[task * jobs + job] += 1 }
                            Self.keepBusy(length)
                            return job
                        }
                        sum += (try? answer.get()) ?? -1
                        Self.keepBusy(pause)
                    }
                    return sum
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == [Int](repeating: jobs * (jobs - 1) / 2, count: tasks))
        #expect(runs.withLock { $0.allSatisfy { $0 == 1 } })
    }

    @Test func whatAJobThrowsIsItsCalls() async throws {
        struct Refused: Error, Equatable { let job: Int }
        for job in 0..<200 {
            await #expect(throws: Refused(job: job)) {
                try await Workers.shared.run { throw Refused(job: job) }
            }
        }
    }

    /// Mostly for as long as a thread stays awake, sometimes for longer, and now and then for no time at all.
    private static func keepBusy(_ draw: Int) {
        switch draw {
        case 0: usleep(200)
        case 1...4: usleep(1)
        case 5...20:
            let end = DispatchTime.now().uptimeNanoseconds + UInt64(draw) * 1500
            while DispatchTime.now().uptimeNanoseconds < end {}
        default: break
        }
    }
}
