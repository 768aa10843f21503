/*
 * The control plane (wire A): one call is one request, from its headers to its answer. api.c finds
 * the function for it and collects its body; api_answer.c writes answers; the others are the calls.
 */
#ifndef HE2B_LOCAL_API_H
#define HE2B_LOCAL_API_H

#include "core/buf.h"
#include "core/json.h"
#include "local/http.h"
#include "local/sandbox.h"

#include <stdbool.h>
#include <stdint.h>

struct plane;
struct api_call;

typedef void (*api_fn)(struct api_call *call);

enum {
    /* The service takes 16 MiB; metadata and envVars are far smaller. Guards the memory. */
    API_BODY_MAX = 1024 * 1024,
    /* connect: how many steps of the sandbox it waits for (wire E) */
    API_WAITS_MAX = 3,
    /* of the path; an id of ours is shorter. Guards the message that repeats it. */
    API_ID_MAX = 128,
};

struct api_call {
    struct plane *plane;
    struct http_request *request;
    api_fn fn;
    bool v2;                 /* the path began with /v2 */
    char id[API_ID_MAX + 1]; /* "": it cannot be one */
    int64_t came_ms;         /* on the monotonic clock */
    struct he2b_buf body;
    he2b_json *json; /* the body's object, {} without one */
    /* while a create waits for its turn */
    struct api_call *next_create;
    /* while the call waits for a sandbox */
    struct sandbox *sandbox;
    struct sandbox_waiter waiter;
    unsigned waits;
    bool resumed;
    int64_t timeout_s;
};

/* A request that is not for a sandbox's data. */
void api_begin(struct plane *plane, struct http_request *request);

/* ---- reading the body: false if the member has another type; *has may be NULL ---- */

bool api_get_int(const he2b_json *object, const char *key, bool *has, int64_t *ret);
bool api_get_bool(const he2b_json *object, const char *key, bool *has, bool *ret);
/* A lease that is above the plan's maximum: answered then (wire A.6, A.8). */
bool api_is_too_long(struct api_call *call, int64_t seconds);

/* ---- api_answer.c ---- */

/* {"code":...,"message":...} (wire A.3); error_code may be NULL. */
void api_error(struct http_request *request, unsigned status, const char *error_code,
               const char *format, ...) __attribute__((format(printf, 4, 5)));
/* 404; or 400 if what the path names cannot be an id (wire A.4). Last of all checks. */
void api_not_found(struct api_call *call);
/* The value is taken over; NULL is 500. */
void api_answer(struct http_request *request, unsigned status, he2b_json *value);
void api_answer_empty(struct http_request *request);
/* What create and connect answer (wire A.6). */
he2b_json *api_sandbox(const struct sandbox *sandbox);
/* An item of the list (A.7), with more members if it is the detail (A.12). */
he2b_json *api_item(const struct sandbox *sandbox, bool detail);

/* Waits for the sandbox's step; then fn runs again, or the call is answered if it is gone. */
void api_wait(struct api_call *call, struct sandbox *sandbox,
              void (*fn)(void *user, struct sandbox *sandbox, bool gone, const char *why));

/* ---- the calls ---- */

/* A.6. Making a folder holds the loop up for some milliseconds, so that each turn of the loop makes
 * one: however many are asked for at once, leases end in time (A.13). */
void api_create(struct api_call *call);
/* A turn has come; user is the plane. */
void api_create_turn(evutil_socket_t fd, short what, void *user);
/* The call is over, perhaps before its turn. */
void api_create_forget(struct api_call *call);
void api_list(struct api_call *call);         /* A.7 */
void api_list_running(struct api_call *call); /* A.7, v1 */
void api_detail(struct api_call *call);       /* A.12 */
void api_connect(struct api_call *call);      /* A.8 */
void api_resume(struct api_call *call);       /* A.8, the older form */
void api_kill(struct api_call *call);         /* A.9 */
void api_pause(struct api_call *call);        /* A.10 */
void api_timeout(struct api_call *call);      /* A.11 */
void api_refreshes(struct api_call *call);    /* A.11 */

#endif
