/*
 * A world for a session under test: a loop, options, and a peer that plays E2B's control plane and
 * one sandbox. Without more it behaves as E2B does; a test replaces what it wants to go wrong.
 */
#ifndef HE2B_TESTS_UNIT_WORLD_H
#define HE2B_TESTS_UNIT_WORLD_H

#include "tests/unit/peer/peer.h"
#include "tests/unit/unit.h"

#include "he2b.h"

enum {
    WORLD_LOG_MAX = 8192,
    WORLD_OUTPUT_MAX = 1 << 20,
    WORLD_WORD = 16,
    WORLD_KINDS = 24, /* of requests, at most */
};

#define WORLD_FOLDER "/tmp/.hermes-e2b-1000"
#define WORLD_BOOT   "01234567-89ab-cdef-0123-456789abcdef"
#define WORLD_ID     "i0123456789abcdefghij"
#define WORLD_KEY    "e2b_0123456789abcdef0123456789abcdef01234567"

struct world;

/* nth counts from 1 for each kind of request. */
typedef void (*world_fn)(struct world *world, struct peer_request *request, unsigned nth);

struct world {
    struct peer *peer;
    he2b_loop *loop;
    he2b_options *options;
    he2b_session *session;

    /* replaced by tests; called on the threads of the peer */
    world_fn on_create;
    world_fn on_list;
    world_fn on_get;
    world_fn on_connect;
    world_fn on_kill;
    world_fn on_health;
    world_fn on_probe; /* "unstamp" and "restamp" too */
    world_fn on_killer;
    world_fn on_ask;    /* "unknown", unless replaced */
    world_fn on_attach; /* not found, unless replaced */
    world_fn on_upload;
    world_fn on_transfer; /* the one command of a push, a recovery, a pull; 404 */
    world_fn on_command;
    world_fn on_input;
    world_fn on_close_stdin;
    world_fn on_other; /* what nothing above is for; 404 */

    pthread_mutex_t lock;
    char log[WORLD_LOG_MAX]; /* "create probe command kill"; not "get", which comes beside */
    char last_body[WORLD_LOG_MAX];
    unsigned counts[WORLD_KINDS];
    bool exists;               /* a sandbox of the scope, for the list */
    char scope[64];            /* of the last create's metadata */
    char stamp[64];            /* second line of the sandbox's stamp, "": none */
    struct peer_gate killed;   /* the killer ran */
    struct peer_gate inputs;   /* SendInput calls */
    struct peer_gate released; /* for a test to let a serve function go on */
    char *input;               /* all that came by SendInput, for stdin or a terminal */
    size_t input_len;

    /* what a command told; command_*() below */
    char messages[WORLD_LOG_MAX]; /* the session's log, WARNING and above */
    bool trouble;                 /* "refused" was seen in the trace */
};

/* The peers of the worlds that are made from now on read no protobuf: all is done in JSON. Tests of
 * streams run in both codecs: WORLD_RUN(tests) does that in a main(). */
void world_in_json(bool yes);
#define WORLD_RUN(tests)                                                                           \
    (world_in_json(false),                                                                         \
     world_failed(cmocka_run_group_tests_name("protobuf", tests, NULL, NULL)),                     \
     world_in_json(true), world_failed(cmocka_run_group_tests_name("JSON", tests, NULL, NULL)))
/* Adds to what it returned before: two sides of a "+" may take turns with their calls. */
int world_failed(int more);

/* Makes all of it; the session comes from world_session(). cmocka's setup and teardown. */
int world_setup(void **state);
int world_teardown(void **state);
/* Makes the session of the world with the options as they are now. */
he2b_session *world_session(struct world *world);
/* Its repeats of calls to the control plane come at once, and end soon. */
void world_soon(he2b_session *session);

/* The requests so far, in order of arrival, joined with blanks. Copied under the lock. */
const char *world_log(struct world *world);
/* Adds a word of the test's own to the log. */
void world_note(struct world *world, const char *word);
/* How often a kind of request came: "create", "get". */
unsigned world_count(struct world *world, const char *kind);
/* The body of the last request of that kind is in it. */
const char *world_body(struct world *world);

/* Runs the loop until something calls world_stop(); fails the test at the deadline. */
void world_run(struct world *world);
void world_stop(struct world *world);
/* ... from any thread, so that of the peer. */
void world_stop_soon(struct world *world);
/* Lets a millisecond go by: a lease of 60 s that was asked for in this one has 60 s left, which is
 * enough. */
void world_tick(void);

/* The marker's word of a command's Start. */
bool world_word(const struct peer_request *request, char word[WORLD_WORD + 1]);
/* Argument n of a Start, from its end: 0 is the last. */
bool world_argument(const struct peer_request *request, size_t from_end, char *out, size_t size);
/* {"event":{"start":{"pid":100}}} */
void world_start(struct peer_request *request);
/* The wrapper's marker with code. */
void world_marker(struct peer_request *request, int code);
/* {"event":{"end":...}} with an exit code, then the end of the stream. */
void world_end(struct peer_request *request, int code);
/* start, output, marker, end */
void world_command(struct peer_request *request, const char *output, int code);
/* start, output, end: what a short look printed */
void world_says(struct peer_request *request, const char *output);
/* 502: no such sandbox here; its port is not open (wire B.4) */
void world_no_sandbox(struct peer_request *request);
void world_no_port(struct peer_request *request);
void world_error(struct peer_request *request, int status, const char *message);

/* A command with what became of it. */
struct ran {
    struct world *world;
    he2b_command *command;
    unsigned times; /* how often done was called */
    enum he2b_outcome outcome;
    int exit_code;
    int failure; /* code, 0: none */
    char failure_text[512];
    int stdin_failure;
    int out; /* read end of its output, -1: none wanted */
    bool keep_running;
};

/* Makes and starts a command; its end stops the loop. */
void ran_start(struct ran *ran, struct world *world, const char *text);
/* ... made only, to be changed before ran_go() */
void ran_new(struct ran *ran, struct world *world, const char *text);
void ran_go(struct ran *ran);
/* Reads its output to the end; NUL-terminated, static. */
const char *ran_output(struct ran *ran);
void ran_del(struct ran *ran);
/* start, run the loop until it has ended */
void ran_whole(struct ran *ran, struct world *world, const char *text);

/* Closes the session and runs the loop until that is done; returns the failure's code or 0. */
int world_close(struct world *world);

#endif
