/* pieces.h - beside include/fenec.h, for the command of this repository alone: a block whose texts come
 * one by one, so that an import of any size is one block. Not exported, and no promise to anybody. */
#ifndef ABI_PIECES_H
#define ABI_PIECES_H

#include <stddef.h>
#include <stdint.h>

/* A text and its parameters, as fenec_query takes them. */
typedef struct fenec_piece {
    const uint8_t *text;
    size_t text_len;
    const uint8_t *params;
    size_t params_len;
} fenec_piece;

/* What a source of pieces returns. */
#define FENEC_PIECE_NEXT 0    /* *piece is the next one, its bytes the source's until it is asked again */
#define FENEC_PIECE_END 1     /* there is none any more: the block is to land */
#define FENEC_PIECE_GIVE_UP 2 /* the block is to be put back */

typedef int32_t (*fenec_piece_source)(void *context, fenec_piece *piece);

/* Runs the pieces as one block, durable on return like any write; no answer. The source is called on this
 * thread, with the writer's lock held: it must not use the database. What fails puts everything back. A
 * source that gives up answers MISUSE. */
int32_t fenec_run_pieces(uint64_t handle, fenec_piece_source source, void *context, char **out, size_t *out_len);

#endif
