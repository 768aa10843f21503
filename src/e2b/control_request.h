/*
 * One request to E2B's control plane (wire A) with its repeats: what the calls of control.h are
 * made of. Sent again where the wire says that this can help, within bounds (B-27).
 */
#ifndef HE2B_E2B_CONTROL_REQUEST_H
#define HE2B_E2B_CONTROL_REQUEST_H

#include "core/failure.h"
#include "core/json.h"
#include "core/settings.h"
#include "net/loop.h"

#include <stdbool.h>
#include <stddef.h>

/* How long things may take, in milliseconds. */
struct he2b_control_times {
    int64_t answer;        /* limit of one request */
    int64_t repeat_for;    /* how long one call goes on repeating, and the longest Retry-After */
    int64_t backoff_first; /* first wait of our own; doubled each time */
    int64_t backoff_max;
    int64_t look_every; /* between two looks for a create whose answer is lost (B-25) */
    int64_t look_until; /* after it was sent: nothing can appear later */
};

/* settings->control_times or the real ones. Static or borrowed from settings. */
const struct he2b_control_times *he2b_control_times(const struct he2b_settings *settings);

/* What the requests of one kind have in common. Static. */
struct he2b_request_kind {
    const char *action; /* "create sandbox" */
    const char *method;
    bool starts;  /* starts something: after an unknown outcome it is not sent again (B-47) */
    bool by_id;   /* about one sandbox: 404 says that it is gone */
    bool v2_twin; /* where a server lacks the v1 route the same one under /v2 serves (wire H) */
    /* True if this status is what was wanted; message is the server's, "" if there is none. */
    bool (*good)(int status, const char *message);
    /* The setting that a refusal is about (B-27); NULL: none. */
    const char *(*hint)(int status);
};

/* Borrowed by the callback that gets it. */
struct he2b_request_answer {
    bool ok;
    int status;
    const char *body; /* NUL-terminated; if ok */
    size_t len;
    const char *next_token;      /* X-Next-Token (wire A.7), "" if none; if ok */
    int64_t date;                /* the answer's own clock, seconds since 1970; -1: not told */
    int64_t sent_ms;             /* when the answered request was sent, by he2b_now_ms() */
    struct he2b_failure failure; /* unless ok; HE2B_ERR_LOST: it may have been done */
};

typedef struct he2b_request he2b_request;
typedef void (*he2b_request_fn)(void *user, const struct he2b_request_answer *answer);

/*
 * Sends from the loop, so that no outcome comes inside the call that started it; done comes once,
 * and the request is deleted before. path begins behind the base URL and its version. body becomes
 * the request's, also on failure; NULL: none. attempt goes as Idempotency-Key; NULL: none.
 * settings must outlive the request. Returns HE2B_OK, HE2B_ERR_NOMEM, HE2B_ERR_LOOP.
 */
int he2b_request_start(he2b_request **ret, he2b_loop *loop, const struct he2b_settings *settings,
                       const struct he2b_request_kind *kind, const char *path, he2b_json *body,
                       const char *attempt, he2b_request_fn done, void *user);

/* Not to be sent again; done comes with what is on its way, or soon with HE2B_ERR_CANCELLED if
 * nothing is. NULL is fine. */
void he2b_request_end(he2b_request *request);

/* Drops it; done is not called any more. NULL is fine. */
void he2b_request_cancel(he2b_request *request);

/* A failure of this kind in the request's words, for what is found wrong in a good answer. */
void he2b_request_failure(struct he2b_failure *ret, const struct he2b_settings *settings,
                          const struct he2b_request_kind *kind, int code, int status,
                          const char *hint, const char *cause, size_t cause_len);

#endif
