/* bucket.h - the start of the interval an instant falls in (chapter 3 section 10). */
#ifndef VALUE_BUCKET_H
#define VALUE_BUCKET_H

#include "base/error.h"
#include "value/value.h"

typedef struct bucket_interval {
    int64_t step_ms; /* > 0, or 0 where it counts months */
    int64_t origin_ms;
    int64_t months;
} bucket_interval;

/* From a text such as "15m" or an int of milliseconds. FENEC_QUERY. */
int bucket_interval_read(const value *v, bucket_interval *out, error *err);

/* A duration as @ttl has it: whole number > 0, unit ms s m h d in any ASCII case. False: no such thing
 * or more than 63 bits of milliseconds. */
bool duration_ms(int64_t count, const char *unit, size_t unit_len, int64_t *ms);

/* Whether zone is an IANA name or an offset, for where there is no instant to look at. FENEC_QUERY. */
int bucket_zone_check(const value *zone, error *err);

/* The start of the interval at ms, in the zone (an IANA name or an offset) or UTC where zone is NULL.
 * A null zone is the caller's to answer. FENEC_QUERY: unknown zone, an instant outside 64 bits. */
int bucket_start(const bucket_interval *interval, int64_t ms, const value *zone, int64_t *out, error *err);

#endif
