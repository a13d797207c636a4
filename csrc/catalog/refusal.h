/* refusal.h - differences that are not resolved by adding, each as {"kind","collection","field","message",
 * "fix"} (chapter 6 section 8). */
#ifndef CATALOG_REFUSAL_H
#define CATALOG_REFUSAL_H

#include "base/buffer.h"
#include "catalog/declaration.h"

/* A field both sides have. */
typedef struct difference {
    const declaration *code;
    uint32_t place;          /* of the field in code */
    const field_def *stored; /* as the database has it */
    bool follow;
} difference;

void refuse_collection_missing(buffer *out, const declaration *code);
void refuse_field_missing(buffer *out, const declaration *code, uint32_t place);
void refuse_required_added(buffer *out, const declaration *code, uint32_t place);
void refuse_type_changed(buffer *out, const difference *d);
void refuse_required_changed(buffer *out, const difference *d);
void refuse_collate_changed(buffer *out, const difference *d);

/* `on`: the field, or the whole path; the specs are its indexes there. */
void refuse_index_missing(buffer *out, const declaration *code, const char *on, const index_spec *wanted);
void refuse_index_changed(buffer *out, const difference *d, const char *on, const index_spec *stored,
                          const index_spec *wanted);
void refuse_index_removed(buffer *out, const difference *d, const char *on, const index_spec *stored);

/* A field of the database alone. `renamed`: the one new field it may be, NULL where there is none or are
 * several; `last`: no field of the database is declared. */
void refuse_field_not_declared(buffer *out, const char *of, const char *field, const char *renamed, bool last);

#endif
