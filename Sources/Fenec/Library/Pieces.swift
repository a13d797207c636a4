import CFenec

/// A text and its parameters, one of those that ``Fenec/runInOneBlock(_:)`` runs.
package struct Piece: Sendable {
    package let text: String
    package let params: [Value]

    package init(text: String, params: [Value]) {
        self.text = text
        self.params = params
    }
}

/// Which piece of a block the database refused, from 0.
package struct PieceError: Error {
    package let piece: Int
    package let error: FenecError
}

extension Fenec {
    /// Runs texts as one block, each made when its turn comes: however many there are, all of them land or
    /// none does. A failure among them gives the block up and is thrown as it is; what the database refuses
    /// is thrown as a `PieceError`.
    ///
    /// The sequence is gone through on a thread of the package's, with the writer's lock held.
    package nonisolated func runInOneBlock<Pieces: Sequence & Sendable>(_ pieces: Pieces) async throws
    where Pieces.Element == Result<Piece, any Error> {
        try await call(mayWrite: true) { handle in
            let source = PieceSource(pieces)
            do {
                try Library.runPieces(handle, source)
            } catch let error as FenecError {
                throw source.failure ?? PieceError(piece: max(source.count - 1, 0), error: error)
            }
        }
    }
}

/// Hands pieces to the library, which borrows the bytes of each until it asks for the next.
final class PieceSource {
    private let next: () -> Result<Piece, any Error>?
    private var text = UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)
    private var params = UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)
    /// How many were handed out.
    private(set) var count = 0
    private(set) var failure: (any Error)?

    init<Pieces: Sequence>(_ pieces: Pieces) where Pieces.Element == Result<Piece, any Error> {
        var iterator = pieces.makeIterator()
        next = { iterator.next() }
    }

    deinit { release() }

    func hand(to out: UnsafeMutablePointer<fenec_piece>) -> Int32 {
        release()
        switch next() {
        case nil:
            return FENEC_PIECE_END
        case .failure(let error):
            failure = error
            return FENEC_PIECE_GIVE_UP
        case .success(let piece):
            text = Self.copy(Array(piece.text.utf8))
            var json = JSONWriter()
            json.write(.array(piece.params))
            params = Self.copy(json.bytes)
            out.pointee = fenec_piece(
                text: UnsafePointer(text.baseAddress), text_len: text.count,
                params: UnsafePointer(params.baseAddress), params_len: params.count)
            count += 1
            return FENEC_PIECE_NEXT
        }
    }

    private static func copy(_ bytes: [UInt8]) -> UnsafeMutableBufferPointer<UInt8> {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = copy.initialize(from: bytes)
        return copy
    }

    private func release() {
        text.deallocate()
        params.deallocate()
        text = .init(start: nil, count: 0)
        params = .init(start: nil, count: 0)
    }
}
