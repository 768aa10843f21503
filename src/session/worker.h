/*
 * Work that blocks on files, on a thread of its own, and a loop that hears of its end.
 */
#ifndef HE2B_SESSION_WORKER_H
#define HE2B_SESSION_WORKER_H

#include "net/loop.h"

typedef struct he2b_worker he2b_worker;

struct he2b_worker_events {
    /* On a thread of its own, in which every signal is blocked. */
    void (*work)(void *arg);
    /* Once, from the loop, after work has returned; the worker is gone then. Not after drop. */
    void (*ended)(void *user);
    /* Once, on either thread, when neither will touch arg any more. */
    void (*release)(void *arg);
};

/* Returns HE2B_OK; HE2B_ERR_NOMEM, HE2B_ERR_SYSTEM, HE2B_ERR_LOOP: nothing is called. */
int he2b_worker_start(he2b_worker **ret, he2b_loop *loop, const struct he2b_worker_events *events,
                      void *arg, void *user);
/* Nobody waits for it any more: it goes on until work returns. NULL is fine. */
void he2b_worker_drop(he2b_worker *worker);

#endif
