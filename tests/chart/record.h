/*
 * What a chart did: the names of the actions that it called, in order, joined with blanks.
 */
#ifndef HE2B_TESTS_CHART_RECORD_H
#define HE2B_TESTS_CHART_RECORD_H

#include "tests/unit/unit.h"

#include <stdio.h>

enum {
    /* Longer than the actions of any path that is walked here. */
    RECORD_MAX = 4096,
};

struct record {
    char text[RECORD_MAX];
    size_t len;
};

static inline void record_clear(struct record *record)
{
    record->len = 0;
    record->text[0] = '\0';
}

static inline void record_add(struct record *record, const char *name)
{
    int n = snprintf(record->text + record->len, sizeof(record->text) - record->len, "%s%s",
                     record->len ? " " : "", name);

    assert_true(n > 0 && record->len + (size_t)n < sizeof(record->text));
    record->len += (size_t)n;
}

/* How often the action name is in it. */
static inline unsigned record_count(const struct record *record, const char *name)
{
    size_t len = strlen(name);
    const char *at = record->text;
    unsigned count = 0;

    while (*at) {
        size_t word = strcspn(at, " ");

        if (word == len && memcmp(at, name, len) == 0)
            count++;
        at += word;
        at += strspn(at, " ");
    }
    return count;
}

/* True if a comes before the first b, or there is no b. */
static inline bool record_before(const struct record *record, const char *a, const char *b)
{
    const char *first_a = strstr(record->text, a);
    const char *first_b = strstr(record->text, b);

    return !first_b || (first_a && first_a < first_b);
}

#endif
