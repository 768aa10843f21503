#include "core/rfc3339.h"

#include <stddef.h>
#include <time.h>

/* Exactly count digits at *at, between least and most; -1 if they are not there. */
static int number(const char **at, int count, int least, int most)
{
    int value = 0;

    for (; count > 0; count--, (*at)++) {
        if (**at < '0' || **at > '9')
            return -1;
        value = value * 10 + (**at - '0');
    }
    return value >= least && value <= most ? value : -1;
}

static bool skip(const char **at, char c)
{
    if (**at != c)
        return false;
    (*at)++;
    return true;
}

static bool read_date(const char **at, struct tm *tm)
{
    int year = number(at, 4, 1970, 9999);
    int month = skip(at, '-') ? number(at, 2, 1, 12) : -1;
    int day = skip(at, '-') ? number(at, 2, 1, 31) : -1;

    tm->tm_year = year - 1900;
    tm->tm_mon = month - 1;
    tm->tm_mday = day;
    return year >= 0 && month >= 0 && day >= 0;
}

static bool read_clock(const char **at, struct tm *tm)
{
    tm->tm_hour = number(at, 2, 0, 23);
    tm->tm_min = skip(at, ':') ? number(at, 2, 0, 59) : -1;
    tm->tm_sec = skip(at, ':') ? number(at, 2, 0, 60) : -1;
    return tm->tm_hour >= 0 && tm->tm_min >= 0 && tm->tm_sec >= 0;
}

/* ".123456789": microseconds; what is finer is dropped. */
static bool read_fraction(const char **at, int64_t *ret)
{
    int64_t unit = 100000;

    *ret = 0;
    if (!skip(at, '.'))
        return true;
    if (**at < '0' || **at > '9')
        return false;
    for (; **at >= '0' && **at <= '9'; (*at)++, unit /= 10)
        *ret += (**at - '0') * unit;
    return true;
}

/* "Z" or "+02:00": seconds east of Greenwich. */
static bool read_zone(const char **at, int64_t *ret)
{
    int sign = **at == '-' ? -1 : 1;
    int hours;
    int minutes;

    *ret = 0;
    if (skip(at, 'Z') || skip(at, 'z'))
        return true;
    if (!skip(at, '+') && !skip(at, '-'))
        return false;
    hours = number(at, 2, 0, 23);
    minutes = skip(at, ':') ? number(at, 2, 0, 59) : -1;
    *ret = sign * ((int64_t)hours * 3600 + minutes * 60);
    return hours >= 0 && minutes >= 0;
}

bool he2b_rfc3339(const char *text, int64_t *ret)
{
    const char *at = text;
    struct tm tm = {0};
    int64_t fraction;
    int64_t zone;

    if (!read_date(&at, &tm) || !(skip(&at, 'T') || skip(&at, 't') || skip(&at, ' ')) ||
        !read_clock(&at, &tm) || !read_fraction(&at, &fraction) || !read_zone(&at, &zone) || *at)
        return false;
    *ret = ((int64_t)timegm(&tm) - zone) * 1000000 + fraction;
    return true;
}
