import CFenec

/// The functions of `fenec.h`. Each may wait, so they run on the threads of ``Workers``.
enum Library {
    static var version: String { String(cString: fenec_version()) }

    static func open(path: String, flags: UInt32) throws -> UInt64 {
        var handle: UInt64 = 0
        try bytes(of: path) { path in
            try call { fenec_open(path.baseAddress, path.count, flags, &handle, $0, $1) }
        }
        return handle
    }

    static func openMemory() throws -> UInt64 {
        var handle: UInt64 = 0
        try call { fenec_open_memory(&handle, $0, $1) }
        return handle
    }

    static func close(_ handle: UInt64) throws { try call { fenec_close(handle, $0, $1) } }
    static func sync(_ handle: UInt64) throws { try call { fenec_sync(handle, $0, $1) } }
    static func flush(_ handle: UInt64) throws { try call { fenec_flush(handle, $0, $1) } }
    static func checkpoint(_ handle: UInt64) throws { try call { fenec_checkpoint(handle, $0, $1) } }

    static func warm(_ handle: UInt64, _ only: [String]) throws -> Int {
        try bytes(of: only.joined(separator: ",")) { only in
            try call({ fenec_warm(handle, only.baseAddress, only.count, $0, $1) }, read: built)
        }
    }

    private static func built(_ answer: UnsafeBufferPointer<UInt8>) throws -> Int {
        guard let count = try JSONReader.read(answer)["built"]?.int else { throw FenecError.unreadable }
        return count
    }

    static func changes(_ handle: UInt64, since: UInt64) throws -> Changes {
        try call({ fenec_changes(handle, since, $0, $1) }, read: Changes.init(json:))
    }

    static func schema(_ handle: UInt64, _ description: Value, _ mode: UInt32) throws -> Value {
        try bytes(of: description.json) { text in
            try call({ fenec_schema(handle, text.baseAddress, text.count, mode, $0, $1) }, read: JSONReader.read)
        }
    }

    static func describe(path: String) throws -> Value {
        try bytes(of: path) { path in
            try call({ fenec_peek_schema(path.baseAddress, path.count, $0, $1) }, read: JSONReader.read)
        }
    }

    static func check(_ handle: UInt64, _ watch: CareWatch) throws -> CareCounts {
        try watch.run { watch in try call({ care_check(handle, watch, $0, $1) }, read: CareCounts.init(json:)) }
    }

    static func backup(_ handle: UInt64, _ path: String, _ replaces: Bool, _ watch: CareWatch) throws -> CareCounts {
        try bytes(of: path) { path in
            try watch.run { watch in
                try call(
                    { care_backup(handle, path.baseAddress, path.count, replaces ? 1 : 0, watch, $0, $1) },
                    read: CareCounts.init(json:))
            }
        }
    }

    static func recover(_ path: String, _ to: String, _ replaces: Bool, _ watch: CareWatch) throws -> CareCounts {
        try bytes(of: path) { path in
            try bytes(of: to) { to in
                try watch.run { watch in
                    try call(
                        {
                            care_recover(
                                path.baseAddress, path.count, to.baseAddress, to.count, replaces ? 1 : 0, watch, $0, $1)
                        }, read: CareCounts.init(json:))
                }
            }
        }
    }

    /// Runs a text. Vectors go over as bytes; where the library needs some of them to the digit, those are
    /// sent again inside the JSON, once.
    static func query(_ handle: UInt64, _ text: String, _ params: [Value]) throws -> AnswerBytes {
        do {
            return try query(handle, text, Parameters(params))
        } catch let refusal as ExactRefusal {
            do {
                return try query(handle, text, Parameters(params, exact: Set(refusal.places)))
            } catch let refusal as ExactRefusal {
                throw refusal.error
            }
        }
    }

    private static func query(_ handle: UInt64, _ text: String, _ params: Parameters) throws -> AnswerBytes {
        try bytes(of: text) { text in
            try params.json.withUnsafeBufferPointer { json in
                try params.vectors.withUnsafeBufferPointer { vectors in
                    try answer {
                        fenec_query(
                            handle, text.baseAddress, text.count, json.baseAddress, json.count,
                            vectors.baseAddress, vectors.count, $0, $1)
                    }
                }
            }
        }
    }

    static func runPieces(_ handle: UInt64, _ source: PieceSource) throws {
        let context = Unmanaged.passUnretained(source).toOpaque()
        try withExtendedLifetime(source) {
            try call {
                fenec_run_pieces(
                    handle,
                    { context, piece in
                        guard let context, let piece else { return FENEC_PIECE_GIVE_UP }
                        return Unmanaged<PieceSource>.fromOpaque(context).takeUnretainedValue().hand(to: piece)
                    }, context, $0, $1)
            }
        }
    }

    // MARK: the boundary

    private typealias Out = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private typealias OutLength = UnsafeMutablePointer<Int>

    /// Calls the library and takes over what it answered.
    private static func answer(_ function: (Out, OutLength) -> Int32) throws -> AnswerBytes {
        var out: UnsafeMutablePointer<CChar>?
        var length = 0
        let code = function(&out, &length)
        let answer = AnswerBytes(start: out, count: length)
        guard code == FENEC_OK else { throw answer.withBytes { failure(code, $0) } }
        return answer
    }

    private static func call(_ function: (Out, OutLength) -> Int32) throws { _ = try answer(function) }

    private static func call<T>(
        _ function: (Out, OutLength) -> Int32, read: (UnsafeBufferPointer<UInt8>) throws -> T
    ) throws -> T {
        try answer(function).withBytes(read)
    }

    /// Parameters that have to be sent again inside the JSON.
    private struct ExactRefusal: Error {
        let places: [Int]
        let error: FenecError
    }

    private static func failure(_ code: Int32, _ answer: UnsafeBufferPointer<UInt8>) -> any Error {
        let body = (try? JSONReader.read(answer)) ?? .null
        let error = FenecError(
            code: FenecError.Code(rawValue: code) ?? .panic,
            message: body["message"]?.string ?? "internal error: the library failed with code \(code)",
            at: body["at"]?.int)
        let places = (body["exact"]?.array ?? []).compactMap(\.int)
        return places.isEmpty ? error : ExactRefusal(places: places, error: error)
    }

    private static func bytes<T>(
        of text: String, _ body: (UnsafeBufferPointer<UInt8>) throws -> T
    ) rethrows -> T {
        var text = text
        return try text.withUTF8(body)
    }
}
