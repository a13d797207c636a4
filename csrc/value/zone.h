/* zone.h - clocks of time zones: how far ahead of UTC, from when until when.
 *
 * A zone is read from ICU once and kept for the life of the process, as a list of its changes: an answer
 * takes no lock and asks ICU nothing. A build without ICU (FENEC_ICU 0) knows no zone. */
#ifndef VALUE_ZONE_H
#define VALUE_ZONE_H

#include <stddef.h>
#include <stdint.h>

#ifndef FENEC_ICU
#define FENEC_ICU 1
#endif

typedef struct zone zone;

/* The instants at which the clock shows the same distance from UTC. */
typedef struct zone_period {
    int64_t from_ms; /* its first instant; INT64_MIN where there is none before */
    int32_t ahead_ms;
} zone_period;

/* The zone of an IANA name, in its exact letters. Never to be freed; NULL where there is none or memory
 * ran out. */
const zone *zone_find(const char *name, size_t len);

zone_period zone_at(const zone *z, int64_t ms);

#endif
