#include "exec/backup.h"

#include <inttypes.h>

#include "store/copy.h"

typedef struct copying {
    const check_watch *watch;
    bool stopped;
} copying;

static bool goes_on(void *to, int64_t done, int64_t of)
{
    copying *k = to;

    if (k->watch->goes_on && !k->watch->goes_on(k->watch->to, "pages", done, of))
        k->stopped = true;
    return !k->stopped;
}

/* Records and pages come through one snapshot: what was checked is what is copied. */
static int copy_checked(conn *c, const published *state, const fresh_file *f, const check_watch *watch,
                        backup_report *out, error *err)
{
    copying k = {.watch = watch};
    check_report seen;
    int rc = check_records(c, state->cat, watch, &seen, err);

    if (rc)
        return rc;
    out->documents = seen.documents;
    out->stopped = seen.stopped;
    if (seen.findings)
        return fail(err, FENEC_CORRUPT, "%" PRId64 " of what it holds is damaged: a recover exports the rest", seen.findings);
    if (seen.stopped)
        return FENEC_OK;
    rc = copy_snapshot(c, f, goes_on, &k, &out->bytes, err);
    out->stopped = k.stopped;
    return rc == FN_END ? FENEC_OK : rc;
}

int backup_run(conn *c, const published *state, const uint8_t *file, size_t len, bool replace, const check_watch *watch,
               backup_report *out, error *err)
{
    fresh_file f = {0};

    *out = (backup_report){0};
    int rc = fresh_file_begin(&f, file, len, replace, err);
    if (!rc)
        rc = copy_checked(c, state, &f, watch, out, err);
    if (!rc && !out->stopped)
        rc = fresh_file_land(&f, true, err);
    fresh_file_end(&f);
    return rc;
}
