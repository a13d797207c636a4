/* care.h - beside include/fenec.h, for the Swift package of this repository alone: whether a database is whole,
 * copies of it, and what can be read of a damaged one. Not exported, and no promise to others. */
#ifndef ABI_CARE_H
#define ABI_CARE_H

#include <stddef.h>
#include <stdint.h>

/* Who is told, on the calling thread. Lines are UTF-8, the caller's during the call alone. */
typedef struct care_watch {
    void *context;
    void (*found)(void *context, const char *line, size_t len);
    /* 0 ends it. `what` is a collection or "pages"; `of` 0 where it is not known. */
    int32_t (*goes_on)(void *context, const char *what, size_t len, int64_t done, int64_t of);
} care_watch;

/* {"findings":N,"collections":N,"indexes":N,"documents":N,"values":N,"entries":N,"postings":N,"stopped":false}.
 * OK whatever was found. */
int32_t care_check(uint64_t handle, const care_watch *watch, char **out, size_t *out_len);

/* {"documents":N,"bytes":N,"stopped":false}. CORRUPT where a record is damaged, IO, LOCKED: no copy then. */
int32_t care_backup(uint64_t handle, const uint8_t *path, size_t path_len, int32_t replace, const care_watch *watch,
                    char **out, size_t *out_len);

/* Exports what can be read of a file that may be damaged anywhere into a new database; the file is read alone.
 * What is lost is told of. Rows of which the declaration is lost go to `to`.strays.jsonl.
 * {"lost":N,"collections":N,"documents":N,"strays":N,"stopped":false}. */
int32_t care_recover(const uint8_t *path, size_t path_len, const uint8_t *to, size_t to_len, int32_t replace,
                     const care_watch *watch, char **out, size_t *out_len);

#endif
