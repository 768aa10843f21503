/*
 * What a chart did: the names of the actions that it called, in order, joined with blanks.
 */
#ifndef HE2B_TESTS_CHART_RECORD_H
#define HE2B_TESTS_CHART_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Longer than the actions of the longest way from the first state to any other. */
    RECORD_MAX = 1024,
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

    if (n < 0 || record->len + (size_t)n >= sizeof(record->text))
        abort();
    record->len += (size_t)n;
}

/* True if the action name is in it. */
static inline bool record_has(const struct record *record, const char *name)
{
    size_t len = strlen(name);
    const char *at = record->text;

    while (*at) {
        size_t word = strcspn(at, " ");

        if (word == len && memcmp(at, name, len) == 0)
            return true;
        at += word;
        at += strspn(at, " ");
    }
    return false;
}

#endif
