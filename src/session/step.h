/*
 * Steps (he2b.h: he2b_step): what a session wants done with files of this machine, one at a time.
 */
#ifndef HE2B_SESSION_STEP_H
#define HE2B_SESSION_STEP_H

#include "he2b.h"
#include "host/files.h"
#include "host/lock.h"

#include <stdbool.h>
#include <stdint.h>

/* What a session holds on this machine. Touched by a step that is out, and by nobody else then. */
struct he2b_host {
    struct he2b_host_files files;
    struct he2b_lock creation;
    struct he2b_lock lease;
    int64_t waiting_since_ms; /* for the creation lock; 0: not waiting */
    int creation_wait_ms;     /* how long at most (B-24) */
};

/* Steps of one session, as the session's files see them. */
struct he2b_steps {
    he2b_step_fn fn;
    void *user;
    struct he2b_host *host;
    he2b_step *out; /* handed out, or to be handed out; NULL: none */
    bool due;       /* out is to be handed out at the end of the pump's turn */
    int next;       /* kind wanted after it, whose own outcome then means nothing; 0: none */
    const char *next_reason;
    bool warned_lock; /* each degraded mode warns once */
    bool warned_marker;
};

/* What a step of the library's own came to; its chart's event and what to say of it. */
struct he2b_step_result {
    int event;     /* enum he2b_writer_event */
    int error;     /* errno that explains it, 0: none */
    bool no_lock;  /* the creation lock was not to be had: gone on without it */
    bool unmarked; /* the marker cannot be written or read here */
};

struct he2b_host *he2b_host_new(void);
void he2b_host_del(struct he2b_host *host);
/* Does one of the library's own kinds with host's files. Blocks. */
void he2b_host_step(struct he2b_host *host, enum he2b_step_kind kind, const char *reason,
                    struct he2b_step_result *ret);

/* ---- for the charts' actions ---- */

/* Wants a step of this kind: handed out soon, or when the one that is out is answered. reason is
 * what HE2B_STEP_MARK writes; static. */
void he2b_steps_want(he2b_session *session, enum he2b_step_kind kind, const char *reason);
/* Hands out what is due. From the pump only, outside every chart. */
void he2b_steps_hand_out(he2b_session *session);
/* A step of the caller's that is out, or wanted, belongs to nobody any more. */
void he2b_steps_forget_callers(he2b_session *session);
/* The session goes away: the step that is out belongs to nobody any more, and keeps what it needs.
 */
void he2b_steps_forget(he2b_session *session);

#endif
