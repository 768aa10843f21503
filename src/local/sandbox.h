/*
 * One sandbox of the server: its record, its daemon, and the steps between its states (wire A.5).
 * A step is begun here and its end is told to whoever waits for it. Loop thread only.
 */
#ifndef HE2B_LOCAL_SANDBOX_H
#define HE2B_LOCAL_SANDBOX_H

#include "core/json.h"
#include "local/credential.h"

#include <stdbool.h>
#include <stdint.h>

struct event;
struct launch;
struct plane;
struct sandbox;

enum sandbox_state {
    SANDBOX_STARTING, /* its daemon comes up: after create, or out of PAUSED */
    SANDBOX_RUNNING,
    SANDBOX_PAUSING,
    SANDBOX_PAUSED,
    SANDBOX_KILLING,
};

enum {
    SANDBOX_WHY_MAX = 512,
    /* how long a daemon may take to come up (wire E: cold boot) */
    SANDBOX_BOOT_S = 60,
    /* envVars as JSON: what one packet of the control socket holds for sure */
    SANDBOX_ENV_MAX = 128 * 1024,
};

/* What create was asked for; the texts are owned by the sandbox once it is made. */
struct sandbox_settings {
    char *template_id;
    char *metadata; /* JSON object, or NULL */
    char *env_vars; /* JSON object, or NULL; kept in memory only: a cold boot loses it (A.8) */
    char *idempotency_key;
    int64_t timeout_s;
    bool auto_pause;
    bool auto_pause_memory;
    bool auto_resume;
    bool secure;
    bool internet;
};

/*
 * Waits for the end of the step that is going on. fn is called once, from the loop or from inside
 * the call that ends the step; the waiter is off the list then. why is "" if it came to where it
 * was going, else one line; gone: there is no such sandbox any more, and sandbox is about to be
 * freed.
 */
struct sandbox_waiter {
    struct sandbox_waiter *next;
    void (*fn)(void *user, struct sandbox *sandbox, bool gone, const char *why);
    void *user;
    bool listed;
};

/* A request to the daemon that is going on; cut when the sandbox stops. */
struct sandbox_stream {
    struct sandbox_stream *next;
    struct sandbox_stream *previous;
    void (*cut)(struct sandbox_stream *stream);
};

struct sandbox {
    struct plane *plane;
    struct sandbox *next;
    char id[CREDENTIAL_ID_LEN + 1];
    char token[CREDENTIAL_TOKEN_LEN + 1];
    struct sandbox_settings settings;
    he2b_json *metadata; /* settings.metadata, parsed; NULL if there is none */
    enum sandbox_state state;
    bool fresh;  /* STARTING for the first time: nobody sees it yet */
    bool frozen; /* PAUSED with its processes stopped in memory */
    /* PAUSING, and to be killed when it is paused (wire A.9) */
    bool doomed;
    /* PAUSED, or STARTING again, because the server ended under it. It was to be killed at the end
     * of its lease, so that lease goes on. */
    bool broken_off;
    /* nanoseconds since 1970: the start of this or the last run; what is shown as its end: the
     * lease's, or the time when the last pause began; the end of the lease, if it has one */
    int64_t started;
    int64_t ended;
    int64_t lease_end;
    /* the lease's end and the run's start on the monotonic clock, ms */
    int64_t expires_ms;
    int64_t started_ms;
    /* of the start that is going on, seconds */
    int64_t lease_s;
    struct launch *launch;
    int control_fd;
    struct event *control;
    struct event *boot_timer;
    char boot_why[SANDBOX_WHY_MAX];
    struct sandbox_waiter *waiters;
    struct sandbox_stream *streams;
};

/* Makes a sandbox and begins to start it; settings' texts are taken over, also on failure. NULL and
 * one line in why if it cannot even begin. */
struct sandbox *sandbox_create(struct plane *plane, const struct sandbox_settings *settings,
                               char why[SANDBOX_WHY_MAX]);

/* Out of PAUSED. The end is told to the waiters; it may have come already when this returns (state
 * is RUNNING then). 0, or -1 with why (state is PAUSED still). */
int sandbox_resume(struct sandbox *sandbox, int64_t lease_s, char why[SANDBOX_WHY_MAX]);

/* RUNNING to PAUSED. memory: keep the processes, stopped, where that is possible. The lease ends
 * with the beginning. */
void sandbox_pause(struct sandbox *sandbox, bool memory);

/* From any state but KILLING: its end is told to the waiters as gone, perhaps before this returns.
 * While it is PAUSING, the end of that is told first. */
void sandbox_kill(struct sandbox *sandbox);

/* RUNNING: sets the lease's end to so many milliseconds from now, and records it. */
void sandbox_set_lease(struct sandbox *sandbox, int64_t ms);
/* Whether sandbox_left_ms() counts. */
bool sandbox_has_lease(const struct sandbox *sandbox);
int64_t sandbox_left_ms(const struct sandbox *sandbox);

void sandbox_wait(struct sandbox *sandbox, struct sandbox_waiter *waiter);
void sandbox_unwait(struct sandbox *sandbox, struct sandbox_waiter *waiter);

void sandbox_add_stream(struct sandbox *sandbox, struct sandbox_stream *stream);
void sandbox_drop_stream(struct sandbox *sandbox, struct sandbox_stream *stream);

/*
 * The server ends: ends whatever runs, waits for it, and frees the sandbox, which the next start
 * finds again. Only what is about to go is removed. No waiter is called.
 */
void sandbox_end(struct sandbox *sandbox);

/* ---- sandbox_record.c ---- */

/* NULL without memory. */
he2b_json *sandbox_record(const struct sandbox *sandbox);
/* Makes the sandbox of a record, paused and in the plane's list; or removes what is not to come
 * back (it was to be killed at the end of its lease, which is over). False if the record makes no
 * sense. */
bool sandbox_restore(struct plane *plane, const char *id, const he2b_json *record);
void sandbox_settings_free(struct sandbox_settings *settings);

#endif
