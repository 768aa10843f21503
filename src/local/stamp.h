/*
 * Points in time as the control plane writes them: RFC 3339 with up to nine fraction digits
 * (wire A.7). Held as nanoseconds since 1970, UTC.
 */
#ifndef HE2B_LOCAL_STAMP_H
#define HE2B_LOCAL_STAMP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    STAMP_SIZE = 40 /* with the NUL */
};

int64_t stamp_now(void);
/* Milliseconds of a clock that never jumps: what leases are counted by. */
int64_t stamp_monotonic_ms(void);

/* "2026-08-22T10:05:00.1Z": no trailing zeros in the fraction. */
void stamp_format(char out[STAMP_SIZE], int64_t at);
/* Any offset; false if the text is not such a time, or not between 1970 and 2261. */
bool stamp_parse(int64_t *ret, const char *text);

#endif
