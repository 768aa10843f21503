/*
 * Events on their way to one chart: at most one of each kind, in the order in which they came.
 * Needs no memory, so that posting cannot fail.
 */
#ifndef HE2B_SESSION_EVENTS_H
#define HE2B_SESSION_EVENTS_H

#include <stdbool.h>

enum {
    /* More than any chart has kinds of events. */
    HE2B_EVENTS_MAX = 32,
};

struct he2b_events {
    unsigned char waiting[HE2B_EVENTS_MAX];
    unsigned count;
};

/* One that waits already is not put in again. */
void he2b_events_post(struct he2b_events *events, int event);
/* One that waits is not to be fed any more. */
void he2b_events_forget(struct he2b_events *events, int event);
/* The oldest one; false if there is none. */
bool he2b_events_take(struct he2b_events *events, int *ret);

#endif
