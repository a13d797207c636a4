/* fenec.h - the C interface of Fenec, a database that an app keeps in one file.
 *
 * Every function that takes a handle may be called from any number of threads at once, and none of
 * them is fit for an app's main thread: they wait for locks and for the disk.
 *
 * Text goes in as a pointer and a length in bytes; it need not end in a NUL, is only read during the
 * call and must be valid UTF-8. Length 0 is the empty text, whatever the pointer.
 *
 * Text comes out through `out` and `out_len`, either of which may be NULL. Where they are not, they are
 * always written: one JSON value, NUL-terminated, its length without the NUL, the caller's to release
 * with fenec_free_string; or NULL and 0 where a call has nothing to say. Every failure says why:
 * {"kind":"error","message":"..."}. */
#ifndef FENEC_H
#define FENEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define FENEC_API __attribute__((visibility("default")))
#else
#define FENEC_API
#endif

/* ---- what a call returns; the numbers never change ---- */

#define FENEC_OK 0
#define FENEC_TYPE 1       /* a value, or an index, that does not fit a field's type */
#define FENEC_NOT_FOUND 2  /* no such collection, field or document */
#define FENEC_EXISTS 3     /* a collection, or a field of one declaration, is there already */
#define FENEC_DUPLICATE 4  /* insert over an id in use; a @unique value in use */
#define FENEC_CORRUPT 5    /* bytes that are no database this build can read */
#define FENEC_QUERY 6      /* text, parameters or a description that do not parse or cannot run */
#define FENEC_IO 7         /* the disk refused; writes stay refused until the file is opened again */
#define FENEC_PLUGIN 8     /* a registered extension failed */
#define FENEC_READ_ONLY 9  /* a write the database does not take */
#define FENEC_DENIED 10    /* outside the caller's rights */
#define FENEC_PANIC 11     /* a failure inside the library, memory that ran out included; contained */
#define FENEC_MISUSE 12    /* the call itself makes no sense: unknown handle, NULL, not UTF-8 */
#define FENEC_LOCKED 13    /* the file is open already, here or in another process */
#define FENEC_UNMET 14     /* `require n` was not met; its block was put back */

/* ---- flags of fenec_open; unknown bits are ignored ---- */

#define FENEC_OPEN_NO_SYNC 1         /* a write waits in a buffer, not for the disk */
#define FENEC_OPEN_IN_MEMORY 2       /* never map the file (this library never does) */
#define FENEC_OPEN_NO_AUTO_COMPACT 4 /* no compaction but by the statement */

/* ---- modes of fenec_schema ---- */

#define FENEC_SCHEMA_PLAN 0     /* what an APPLY would do; everything is put back */
#define FENEC_SCHEMA_APPLY 1    /* brings the database to the schema, in one block */
#define FENEC_SCHEMA_FOLLOW 2   /* only says what a database of somebody else's lacks */
#define FENEC_SCHEMA_DESCRIBE 3 /* the schema that is there; the text is ignored */

/* The library's semantic version, "MAJOR.MINOR.PATCH". Static; callable at any time. */
FENEC_API const char *fenec_version(void);

/* Opens the database file at `path`, or makes it; its folder must exist. `<path>.lock` is made beside
 * it, held for as long as the database is open, and left in place. On success *handle is a number never
 * handed out before in this process; on failure it is not touched.
 * MISUSE: no path, not UTF-8, handle NULL. LOCKED: open already. IO: folder missing, no permission, a
 * folder at `path`. CORRUPT: not a database, damaged, or of a newer version; the file is left as it is. */
FENEC_API int32_t fenec_open(const uint8_t *path, size_t path_len, uint32_t flags, uint64_t *handle,
                             char **out, size_t *out_len);

/* Opens a database that lives in memory and is gone when closed. MISUSE: handle NULL. */
FENEC_API int32_t fenec_open_memory(uint64_t *handle, char **out, size_t *out_len);

/* Lets a database go: waits for calls in flight, makes everything durable, frees file and lock. The
 * handle is closed even where this fails with IO. MISUSE: not open (of several closes one succeeds). */
FENEC_API int32_t fenec_close(uint64_t handle, char **out, size_t *out_len);

/* Runs FenecQL. Several statements of one text that write are one block: all of it lands or none does;
 * the answer is the last statement's.
 *
 * params: empty, or a JSON array whose elements are $1, $2, ...
 * vectors: parameters handed over as 32-bit floats, a concatenation of entries: place in the array from
 * 0 (u32), number of components n (u32), n floats; all little-endian, no padding. The array holds null
 * at such a place. Where a parameter is needed with every digit (a json field, a point), the answer is
 * QUERY with a member "exact": the places to send again inside the JSON.
 *
 * Without FENEC_OPEN_NO_SYNC a write is durable when this returns OK. An error undoes the whole block;
 * in a text of several statements its JSON has "at": the statement, from 0. */
FENEC_API int32_t fenec_query(uint64_t handle, const uint8_t *text, size_t text_len, const uint8_t *params,
                              size_t params_len, const uint8_t *vectors, size_t vectors_len, char **out,
                              size_t *out_len);

/* Compares a schema with the database, follows or applies it, or describes the one that is there.
 *
 * text: {"format":1,"collections":[...]} or {"format":1,"fenecql":"create collection ..."}, and
 * "migrations":[...], FenecQL that runs once and is recorded in the collection _migrations. Answers
 * {"kind":"schema","applied":B,"ran":B,"migrations":[n...],"statements":[text...],"refusals":[...]}, with
 * FENEC_OK also where refusals stand in it; nothing was written then. DESCRIBE answers a description.
 * An APPLY that changed something is durable like any write.
 * MISUSE: unknown mode. QUERY, TYPE, EXISTS, NOT_FOUND: the description; a statement's own code. */
FENEC_API int32_t fenec_schema(uint64_t handle, const uint8_t *text, size_t text_len, uint32_t mode, char **out,
                               size_t *out_len);

/* What was written after change number `since`:
 * {"seq":N,"horizon":M,"collections":["a","b"]}; collections is null where that can no longer be told
 * and everything is to be taken as changed. UINT64_MAX asks for the counter alone. */
FENEC_API int32_t fenec_changes(uint64_t handle, uint64_t since, char **out, size_t *out_len);

/* Makes durable everything written through this handle before the call. No answer. IO. */
FENEC_API int32_t fenec_sync(uint64_t handle, char **out, size_t *out_len);

/* Hands buffered writes to the operating system: they survive the process, not a loss of power. IO. */
FENEC_API int32_t fenec_flush(uint64_t handle, char **out, size_t *out_len);

/* Links the vectors that are not yet, and folds the log into the file, which is then complete by itself and
 * durable. IO. */
FENEC_API int32_t fenec_checkpoint(uint64_t handle, char **out, size_t *out_len);

/* Builds indexes that an open left for their first use: all, or those named in `only` ("notes",
 * "notes.body", separated by commas); reads search indexes from the file, and waits until every vector is
 * linked. Answers {"built":N}. */
FENEC_API int32_t fenec_warm(uint64_t handle, const uint8_t *only, size_t only_len, char **out,
                             size_t *out_len);

/* Releases a text this library handed out, once, from any thread. NULL does nothing. */
FENEC_API void fenec_free_string(char *s);

#ifdef __cplusplus
}
#endif

#endif
