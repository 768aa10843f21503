/*
 * What became of a sandbox's files when they came home, for people to read (B-80, B-85): how many,
 * and the first ten names in their order.
 */
#ifndef HE2B_HOST_FATES_H
#define HE2B_HOST_FATES_H

#include "core/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum he2b_fate {
    HE2B_FATE_SAME = 0,       /* the host has it */
    HE2B_FATE_RESTORED = 1,   /* the host lacked it */
    HE2B_FATE_DELETED = 2,    /* the host deleted it, and so will the sandbox (B-75) */
    HE2B_FATE_PARKED = 3,     /* the host has another one */
    HE2B_FATE_REDIRECTED = 4, /* parked: its place is reached through a link only */
    HE2B_FATE_PROTECTED = 5,  /* parked: its place is the host's alone (B-83) */
    HE2B_FATE_UNWRITABLE = 6, /* parked: this user may not write there */
    HE2B_FATE_UNHOLDABLE = 7, /* stays in the sandbox: this host cannot hold it */
    HE2B_FATE_UNSAFE = 8,     /* stays there: its name leads elsewhere */
    HE2B_FATE_CHANGED = 9,    /* stays there: it changed while it was read */
    HE2B_FATE_UNREAD = 10,    /* stays there: the archive does not hold its content */
};

enum {
    HE2B_FATES = 11,
    HE2B_FATES_NAMED = 10,
};

struct he2b_fates {
    struct {
        size_t count;
        char *names[HE2B_FATES_NAMED]; /* sorted, the first ones */
    } of[HE2B_FATES];
};

void he2b_fates_init(struct he2b_fates *fates);
void he2b_fates_free(struct he2b_fates *fates);
/* Without memory it is counted all the same. */
void he2b_fates_add(struct he2b_fates *fates, enum he2b_fate fate, const char *name);
/* True if a person should hear of it. */
bool he2b_fate_is_warning(enum he2b_fate fate);
/* Appends one line, names made safe (B-100); nothing if there are none. Returns HE2B_OK,
 * HE2B_ERR_NOMEM, HE2B_ERR_OVERFLOW. */
int he2b_fates_say(const struct he2b_fates *fates, enum he2b_fate fate, struct he2b_buf *ret);

#endif
