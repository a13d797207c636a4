import FenecDB

/// Runs the steps of a case against the builder.
enum Chain {
    enum Outcome {
        case statement(text: String, params: [Value])
        case refused
        case notSent
        case error(String)
    }

    /// An argument that no call of the typed builder can be given: as good as refused.
    struct Untyped: Error {}

    static func outcome(of chain: [Value]) async -> Outcome {
        let recorder = Recorder()
        do {
            let made = try await run(chain, recorder)
            if let made { return .statement(text: made.text, params: made.params) }
            let sent = await recorder.sent
            guard sent.count <= 1 else { return .error("sent \(sent.count) statements") }
            return sent.first.map { .statement(text: $0.text, params: $0.params) } ?? .notSent
        } catch {
            guard await recorder.sent.isEmpty else {
                return .error("failed with \(error) after it had sent a statement")
            }
            if error is Untyped { return .refused }
            if let error = error as? FenecError, error.code == .builder { return .refused }
            return .error("failed with \(error)")
        }
    }

    /// What a query is bound to.
    private actor Recorder {
        private(set) var sent: [(text: String, params: [Value])] = []

        func answer(_ text: String, _ params: [Value]) -> Answer {
            sent.append((text, params))
            return .rows(columns: [], rows: [])
        }
    }

    private static func run(_ chain: [Value], _ recorder: Recorder) async throws -> (text: String, params: [Value])? {
        var steps = try chain.map { try Step($0) }
        let first = steps.removeFirst()
        guard first.method == "from" else { throw Malformed("a chain starts with from") }
        var query = try Query.from(first.text(0)).bind { await recorder.answer($0, $1) }
        for (place, step) in steps.enumerated() {
            if let next = try query.taking(step) {
                query = next
            } else if place == steps.count - 1 {
                return try await query.ending(step)
            } else {
                throw Malformed("\(step.method) is not the last step")
            }
        }
        return try query.toFenecQL()
    }
}

extension Query {
    /// The query after a step; nil where the step is a terminal.
    fileprivate func taking(_ step: Step) throws -> Query? {
        switch step.method {
        case "select": return try select(step.arguments.map { try Column(case: $0) })
        case "group": return try group(step.arguments.map { try Column(case: $0) })
        case "where":
            switch step.arguments.count {
            case 1: return try self.where(Cond(case: step.value(0)))
            case 2: return try self.where(step.text(0), step.converted(1))
            default: return try self.where(step.text(0), step.text(1), step.converted(2))
            }
        case "orWhere":
            switch step.arguments.count {
            case 1: return try orWhere(Cond(case: step.value(0)))
            case 2: return try orWhere(step.text(0), step.converted(1))
            default: return try orWhere(step.text(0), step.text(1), step.converted(2))
            }
        case "near":
            let options = try step.options(2, ["ef", "exact"])
            return try near(
                step.text(0), step.converted(1), ef: options.whole("ef"), exact: options.flag("exact") ?? false)
        case "match":
            let options = try step.options(2, ["fuzzy", "prefix"])
            let prefix = try options.flag("prefix") ?? false
            if case .bool(let fuzzy)? = options["fuzzy"] {
                return try match(step.text(0), step.text(1), fuzzy: fuzzy, prefix: prefix)
            }
            guard let fuzzy = try options.whole("fuzzy") else {
                return try match(step.text(0), step.text(1), prefix: prefix)
            }
            return try match(step.text(0), step.text(1), fuzzy: fuzzy, prefix: prefix)
        case "fuse":
            let options = try step.options(0, ["k", "candidates"])
            return try fuse(k: options.whole("k"), candidates: options.whole("candidates"))
        case "rerank":
            let options = try step.options(2, ["candidates"])
            return try rerank(step.text(0), step.converted(1), candidates: options.whole("candidates"))
        case "highlight":
            let options = try step.options(1, ["pre", "post"])
            return try highlight(step.text(0), pre: options.text("pre"), post: options.text("post"))
        case "snippet":
            let options = try step.options(2, ["ellipsis", "pre", "post"])
            return try snippet(
                step.text(0), step.whole(1), ellipsis: options.text("ellipsis"), pre: options.text("pre"),
                post: options.text("post"))
        case "facet":
            let options = try step.options(1, ["top", "ranges", "disjunctive"])
            return try facet(
                step.text(0), top: options.whole("top"), ranges: options.numbers("ranges"),
                disjunctive: options.flag("disjunctive") ?? false)
        case "order":
            // The direction may be missing before the options.
            let hasDirection = step.arguments.count > 1 && step.arguments[1].object == nil
            let options = try step.options(hasDirection ? 2 : 1, ["collate"])
            return try order(
                step.text(0), hasDirection ? step.text(1) : "asc", collate: options.text("collate"))
        case "limit": return try limit(step.whole(0))
        case "offset": return try offset(step.whole(0))
        case "require": return try require(step.whole(0))
        case "lookup": return try lookup(step)
        default: return nil
        }
    }

