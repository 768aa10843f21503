/*
 * Processes in a sandbox (wire C): the stream of a started one, its stdin or terminal, and short
 * unary calls.
 */
#ifndef HE2B_E2B_PROCESS_H
#define HE2B_E2B_PROCESS_H

#include "core/settings.h"
#include "e2b/endpoint.h"
#include "net/rpc.h"

#include <stdbool.h>

enum {
    /* The SDK's interval too; proxies drop what is silent for minutes (wire C.5). */
    HE2B_KEEPALIVE_S = 50,
    /* Two missed keep-alives and some air: the stream is dead (FB-07). */
    HE2B_SILENCE_MS = 120000,
    /* One argument of the kernel, with its NUL (wire H). */
    HE2B_ARGUMENT_MAX = 131071,
    /* Stdin travels in pieces of this size: each is one unary call, answered before the next. */
    HE2B_STDIN_PIECE = 1024 * 1024,
};

/* Where requests to one sandbox go; borrowed during a call that starts one, settings until that is
 * over. */
struct he2b_process_target {
    he2b_loop *loop;
    const struct he2b_settings *settings;
    const struct he2b_endpoint *endpoint;
};

struct he2b_process_spec {
    const char *cmd;
    const char *const *args; /* ends with NULL */
    const char *cwd;         /* NULL: the daemon's default */
    const char *user;        /* NULL: the daemon's default */
    bool stdin_open;
    /* 0: no terminal; else it is started on one of this size, as leader of its session */
    unsigned cols;
    unsigned rows;
    const char *term;   /* TERM of its environment; NULL: the daemon's */
    int keepalive_s;    /* 0: HE2B_KEEPALIVE_S */
    int64_t silence_ms; /* 0: HE2B_SILENCE_MS */
};

struct he2b_process_events {
    void (*start)(void *user, int64_t pid);
    /* Output. False: not taken, comes again after he2b_process_resume(). */
    bool (*data)(void *user, const char *data, size_t len);
    /* What came on stderr, for a process that tells it apart (B-86); NULL: it is output too, since
     * a command's are one (B-40). */
    bool (*errors)(void *user, const char *data, size_t len);
    /* The process ended: its exit code, death by signal N as 128+N (B-41). */
    void (*end)(void *user, int exit_code);
    /* Once: the stream is over and deleted afterwards. */
    void (*done)(void *user, const struct he2b_rpc_result *result);
};

typedef struct he2b_process he2b_process;

/* A copy with all its texts in one block for free(); NULL: no memory. */
struct he2b_process_spec *he2b_process_spec_copy(const struct he2b_process_spec *spec);

/*
 * Starts a process, in the best codec that the server reads: what it refuses to read is sent again
 * in another one, and that is remembered (e2b/servers.h). The three callbacks before done come from
 * inside a body callback: they store and schedule, nothing else. Returns HE2B_OK, HE2B_ERR_NOMEM,
 * HE2B_ERR_LOOP, HE2B_ERR_OVERFLOW.
 */
int he2b_process_start(he2b_process **ret, const struct he2b_process_target *target,
                       const struct he2b_process_spec *spec,
                       const struct he2b_process_events *events, void *user);
/*
 * The stream of one that runs already, from here on: what it printed before is not in it. spec: its
 * keepalive_s and silence_ms. start comes once more; done with HE2B_RPC_NOT_FOUND: there is none.
 */
int he2b_process_connect(he2b_process **ret, const struct he2b_process_target *target, int64_t pid,
                         const struct he2b_process_spec *spec,
                         const struct he2b_process_events *events, void *user);
void he2b_process_resume(he2b_process *process);
/* Drops the stream; the process goes on. NULL is fine. */
void he2b_process_cancel(he2b_process *process);

/* Unary calls on a running process. done gets the RPC's result. */
int he2b_process_send_input(he2b_rpc **ret, const struct he2b_process_target *target, int64_t pid,
                            const void *data, size_t len, he2b_rpc_answer_fn done, void *user);
/* ... of one on a terminal: data is what was typed. */
int he2b_process_send_typed(he2b_rpc **ret, const struct he2b_process_target *target, int64_t pid,
                            const void *data, size_t len, he2b_rpc_answer_fn done, void *user);
/* The terminal gets another size. */
int he2b_process_resize(he2b_rpc **ret, const struct he2b_process_target *target, int64_t pid,
                        unsigned cols, unsigned rows, he2b_rpc_answer_fn done, void *user);
int he2b_process_close_stdin(he2b_rpc **ret, const struct he2b_process_target *target, int64_t pid,
                             he2b_rpc_answer_fn done, void *user);

/*
 * What a result says about a Start that told no pid: nothing ran for certain (the daemon refused
 * it, or the request never left), no sandbox was found (so nothing ran either), or nobody knows.
 */
enum he2b_start_outcome {
    HE2B_START_REFUSED = 1,
    HE2B_START_NO_SANDBOX = 2,
    HE2B_START_NOT_YET = 3, /* its daemon does not answer yet, or broke off: as good as UNKNOWN for
                             * what must not run twice */
    HE2B_START_UNKNOWN = 4,
};
enum he2b_start_outcome he2b_start_outcome(const struct he2b_rpc_result *result);

#endif
