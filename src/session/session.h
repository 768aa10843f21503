/*
 * One session, as its own files see it: the lifecycle chart with what its actions need, who waits
 * for it, its commands, and the pump through which everything happens.
 */
#ifndef HE2B_SESSION_SESSION_H
#define HE2B_SESSION_SESSION_H

#include "core/buf.h"
#include "core/failure.h"
#include "core/scope.h"
#include "core/settings.h"
#include "e2b/control.h"
#include "e2b/process.h"
#include "host/manifest.h"
#include "machines/lifecycle.h"
#include "machines/marker.h"
#include "machines/teardown.h"
#include "machines/writer.h"
#include "net/loop.h"
#include "session/events.h"
#include "session/step.h"
#include "session/wrapper.h"

enum {
    /* A path that the sandbox's kernel can name, with its NUL. */
    HE2B_PATH_MAX = 4096,
    /* ... of the folder for this side's files, which goes into an URL. */
    HE2B_FOLDER_MAX = 256,
    /* A boot id, with its NUL. */
    HE2B_BOOT_MAX = 40,
    /* Path of a record. */
    HE2B_RECORD_MAX = HE2B_FOLDER_MAX + HE2B_BOOT_MAX + HE2B_MARKER_WORD + 2,
    /* What the second line of a stamp says, with its NUL: a manifest's hash, or a token. */
    HE2B_STAMP_MAX = HE2B_SHA256_HEX_MAX,
    /* Records that wait for their removal; one more than these stays until the next boot. */
    HE2B_SETTLED_MAX = 256,
    /* What remains of a lease before a command waits for its renewal (B-31). */
    HE2B_LEASE_MARGIN_MS = 60000,
    /* Renewals beside commands are that far apart at least (B-31). */
    HE2B_RENEW_EVERY_MS = 30000,
    /* How long a record is asked for where nobody answers (B-48), and how far apart at first. */
    HE2B_ASK_FOR_MS = 15000,
    HE2B_ASK_AGAIN_MS = 200,
    /* Sandboxes of one scope that are tried in turn; more than one is an accident already. */
    HE2B_CANDIDATES_MAX = 8,
};

/* What a look into the sandbox is to do beside learning home, directory and tools. */
enum he2b_look {
    HE2B_LOOK_PLAIN = 1,   /* nothing: the sandbox is in no scope */
    HE2B_LOOK_STAMP = 2,   /* is the stamp there, and which one? */
    HE2B_LOOK_UNSTAMP = 3, /* remove it */
    HE2B_LOOK_RESTAMP = 4, /* write it */
};

/* Somebody who waits for the session to be ready. Told once, from the pump. */
struct he2b_waiter {
    struct he2b_waiter *next;
    he2b_session_fn fn;
    void *user;
    int64_t need_ms; /* how long the lease has to hold */
    bool asked;      /* was there when the role was last asked for: what it says counts for it */
    bool failed;     /* told with failure */
    struct he2b_failure failure;
};

struct he2b_session {
    he2b_loop *loop;
    struct he2b_settings settings;
    he2b_log_fn log;
    void *log_user;

    struct he2b_lifecycle_machine machine;
    struct he2b_writer_machine writer;
    struct he2b_teardown_machine teardown;
    struct he2b_failure failure;     /* why the last ..._FAILED came, for those who wait */
    struct he2b_failure end_failure; /* what went wrong at the end; code 0: nothing */

    /* for the charts, one queue each; each command has its own */
    struct he2b_events events;
    struct he2b_events writer_events;
    struct he2b_events teardown_events;
    he2b_task *pump; /* feeds them, the one place where charts are stepped */
    bool pumping;
    bool deleted; /* by a callback that the pump called */

    struct he2b_waiter *waiters; /* for ready */
    struct he2b_waiter *closers; /* for closed */
    struct he2b_waiter *due;     /* to be told at the end of the pump's turn */

    he2b_command *commands;
    bool closing;
    bool close_sent;

    /* the scope */
    char scope[HE2B_SCOPE_MAX]; /* "": none */
    bool host_state;            /* the caller moves Hermes' state */
    bool pushed;                /* by this session in its present role, into this sandbox */
    char stamp[HE2B_STAMP_MAX]; /* what the second line of its stamp says; "": not stamped */
    /* what is known to lie in the sandbox pushed_into ("": nothing is known), and its hash (B-75)
     */
    struct he2b_manifest manifest;
    char manifest_hash[HE2B_SHA256_HEX_MAX];
    char pushed_into[HE2B_SANDBOX_ID_MAX];
    struct he2b_steps steps;
    int step_error; /* errno of the last step, for a warning */
    he2b_timer *lock_timer;
    char candidates[HE2B_CANDIDATES_MAX][HE2B_SANDBOX_ID_MAX]; /* newest first */
    size_t candidate;
    size_t candidate_count;
    size_t listed; /* how many the scope had; above HE2B_CANDIDATES_MAX not all of them are tried */
    bool attached; /* connected to the scope's sandbox, or made it */

