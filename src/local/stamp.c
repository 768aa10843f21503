#include "local/stamp.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    BILLION = 1000000000,
    YEAR_MAX = 2261 /* the last whole year that 63 bits of nanoseconds hold */
};

int64_t stamp_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * BILLION + now.tv_nsec;
}

int64_t stamp_monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void stamp_format(char out[STAMP_SIZE], int64_t at)
{
    time_t seconds = (time_t)(at / BILLION);
    unsigned fraction = (unsigned)(at % BILLION);
    struct tm tm;
    size_t len;

    gmtime_r(&seconds, &tm);
    len = strftime(out, STAMP_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
    if (fraction > 0) {
        len += (size_t)snprintf(out + len, STAMP_SIZE - len, ".%09u", fraction);
        while (out[len - 1] == '0')
            len--;
    }
    snprintf(out + len, STAMP_SIZE - len, "Z");
}

/* Reads exactly count digits. */
static bool number(const char **text, int count, int *ret)
{
    int value = 0;

    for (int i = 0; i < count; i++) {
        if (!isdigit((unsigned char)**text))
            return false;
        value = value * 10 + *(*text)++ - '0';
    }
    *ret = value;
    return true;
}

static bool literal(const char **text, char upper)
{
    if (toupper((unsigned char)**text) != upper)
        return false;
    (*text)++;
    return true;
}

static bool read_fraction(const char **text, int *ret)
{
    int unit = BILLION / 10;
    int value = 0;

    if (**text == '.') {
        (*text)++;
        if (!isdigit((unsigned char)**text))
            return false;
        for (; isdigit((unsigned char)**text); (*text)++, unit /= 10)
            value += (**text - '0') * unit;
    }
    *ret = value;
    return true;
}

static bool read_offset(const char **text, int *ret_minutes)
{
    int sign = **text == '-' ? -1 : 1;
    int hours;
    int minutes;

    if (literal(text, 'Z')) {
        *ret_minutes = 0;
        return true;
    }
    if ((!literal(text, '+') && !literal(text, '-')) || !number(text, 2, &hours) ||
        !literal(text, ':') || !number(text, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *ret_minutes = sign * (hours * 60 + minutes);
    return true;
}

bool stamp_parse(int64_t *ret, const char *text)
{
    struct tm tm = {0};
    int fraction;
    int minutes;

    if (!number(&text, 4, &tm.tm_year) || !literal(&text, '-') || !number(&text, 2, &tm.tm_mon) ||
        !literal(&text, '-') || !number(&text, 2, &tm.tm_mday) || !literal(&text, 'T') ||
        !number(&text, 2, &tm.tm_hour) || !literal(&text, ':') || !number(&text, 2, &tm.tm_min) ||
        !literal(&text, ':') || !number(&text, 2, &tm.tm_sec) || !read_fraction(&text, &fraction) ||
        !read_offset(&text, &minutes) || *text != '\0')
        return false;
    if (tm.tm_year < 1970 || tm.tm_year > YEAR_MAX || tm.tm_mon < 1 || tm.tm_mon > 12 ||
        tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
        return false;
    int day = tm.tm_mday;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    int64_t seconds = timegm(&tm);
    /* timegm() makes 1 March of 29 February where there is none */
    if (tm.tm_mday != day && tm.tm_sec < 60)
        return false;
    seconds -= (int64_t)minutes * 60;
    if (seconds < 0)
        return false;
    *ret = seconds * BILLION + fraction;
    return true;
}
