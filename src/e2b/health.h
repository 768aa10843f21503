/*
 * Is the sandbox still there? One short look at its daemon (wire B.4), after a stream was lost.
 */
#ifndef HE2B_E2B_HEALTH_H
#define HE2B_E2B_HEALTH_H

#include "e2b/process.h"

enum he2b_health {
    HE2B_HEALTH_ALIVE = 1,   /* its daemon answers */
    HE2B_HEALTH_GONE = 2,    /* the proxy knows no such sandbox here: killed, expired or paused */
    HE2B_HEALTH_UNKNOWN = 3, /* no answer, or one that says neither */
};

typedef void (*he2b_health_fn)(void *user, enum he2b_health health);

/* Answers within 5 s. he2b_health_cancel(NULL) is fine. HE2B_OK, HE2B_ERR_NOMEM, HE2B_ERR_LOOP. */
typedef struct he2b_health_look he2b_health_look;
int he2b_health_ask(he2b_health_look **ret, const struct he2b_process_target *target,
                    he2b_health_fn done, void *user);
void he2b_health_cancel(he2b_health_look *look);

#endif
