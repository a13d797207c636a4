/* id_marks.h - the largest id each collection has ever held.
 *
 * It is the larger of the collection's last id and of a number kept in table_meta, which is written only
 * where the document that goes is the one with the largest id: an append writes nothing for it. What was
 * asked for once is remembered, together with what the block under way made of it. Everything here is
 * under the writer's lock. */
#ifndef EXEC_ID_MARKS_H
#define EXEC_ID_MARKS_H

#include "base/error.h"
#include "store/conn.h"

typedef struct id_mark {
    uint32_t collection;
    bool moved;    /* by the block */
    int64_t landed, now;
} id_mark;

typedef struct id_marks {
    id_mark *items; /* by collection */
    uint32_t count, cap;
    bool moved; /* one of them */
} id_marks;

void id_marks_init(id_marks *m);
void id_marks_clear(id_marks *m); /* forgets everything: it is read anew */

/* Asked for before the block's first write to the collection. *out stays until the next id_marks_find. */
int id_marks_find(id_marks *m, conn *c, uint32_t number, id_mark **out, error *err);
void id_marks_raise(id_marks *m, id_mark *of, int64_t id); /* a document of that id is there */
int id_marks_before_delete(const id_mark *of, conn *c, int64_t id, error *err);
void id_marks_forget(id_marks *m, uint32_t number);

void id_marks_land(id_marks *m);
void id_marks_undo(id_marks *m);

#endif
