/*
 * E2B's control plane (wire A): create, connect, kill. Each is one object that repeats its request
 * where the wire says that this can help, within bounds, and answers once.
 */
#ifndef HE2B_E2B_CONTROL_H
#define HE2B_E2B_CONTROL_H

#include "core/failure.h"
#include "core/settings.h"
#include "e2b/endpoint.h"
#include "net/loop.h"

enum {
    /* An attempt token: 128 random bits in hex; also the Idempotency-Key (1 to 255 of [a-z0-9-]).
     */
    HE2B_ATTEMPT_MAX = 33,
};

struct he2b_control_answer {
    bool ok;
    int status;                    /* 200 or 201 tell whether a connect resumed (wire A.8) */
    struct he2b_endpoint endpoint; /* create, connect: the newest connection data */
    int64_t sent_ms; /* when the answered request was sent: the lease counts from there */
    int64_t lease_s; /* create, connect: what was asked for */
    struct he2b_failure failure; /* unless ok */
};

typedef struct he2b_control he2b_control;
typedef void (*he2b_control_fn)(void *user, const struct he2b_control_answer *answer);

/* 32 hex digits and a NUL. HE2B_OK, HE2B_ERR_SYSTEM. */
int he2b_attempt_token(char token[HE2B_ATTEMPT_MAX]);

/*
 * The three calls. done comes once, from the loop; the call is deleted afterwards. settings must
 * outlive the call. Return HE2B_OK, HE2B_ERR_NOMEM, HE2B_ERR_LOOP.
 *
 * create (B-25): killed on expiry, no environment variables, the attempt token in the metadata.
 * Never sent again after an outcome that is not known: that is HE2B_ERR_LOST. connect: extends the
 * lease to now + lease_s, never shortens it; repeated on trouble. kill: a sandbox that is gone is
 * fine (B-91); repeated while the outcome is not known.
 */
int he2b_control_create(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                        const char *attempt, int64_t lease_s, he2b_control_fn done, void *user);
int he2b_control_connect(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                         const char *sandbox_id, int64_t lease_s, he2b_control_fn done, void *user);
int he2b_control_kill(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                      const char *sandbox_id, he2b_control_fn done, void *user);

/*
 * Nobody wants it any more, but what is on its way may be done: it is not sent again, and done
 * comes with its answer, or soon if nothing is on its way. NULL is fine.
 */
void he2b_control_end(he2b_control *control);

/* Drops it; done is not called any more. NULL is fine. */
void he2b_control_cancel(he2b_control *control);

#endif
