/* checking.h - a check, run and under way: what check.c and its parts share. */
#ifndef EXEC_CHECKING_H
#define EXEC_CHECKING_H

#include "base/arena.h"
#include "base/buffer.h"
#include "exec/check.h"
#include "exec/published.h"
#include "search/row_cache.h"
#include "search/text_check.h"

/* Through a snapshot and what was published with it. FENEC_OK whatever was found; an error where the look itself
 * could not be taken: memory, a handle that is closed. */
int check_run(conn *c, const published *state, const check_watch *watch, check_report *out, error *err);

/* Records and side values alone, their checksums and forms. */
int check_records(conn *c, const catalog *cat, const check_watch *watch, check_report *out, error *err);

#define CHECK_LINES_MAX 100 /* of one section */

typedef struct checking {
    conn *c;
    const published *state;
    const check_watch *watch;
    check_report *report;
    row_cache *cache; /* nothing in it was read before */
    int64_t section;  /* findings in it so far */
    const char *where;
} checking;

void check_found(checking *k, const char *format, ...) FN_PRINTF(2, 3);

/* Findings from here on are counted anew; those of the section before that were not told are summed up. */
void check_section(checking *k, const char *where);

/* False where the check is to end. */
bool check_goes_on(checking *k, const char *what, int64_t done, int64_t of);

/* A failed read is a finding, damage or a disk that does not answer: FENEC_OK. Else the code. */
int check_judge(checking *k, int rc, const error *why, const char *format, ...) FN_PRINTF(4, 5);

/* Whether a field of that type may hold such a value. */
bool check_fits(const type *t, const value *v);

/* The documents of a collection and, with `indexes`, its indexes. */
int check_collection(checking *k, const collection *of, bool indexes, error *err);

#endif
