#include "local/daemon_range.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Digits alone; more than an int64_t holds is its maximum. */
static bool number(const char **at, int64_t *ret)
{
    char *end;

    if (**at < '0' || **at > '9')
        return false;
    *ret = strtoll(*at, &end, 10);
    *at = end;
    return true;
}

enum range_found range_read(const char *text, int64_t size, int64_t *ret_first, int64_t *ret_last)
{
    int64_t first;
    int64_t last = size - 1;

    if (!text || strncasecmp(text, "bytes=", 6) != 0)
        return RANGE_NONE;
    text += 6;
    if (*text == '-') {
        int64_t length;

        text++;
        if (!number(&text, &length) || *text)
            return RANGE_NONE;
        if (length == 0 || size == 0)
            return RANGE_OUTSIDE;
        first = length > size ? 0 : size - length;
    } else {
        if (!number(&text, &first) || *text++ != '-')
            return RANGE_NONE;
        if (*text && (!number(&text, &last) || *text || last < first))
            return RANGE_NONE;
        if (first >= size)
            return RANGE_OUTSIDE;
        if (last >= size)
            last = size - 1;
    }
    *ret_first = first;
    *ret_last = last;
    return RANGE_GIVEN;
}

static const char date_format[] = "%a, %d %b %Y %H:%M:%S GMT";

void range_date(char out[RANGE_DATE_SIZE], time_t when)
{
    struct tm parts;

    gmtime_r(&when, &parts);
    strftime(out, RANGE_DATE_SIZE, date_format, &parts);
}

time_t range_read_date(const char *text)
{
    struct tm parts = {0};
    const char *end = text ? strptime(text, date_format, &parts) : NULL;

    return end && !*end ? timegm(&parts) : -1;
}
