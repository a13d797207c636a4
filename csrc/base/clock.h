/* clock.h - the time of day. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

int64_t clock_now_ms(void); /* UTC milliseconds since 1970-01-01 */
int64_t clock_monotonic_us(void);

/* Tests only: now() from here on; a negative number goes back to the system's clock. */
void clock_set_ms(int64_t ms);

#endif
