/*
 * Header fields of a download (RFC 9110).
 */
#ifndef HE2B_LOCAL_DAEMON_RANGE_H
#define HE2B_LOCAL_DAEMON_RANGE_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum range_found {
    RANGE_OUTSIDE = -1, /* 416 */
    RANGE_NONE = 0,     /* not asked for, several, or not understood: the whole file */
    RANGE_GIVEN = 1,
};

/* One range of bytes (14.2); text may be NULL. Sets both ends, inclusive, if it is given. */
enum range_found range_read(const char *text, int64_t size, int64_t *ret_first, int64_t *ret_last);

enum {
    RANGE_DATE_SIZE = 40,
};
/* "Sun, 06 Nov 1994 08:49:37 GMT" (5.6.7) */
void range_date(char out[RANGE_DATE_SIZE], time_t when);
/* The time in such a text, -1 if it is none. */
time_t range_read_date(const char *text);

#endif
