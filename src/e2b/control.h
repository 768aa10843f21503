/*
 * E2B's control plane (wire A): create, connect, list, get, pause, kill. Each is one object that
 * repeats its request where the wire says that this can help, within bounds, and answers once.
 */
#ifndef HE2B_E2B_CONTROL_H
#define HE2B_E2B_CONTROL_H

#include "core/failure.h"
#include "core/settings.h"
#include "e2b/endpoint.h"
#include "e2b/sandbox_info.h"
#include "net/loop.h"

enum {
    /* An attempt token: 128 random bits in hex; also the Idempotency-Key (1 to 255 of [a-z0-9-]).
     */
    HE2B_ATTEMPT_MAX = 33,
    /* Pages of 100 sandboxes that one list reads: guards against a list without end. */
    HE2B_LIST_PAGES_MAX = 50,
};

struct he2b_control_answer {
    bool ok;
    int status;                    /* 200 or 201 tell whether a connect resumed (wire A.8) */
    struct he2b_endpoint endpoint; /* create, connect: the newest connection data */
    int64_t sent_ms; /* when the answered request was sent: the lease counts from there */
    int64_t lease_s; /* create, connect: what was asked for */
    struct he2b_sandbox_info info; /* get; its metadata is freed after the callback */
    struct he2b_failure failure;   /* unless ok */
};

typedef struct he2b_control he2b_control;
typedef void (*he2b_control_fn)(void *user, const struct he2b_control_answer *answer);

/* 32 hex digits and a NUL. HE2B_OK, HE2B_ERR_SYSTEM. */
int he2b_attempt_token(char token[HE2B_ATTEMPT_MAX]);

/*
 * The calls. done comes once, from the loop; the call is deleted afterwards. settings must outlive
 * the call. Return HE2B_OK, HE2B_ERR_NOMEM, HE2B_ERR_LOOP.
 */

/*
 * Create (B-25). scope NULL: ephemeral, killed on expiry; else persistent: paused on expiry without
 * its memory, never woken by traffic, scope in its metadata. No environment variables; the attempt
 * token in the metadata and as Idempotency-Key. It is never sent again after an outcome that is not
 * known (time-out, connection lost, a balancer's 502 or 504). Then it is looked for by its token
 * until nothing can appear any more, and what appears is connected to and answered as created. If
 * nothing has, one more attempt is made, with a token of its own; HE2B_ERR_LOST: that one was lost
 * too, or the looks do not tell (B-22).
 */
int he2b_control_create(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                        const char *attempt, const char *scope, int64_t lease_s,
                        he2b_control_fn done, void *user);
/* Extends the lease to now + lease_s, never shortens it; wakes a paused one; repeated on trouble.
 * 404 is HE2B_ERR_GONE. */
int he2b_control_connect(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                         const char *sandbox_id, int64_t lease_s, he2b_control_fn done, void *user);
/* One that is gone is fine (B-91); repeated while the outcome is not known. */
int he2b_control_kill(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                      const char *sandbox_id, he2b_control_fn done, void *user);
/* What the server says of one: answer->info. 404 is HE2B_ERR_GONE. */
int he2b_control_get(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                     const char *sandbox_id, he2b_control_fn done, void *user);
/* Pauses it, its memory not kept; paused already is fine, 404 is HE2B_ERR_GONE. For a person's
 * command only (B-31). */
int he2b_control_pause(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                       const char *sandbox_id, he2b_control_fn done, void *user);

/* Filter of a list: NULL fields match everything. */
struct he2b_list_filter {
    const char *scope;   /* hermes_scope */
    const char *attempt; /* hermes_attempt */
};

struct he2b_list_answer {
    bool ok;                         /* all pages were read: what is not in it is absent (B-22) */
    struct he2b_sandbox_info *items; /* newest first; borrowed by the callback */
    size_t count;
    struct he2b_failure failure; /* unless ok: unknown (B-22) */
};
typedef void (*he2b_list_fn)(void *user, const struct he2b_list_answer *answer);

/*
 * This product's sandboxes, running and paused, of all pages. The server is asked for them by
 * metadata, and each item is checked again here (B-21). More than HE2B_LIST_PAGES_MAX pages are a
 * failure, since then nothing can be called absent. Repeated on trouble.
 */
int he2b_control_list(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                      const struct he2b_list_filter *filter, he2b_list_fn done, void *user);

/*
 * Nobody wants it any more, but what is on its way may be done: it is not sent again, and done
 * comes with its answer, or soon if nothing is on its way. NULL is fine.
 */
void he2b_control_end(he2b_control *control);

/* Drops it; done is not called any more. NULL is fine. */
void he2b_control_cancel(he2b_control *control);

#endif