    /* the sandbox */
    struct he2b_endpoint endpoint; /* sandbox_id "": none */
    bool own;                      /* made by this session, so that it kills it */
    bool probed;
    unsigned generation;
    char *attached_key;  /* made or joined it, and is not the settings' any more; NULL: that one */
    int64_t key_set_ms;  /* when the settings got another one */
    int64_t deadline_ms; /* of the known lease, monotonic; 0: not known */
    bool doubted;        /* the sandbox may be gone: asked before the next command (B-97) */
    int64_t lease_s;     /* asked for by the request on the way */
    struct he2b_tools tools;
    char home[HE2B_PATH_MAX];
    char cwd[HE2B_PATH_MAX];
    char folder[HE2B_FOLDER_MAX]; /* private, for this side's files; "": it has no place for one */
    char boot[HE2B_BOOT_MAX];     /* id of the boot that was looked into; "": not known */
    bool records;                 /* there is a folder for records of this boot */
    char settled[HE2B_SETTLED_MAX][HE2B_MARKER_WORD + 1]; /* records that nobody asks for */
    size_t settled_count;

    /* requests on the way */
    he2b_control *call;
    he2b_control *renew;
    he2b_control *deadline_look; /* beside: what the server says of the lease (B-32) */
    bool warned_killed;          /* of this sandbox */
    int64_t connect_sent_ms;     /* the last one before a command */
    int64_t renew_every_ms;      /* HE2B_RENEW_EVERY_MS; less in tests */
    int64_t ask_for_ms;          /* HE2B_ASK_FOR_MS; less in tests */
    int64_t ask_again_ms;        /* HE2B_ASK_AGAIN_MS; less in tests */
    int keepalive_s;             /* of a command's stream; 0: as he2b_process_spec says */
    int64_t silence_ms;          /* ... */
    int64_t renew_after_ms;      /* not before then */
    int64_t renew_left_ms;       /* what was left of the lease when renewing began to fail */
    bool renew_failed;
    he2b_timer *lease_timer;
    int64_t lease_due_ms; /* when it fires; 0: not armed */
    he2b_process *probe;
    enum he2b_look look;
    bool stamp_seen;
    char stamp_found[HE2B_STAMP_MAX];
    he2b_timer *probe_timer;
    struct he2b_buf probe_output;
    int probe_code;
    int64_t probe_give_up_ms;
};

/* ---- pump.c ---- */

/* An event for a chart: the pump feeds it, soon. */
void he2b_session_post(he2b_session *session, enum he2b_lifecycle_event event);
void he2b_writer_post(he2b_session *session, enum he2b_writer_event event);
void he2b_teardown_post(he2b_session *session, enum he2b_teardown_event event);
void he2b_session_wake(he2b_session *session);
/* The pump's task. */
void he2b_session_pump(void *session);
/* Closes a session that is to be closed, once nothing has to come first. */
void he2b_session_consider_close(he2b_session *session);

/* ---- session.c ---- */

void he2b_session_free(he2b_session *session);

/* fn is told when a command that takes timeout_ms can start. HE2B_OK, HE2B_ERR_NOMEM. */
int he2b_session_wait(he2b_session *session, int64_t timeout_ms, he2b_session_fn fn, void *user);
/* Is it still where a prepare has brought it that found this generation, with a lease for a command
 * of timeout_ms? */
