/*
 * The parts of an error message (he2b.h: he2b_failure). Fixed sizes: reporting an error needs no
 * memory, and a server cannot make a message long.
 */
#ifndef HE2B_CORE_FAILURE_H
#define HE2B_CORE_FAILURE_H

#include "core/secrets.h"
#include "he2b.h"

enum {
    HE2B_FAILURE_ACTION_MAX = 96,
    HE2B_FAILURE_CAUSE_MAX = 480,
    HE2B_FAILURE_HINT_MAX = 240,
};

struct he2b_failure {
    int code;
    int status;
    char action[HE2B_FAILURE_ACTION_MAX];
    char cause[HE2B_FAILURE_CAUSE_MAX];
    char hint[HE2B_FAILURE_HINT_MAX];
    char text[HE2B_FAILURE_ACTION_MAX + HE2B_FAILURE_CAUSE_MAX + HE2B_FAILURE_HINT_MAX + 8];
};

/*
 * Fills all of it; each text is made one safe line (core/text.h) and redacted. hint may be NULL.
 * status is the HTTP status or 0.
 */
void he2b_failure_set(struct he2b_failure *ret, const struct he2b_secrets *secrets, int code,
                      int status, const char *action, const char *hint, const char *cause_format,
                      ...) __attribute__((format(printf, 7, 8)));

/* Replaces the hint, and the whole text with it. */
void he2b_failure_set_hint(struct he2b_failure *failure, const char *hint);

#endif