    private func lookup(_ step: Step) throws -> Query {
        let options = try step.options(
            1, ["on", "parentKey", "select", "group", "where", "required", "order", "limit", "offset"])
        let name = try step.text(0)
        let select = try options["select"].map { try $0.list().map { try Column(case: $0) } }
        let group = try options["group"].map { try $0.list().map { try Column(case: $0) } }
        let cond = try options["where"].map { try Cond(case: $0) }
        let required = try options.flag("required") ?? false
        let order = try options["order"].map { try $0.list().map { try SortKey(case: $0) } } ?? []
        let limit = try options.whole("limit")
        let offset = try options.whole("offset")
        if let on = try options.texts("on") {
            return try lookup(
                name, on: on, parentKey: options.texts("parentKey") ?? options.text("parentKey").map { [$0] },
                select: select, group: group, where: cond, required: required, order: order, limit: limit,
                offset: offset)
        }
        return try lookup(
            name, on: options.text("on"), parentKey: options.text("parentKey"), select: select, group: group,
            where: cond, required: required, order: order, limit: limit, offset: offset)
    }

    /// What a terminal makes; nil where it is a running call.
    fileprivate func ending(_ step: Step) async throws -> (text: String, params: [Value])? {
        let writing = ["ifAbsent", "require", "returning", "all"]
        switch step.method {
        case "toFenecQL": return try toFenecQL()
        case "toInsert":
            let options = try step.options(1, writing)
            return try toInsert(
                step.converted(0), ifAbsent: options.flag("ifAbsent") ?? false, require: options.whole("require"),
                returning: options.returning())
        case "toUpsert":
            let options = try step.options(2, writing)
            return try toUpsert(
                step.converted(0), step.converted(1), require: options.whole("require"),
                returning: options.returning())
        case "toUpdate":
            let options = try step.options(1, writing)
            return try toUpdate(
                step.converted(0), all: options.flag("all") ?? false, require: options.whole("require"),
                returning: options.returning())
        case "toDelete":
            let options = try step.options(0, writing)
            return try toDelete(
                all: options.flag("all") ?? false, require: options.whole("require"), returning: options.returning())
        case "insert":
            let options = try step.options(1, writing)
            let ifAbsent = try options.flag("ifAbsent") ?? false
            if let returning = try options.returning() {
                try await insert(
                    step.converted(0), ifAbsent: ifAbsent, require: options.whole("require"), returning: returning)
            } else {
                try await insert(step.converted(0), ifAbsent: ifAbsent, require: options.whole("require"))
            }
        case "upsert":
            let options = try step.options(2, writing)
            if let returning = try options.returning() {
                try await upsert(
                    step.converted(0), step.converted(1), require: options.whole("require"), returning: returning)
            } else {
                try await upsert(step.converted(0), step.converted(1), require: options.whole("require"))
            }
        case "update":
            let options = try step.options(1, writing)
            let all = try options.flag("all") ?? false
            if let returning = try options.returning() {
                try await update(
                    step.converted(0), all: all, require: options.whole("require"), returning: returning)
            } else {
                try await update(step.converted(0), all: all, require: options.whole("require"))
            }
        case "delete":
            let options = try step.options(0, writing)
            let all = try options.flag("all") ?? false
            if let returning = try options.returning() {
                try await delete(all: all, require: options.whole("require"), returning: returning)
            } else {
                try await delete(all: all, require: options.whole("require"))
            }
        case "rows": _ = try await rows()
        case "first": _ = try await first()
        case "count": _ = try await count()
        case "explain": _ = try await explain()
        case "answer": _ = try await answer()
        default: throw Malformed("no step \(step.method)")
        }
        return nil
    }
}