bool he2b_session_is_prepared(const he2b_session *session, unsigned generation, int64_t timeout_ms);
/* Tells fn at the end of the pump's turn that a command can start. HE2B_OK, HE2B_ERR_NOMEM. */
int he2b_session_admit(he2b_session *session, he2b_session_fn fn, void *user);
/* Forgets who waits with this user, without telling. */
void he2b_session_cancel_quietly(he2b_session *session, const void *user);
void he2b_session_log(he2b_session *session, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void he2b_session_secrets(const he2b_session *session, struct he2b_secrets *ret);
void he2b_session_target(const he2b_session *session, struct he2b_process_target *ret);

/* ---- attachment.c ---- */

/* A create or connect went well: how to reach the sandbox, its lease, and whose key that is. */
void he2b_attachment_take(he2b_session *session, const struct he2b_control_answer *answer);
/* From now on requests go with the key that last reached the sandbox (B-7). */
void he2b_attachment_use_key(he2b_session *session);
/* Wipes what it holds. */
void he2b_attachment_done(he2b_session *session);

/* ---- lifecycle.c: the chart's actions ---- */

extern const struct he2b_lifecycle_actions he2b_lifecycle_actions;
/* Drops every request on the way. */
void he2b_lifecycle_cancel(he2b_session *session);

/* ---- waiters.c ---- */

/* HE2B_OK, HE2B_ERR_NOMEM. */
int he2b_waiters_add(struct he2b_waiter **list, he2b_session_fn fn, void *user, int64_t need_ms);
/* What is said of the role, or of a failure, from now on counts for all who wait now. */
void he2b_waiters_ask(he2b_session *session);
/* Milliseconds of lease that the longest of them needs. */
int64_t he2b_waiters_need(const struct he2b_waiter *waiter);
/* Moves those of *list who were asked about, or all, to those who are told. */
void he2b_waiters_tell(he2b_session *session, struct he2b_waiter **list, bool asked_only,
                       const struct he2b_failure *failure);
/* Forgets who waits with this user, without telling. */
void he2b_waiters_forget(struct he2b_waiter **link, const void *user);
/* Tells them at once that there is nothing to wait for any more; those who were due, what is due.
 */
void he2b_waiters_drop(he2b_session *session, struct he2b_waiter **list);
void he2b_waiters_free(struct he2b_waiter **list);

/* ---- role.c, teardown.c: the other charts' actions ---- */

extern const struct he2b_writer_actions he2b_writer_actions;
extern const struct he2b_teardown_actions he2b_teardown_actions;
/* True if this session is the scope's writer now, or on its way to be. */
bool he2b_role_writes(const he2b_session *session);
/* True if this session pushed, as the writer or into a sandbox of its own, and is at rest, or need
 * not be: then there may be something to pull. */
bool he2b_role_settled(const he2b_session *session);
/* True if each command waits for the role's word: in a scope, and where Hermes' state goes to a
 * sandbox of the session's own. */
bool he2b_role_gates(const he2b_session *session);
/* True if the role lets a command start that was prepared for: it is at rest, or looked at for
 * another command without any doubt so far. */
bool he2b_role_admits(const he2b_session *session);
/* True if a sync, or another push, of such a session is on its way that has to end first; it will
 * be at rest then. */
bool he2b_role_syncs(const he2b_session *session);

/* ---- search.c ---- */

/* Asks for the scope's sandboxes: LIFE_FOUND, LIFE_ABSENT or LIFE_FAILED. */
void he2b_search_send(he2b_session *session);
/* The next candidate's id is the session's; false if there is none. */
bool he2b_search_next(he2b_session *session);
/* None of them exists: LIFE_ABSENT for a writer, else LIFE_FAILED (B-23). */
void he2b_search_absent(he2b_session *session);

/* ---- lease.c ---- */

/* Milliseconds of lease that a command of timeout_ms (0: none) needs (B-30). */
int64_t he2b_lease_need(const he2b_session *session, int64_t timeout_ms);
/* Seconds to ask for so that need_ms is covered. */
int64_t he2b_lease_ask(const he2b_session *session, int64_t need_ms);
/* A request sent at sent_ms set the lease: the known deadline moves forward only (B-32). */
void he2b_lease_set(he2b_session *session, int64_t sent_ms, int64_t lease_s);
/* What a ready session does about need_ms: start, start and renew beside, or renew first. */
enum he2b_lease_step {
    HE2B_LEASE_COVERS = 1,
    HE2B_LEASE_BESIDE = 2,
    HE2B_LEASE_FIRST = 3,
};
enum he2b_lease_step he2b_lease_step(const he2b_session *session, int64_t need_ms);
/* Did it become too short for need_ms while a role was prepared, or is it not known any more (a
 * sync may take long, a renewal may have met a cold boot: B-31, B-35)? */
bool he2b_lease_lapsed(const he2b_session *session, int64_t need_ms);
/* Beside what runs: wakes up at half of what is left for a command without a limit, and every 30 s
 * while one outlasts the known lease (B-31). Nothing of that kind: no wake-up. */
void he2b_lease_watch(he2b_session *session);
/* May a renewal be sent now? One at a time, one per 30 s. */
bool he2b_lease_may_renew(const he2b_session *session);
/* The sandbox may be gone: the next command connects first (B-97). The lease stays known: where
 * nobody answers, it lets the command run (B-31). */
void he2b_lease_doubt(he2b_session *session);

/* ---- probe.c ---- */

void he2b_probe_send(he2b_session *session, enum he2b_look look);
void he2b_probe_cancel(he2b_session *session);

/* ---- command.c, for session.c ---- */

/* Feeds every command's events; true if there was one. */
bool he2b_commands_step(he2b_session *session);
/* Tells the caller what was reported and frees what nobody holds any more. */
void he2b_commands_deliver(he2b_session *session);
/* Commands whose result is still owed. */
bool he2b_commands_live(const he2b_session *session);
/* True if one of them has no limit. */
bool he2b_commands_unlimited(const he2b_session *session);
/* Until when those that run with a limit need a lease, monotonic; 0: none does. */
int64_t he2b_commands_need_until(const he2b_session *session);
/* The session goes away: every command ends now. */
void he2b_commands_drop(he2b_session *session);

#endif
