/*
 * hermes-e2b: run commands in an E2B sandbox from an event-driven, single-threaded C program.
 *
 * Rules of the road (docs/guide.md says why):
 *
 *  1. One thread owns a loop and everything made from it. Every function below is called on the
 *     thread that runs the loop, or before it runs. The exceptions are marked "any thread":
 *     he2b_loop_post() and the functions on plain values (errors, versions, options).
 *  2. Nothing blocks. A function that starts something returns at once; its outcome arrives as one
 *     call of the callback given to it, never from inside the function that started it.
 *  3. Objects are opaque: T_new(T **ret) makes one and leaves *ret alone on failure, T_del(T *)
 *     frees one and accepts NULL. What is owned by whom is said at each function.
 *  4. Strings are NUL-terminated UTF-8 unless a length goes with them; a string that a getter
 *     returns is borrowed and lives as long as the object says.
 *  5. Command output crosses to other threads through a pipe, and nothing else does.
 *  6. After fork() the child may use none of this; every call in it answers HE2B_ERR_FORK.
 *
 * "B-..." cites a rule of the behaviour contract, in docs/guide.md by number.
 */
#ifndef HE2B_H
#define HE2B_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ----------------------------------------------------------------------------------
 */

#define HE2B_VERSION "0.1.0"
/* 0xMMmmpp */
#define HE2B_VERSION_NUMBER 0x000100

#if defined(__GNUC__)
#define HE2B_PUBLIC __attribute__((visibility("default")))
#else
#define HE2B_PUBLIC
#endif

/* The version of the library that runs, for comparison with HE2B_VERSION. Static; any thread. */
HE2B_PUBLIC const char *he2b_version(void);

/* ---- errors -----------------------------------------------------------------------------------
 */

/*
 * Every code with its name and its sentence, in one list: enum, he2b_error_name() and
 * he2b_strerror() are made from it. Codes never change; new ones are added at the end of a range.
 * Below HE2B_ERR_FATAL only T_del() may be called on the object that answered it.
 */
#define HE2B_ERRORS(X)                                                                             \
    X(OK, 0, "no error")                                                                           \
    X(ERR_ARG, -501, "an argument is not allowed")                                                 \
    X(ERR_SETTING, -502, "a setting cannot be used as given")                                      \
    X(ERR_KEY, -503, "no API key, or the server does not accept it")                               \
    X(ERR_REFUSED, -504, "the server refused, and repeating the request will not change that")     \
    X(ERR_UNREACHABLE, -505, "the server cannot be reached")                                       \
    X(ERR_TLS, -506, "the server's certificate or the TLS connection cannot be trusted")           \
    X(ERR_PROTOCOL, -507, "the answer is not one that an E2B server gives")                        \
    X(ERR_BUSY, -508, "the server is busy or limits the rate of requests")                         \
    X(ERR_SERVER, -509, "the server reports trouble of its own")                                   \
    X(ERR_GONE, -510, "the sandbox no longer exists")                                              \
    X(ERR_LOST, -511, "the connection was lost, and the outcome is not known")                     \
    X(ERR_STATE, -512, "not possible in the present state of the object")                          \
    X(ERR_CLOSED, -513, "the session is closed or closing")                                        \
    X(ERR_CANCELLED, -514, "cancelled by the caller")                                              \
    X(ERR_FORK, -515, "used in a forked child of the process that made it")                        \
    X(ERR_OVERFLOW, -516, "more data than the bound allows")                                       \
    X(ERR_SYSTEM, -517, "an operating system call failed")                                         \
    X(ERR_ROLE, -518, "another live Hermes session holds the role that this needs")                \
    X(ERR_NOT_READY, -519, "the sandbox's Hermes state is being rebuilt or known to be stale")     \
    X(ERR_STEP, -520, "a step on this machine failed")                                             \
    X(ERR_FATAL, -900, "below this value an object can only be deleted")                           \
    X(ERR_NOMEM, -901, "out of memory")                                                            \
    X(ERR_LOOP, -902, "the event loop failed")

enum he2b_error {
#define HE2B_X(name, value, text) HE2B_##name = (value),
    HE2B_ERRORS(HE2B_X)
#undef HE2B_X
};

/* "HE2B_ERR_GONE" for HE2B_ERR_GONE; "HE2B_ERR_?" for a number that is none. Static; any thread. */
HE2B_PUBLIC const char *he2b_error_name(int error);
/* The sentence of the list above. Static; any thread. */
HE2B_PUBLIC const char *he2b_strerror(int error);

/*
 * What went wrong, in the parts that a message needs. Borrowed: valid until the callback that got
 * it returns, or as long as the object it was read from. All texts are one line, bounded, redacted
 * (B-100) and never NULL. Any thread that holds it.
 */
typedef struct he2b_failure he2b_failure;

/* One of enum he2b_error, never HE2B_OK. */
HE2B_PUBLIC int he2b_failure_code(const he2b_failure *failure);
/* The HTTP status that was answered, 0 if none was. */
HE2B_PUBLIC int he2b_failure_status(const he2b_failure *failure);
/* What was being done: "create sandbox". */
HE2B_PUBLIC const char *he2b_failure_action(const he2b_failure *failure);
/* Why it failed: the server's own words or the system's, with the setting they concern. */
HE2B_PUBLIC const char *he2b_failure_cause(const he2b_failure *failure);
/* What to do now; "" if there is nothing to say. */
HE2B_PUBLIC const char *he2b_failure_hint(const he2b_failure *failure);
/* "action: cause (hint)": the whole as one line. */
HE2B_PUBLIC const char *he2b_failure_text(const he2b_failure *failure);

/* ---- log --------------------------------------------------------------------------------------
 */

enum he2b_log_level {
    HE2B_LOG_DEBUG = 10,
    HE2B_LOG_INFO = 20,
    HE2B_LOG_WARNING = 30,
    HE2B_LOG_ERROR = 40,
};

/*
 * Gets every message of the object it was given to: one line, no newline, redacted (B-100). Called
 * on the loop thread (options: on the calling thread); must not call back into the library.
 */
typedef void (*he2b_log_fn)(void *user, int level, const char *text);

/* ---- options ----------------------------------------------------------------------------------
 */

/*
 * The settings of one session (B-2), each with a default. Not tied to a loop: any thread, one at a
 * time. A session copies what it needs, so options may be deleted right after he2b_session_new().
 *
 *   name                     default      meaning
 *   api_key                  -            E2B API key; white space around it is dropped (B-6)
 *   domain                   e2b.app      base domain
 *   api_url                  -            control plane, instead of https://api.<domain>
 *   sandbox_url              -            data plane of every sandbox, instead of the domain rules
 *   template                 base         template to create a sandbox from
 *   cwd                      /home/user   working directory of commands that name none
 *   lease_seconds            300          lease asked for; at least 60 (B-2, B-30)
 *   command_grace_seconds    30           added to a command's limit (B-30)
 *   allow_internet_access    true         of a created sandbox
 *   secure                   true         access token required by a created sandbox
 *   ca_file                  -            CA bundle, before the ones of B-101
 */
typedef struct he2b_options he2b_options;

/*
 * Makes options with their defaults. log may be NULL.
 * Returns HE2B_OK, HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_options_new(he2b_options **ret, he2b_log_fn log, void *user);
HE2B_PUBLIC void he2b_options_del(he2b_options *options);

/*
 * Sets one option from text; NULL or "" means the default. A value that cannot be read as the
 * option's type is replaced by the default, or for a switch by its safer value, and logged once as
 * a WARNING that names option and value (B-3): that is no error.
 * Returns HE2B_OK, HE2B_ERR_ARG (no such option), HE2B_ERR_SETTING (control characters in a key or
 * URL, a URL that is not http or https), HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_options_set(he2b_options *options, const char *name, const char *value);

/*
 * Adds one pair to the metadata of a created sandbox; the product's own pairs win (B-4).
 * Returns HE2B_OK, HE2B_ERR_ARG (empty key), HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_options_add_metadata(he2b_options *options, const char *key,
                                          const char *value);

/*
 * Reads E2B_API_KEY, E2B_DOMAIN, E2B_API_URL and E2B_SANDBOX_URL from the process environment, as
 * E2B's SDKs do (B-6). For programs; a host with its own secrets sets the options itself (B-7).
 * Returns what he2b_options_set() returns; the log then names the variable in an ERROR.
 */
HE2B_PUBLIC int he2b_options_from_environment(he2b_options *options);

/* The option as text, its default if it was not set; NULL if there is no such option, and for
 * api_key, which nothing hands out. Lives until the next call on these options. */
HE2B_PUBLIC const char *he2b_options_get(const he2b_options *options, const char *name);

/* ---- loop -------------------------------------------------------------------------------------
 */

typedef struct he2b_loop he2b_loop;

/* Returns HE2B_OK, HE2B_ERR_NOMEM, HE2B_ERR_LOOP (cause on errno), HE2B_ERR_SYSTEM. */
HE2B_PUBLIC int he2b_loop_new(he2b_loop **ret);

/* Frees a loop that does not run and from which nothing is left. Any thread, after the run. */
HE2B_PUBLIC void he2b_loop_del(he2b_loop *loop);

/*
 * Runs until he2b_loop_stop(). The calling thread is the loop thread from here on.
 * Returns HE2B_OK, HE2B_ERR_STATE (already running), HE2B_ERR_FORK, HE2B_ERR_LOOP.
 */
HE2B_PUBLIC int he2b_loop_run(he2b_loop *loop);

/* Ends he2b_loop_run() after the callbacks of this turn of the loop. Loop thread. */
HE2B_PUBLIC void he2b_loop_stop(he2b_loop *loop);

/*
 * Calls fn(arg) once on the loop thread, soon, in the order of the posts. ANY THREAD. The only way
 * in from another one. What was posted and not run when the loop is deleted is dropped.
 * Returns HE2B_OK, HE2B_ERR_NOMEM, HE2B_ERR_FORK.
 */
HE2B_PUBLIC int he2b_loop_post(he2b_loop *loop, void (*fn)(void *arg), void *arg);

/*
 * Calls fn(arg) on the loop thread for each delivery of a signal to the process; fn NULL ends it.
 * For programs only: it installs a process-wide handler, which the library never does by itself.
 * Returns HE2B_OK, HE2B_ERR_FORK, HE2B_ERR_NOMEM, HE2B_ERR_LOOP.
 */
HE2B_PUBLIC int he2b_loop_on_signal(he2b_loop *loop, int signum, void (*fn)(void *arg), void *arg);

/* ---- session: one sandbox and what is done in it -------------------------------------------- */

typedef struct he2b_session he2b_session;

/*
 * Makes a session. Contacts nobody (B-20): the sandbox is created, or the one named by
 * he2b_session_set_sandbox() connected to, by the first he2b_session_prepare() or command.
 * log may be NULL. The loop must outlive the session.
 * Returns HE2B_OK, HE2B_ERR_SETTING (URLs), HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_session_new(he2b_session **ret, he2b_loop *loop, const he2b_options *options,
                                 he2b_log_fn log, void *user);

/*
 * Uses an existing sandbox instead of creating one. It is connected to, its lease only ever
 * extended (B-31), and never killed by he2b_session_close(). Before the first prepare or command.
 * Returns HE2B_OK, HE2B_ERR_ARG (not an E2B sandbox id), HE2B_ERR_STATE, HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_session_set_sandbox(he2b_session *session, const char *sandbox_id);

/*
 * Makes the session one of a persistent scope (B-10): its sandbox is found or made, shared with the
 * other sessions of the scope, paused by the server when nobody extends its lease, and never killed
 * or paused by this one. home is the profile home, an absolute path, under which <home>/cache/e2b
 * holds the locks and the marker that sessions share; task may be NULL or "" ("default"). Neither
 * leaves this machine (B-11). host_state not 0: the caller does the steps HE2B_STEP_RECOVER, _PUSH,
 * _SYNC and _PULL; 0: there is no Hermes state to move, and they are never asked for.
 * Before the first prepare or command.
 * Returns HE2B_OK, HE2B_ERR_SETTING (home), HE2B_ERR_STATE, HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_session_set_scope(he2b_session *session, const char *home, const char *task,
                                       int host_state);

/*
 * The sandbox that this session makes for itself gets Hermes' state: host_state not 0: the caller
 * does HE2B_STEP_PUSH when the sandbox is new to the session, or was booted, before any command
 * runs there, HE2B_STEP_SYNC before each command (B-73), and HE2B_STEP_PULL at the end, before the
 * kill (B-91). A push or sync that fails refuses the commands that wait for it; the next one tries
 * it anew. No locks, no marker, no HE2B_STEP_RECOVER: the sandbox is no other session's. 0, the
 * default: there is nothing to move. Before the first prepare or command. Returns HE2B_OK,
 * HE2B_ERR_STATE (too late, or the session has a scope or was given a sandbox).
 */
HE2B_PUBLIC int he2b_session_set_host_state(he2b_session *session, int host_state);

/*
 * Replaces the API key for all later requests (B-7); NULL or "" removes it. Copied, and wiped with
 * the session. The session's own end (he2b_session_close) goes with the key that last reached its
 * sandbox, whatever was set since.
 * Returns HE2B_OK, HE2B_ERR_SETTING (control characters), HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_session_set_api_key(he2b_session *session, const char *key);

/* ---- steps: what only the caller's machine can do ---- */

/*
 * A persistent session needs files of this machine: locks and the marker, which the library knows,
 * and Hermes' state, which only the caller knows. Files can block, so the loop's thread does not
 * touch them: it hands out one step at a time and goes on when that is answered.
 */
enum he2b_step_kind {
    /* the library's own: he2b_step_do() does them, on any thread */
    HE2B_STEP_ELECT = 1,   /* creation lock, then writer lease (B-24, B-60) */
    HE2B_STEP_PROMOTE = 2, /* writer lease, else a look at the marker (B-65) */
    HE2B_STEP_MARK = 3,    /* the scope is dirty (B-62) */
    HE2B_STEP_CLEAR = 4,   /* and is no more */
    HE2B_STEP_RELEASE = 5, /* every lock is let go (B-64, B-68) */
    /* the caller's, in a session with host_state */
    HE2B_STEP_RECOVER = 6, /* what the sandbox alone has comes to the host (B-62, section 8) */
    HE2B_STEP_PUSH = 7,    /* the host's state goes into the sandbox (B-73) */
    HE2B_STEP_SYNC = 8,    /* the host's changes, before a command (B-66, B-70) */
    HE2B_STEP_PULL = 9,    /* the sandbox's state comes home, at the end (B-91) */
};

enum he2b_step_outcome {
    HE2B_STEP_DONE = 1,
    HE2B_STEP_FAILED = 2,
    HE2B_STEP_AGAIN = 3,     /* a pull: reconnect, then ask for it once more */
    HE2B_STEP_ABANDONED = 4, /* nothing was begun, and nobody is left who would do it */
};

typedef struct he2b_step he2b_step;

/*
 * Gets each step, on the loop thread, and must see to it that it is answered once by
 * he2b_step_done(). It may be called and answered from inside; it may outlive the session.
 */
typedef void (*he2b_step_fn)(void *user, he2b_step *step);

/*
 * Without it the library does its own steps itself, on the loop's thread: for programs with one
 * session and no host_state. Before the first prepare or command.
 * Returns HE2B_OK, HE2B_ERR_STATE.
 */
HE2B_PUBLIC int he2b_session_on_step(he2b_session *session, he2b_step_fn fn, void *user);

/* Any thread that has the step. */
HE2B_PUBLIC enum he2b_step_kind he2b_step_kind(const he2b_step *step);
/* "push" for HE2B_STEP_PUSH; "?" for a number that is none. Static; any thread. */
HE2B_PUBLIC const char *he2b_step_name(int kind);

/* Does a step of the library's own, which may block on files. ANY THREAD, one at a time per step;
 * harmless for the caller's kinds. Its outcome is in the step: answer HE2B_STEP_DONE. */
HE2B_PUBLIC void he2b_step_do(he2b_step *step);

/* Answers a step; it is gone afterwards. why: one line for HE2B_STEP_FAILED, else NULL. Loop
 * thread. */
HE2B_PUBLIC void he2b_step_done(he2b_step *step, enum he2b_step_outcome outcome, const char *why);

/* Called once, with NULL when the session is ready and with the failure when it is not. */
typedef void (*he2b_session_fn)(void *user, const he2b_failure *failure);

/*
 * Brings the session to where a command can start: sandbox running, its home known, and a lease
 * that covers a command of timeout_ms (0: no limit) with its grace (B-30). Several may wait at a
 * time; they share one bring-up. A session that failed tries again at the next call.
 * done comes with HE2B_ERR_KEY, _REFUSED, _UNREACHABLE, _TLS, _PROTOCOL, _BUSY, _SERVER, _GONE,
 * _LOST, _CLOSED, _ROLE (B-23), _NOT_READY (B-65), _STEP, _NOMEM, or HE2B_ERR_CANCELLED after
 * he2b_session_cancel() of the same user. Returns HE2B_OK (done will come), HE2B_ERR_CLOSED,
 * HE2B_ERR_FORK, HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_session_prepare(he2b_session *session, int64_t timeout_ms,
                                     he2b_session_fn done, void *user);

/* Ends the waiting of each prepare with this user: its done comes with HE2B_ERR_CANCELLED, from
 * the loop. The bring-up itself goes on as long as somebody else waits for it. */
HE2B_PUBLIC void he2b_session_cancel(he2b_session *session, void *user);

/*
 * Ends the session when its last command has ended; new commands are refused at once (B-90). In a
 * scope the writer's state is pulled home, the role released last (B-91, B-68), and the sandbox
 * left to its lease. Else a sandbox that this session created is killed, tried again while the
 * outcome is not known, and one it was given is left as it is; state that was pushed to one it
 * created is pulled home first, and a pull that fails keeps no sandbox alive (B-93). done comes
 * with NULL, or with the failure of the pull or of the kill, which the server's lease then ends. A
 * second close joins the first. Returns HE2B_OK (done will come), HE2B_ERR_CLOSED (being deleted),
 * HE2B_ERR_FORK, HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_session_close(he2b_session *session, he2b_session_fn done, void *user);

/* Gives the pull of a close up, on its way or still to come: the rest of the close goes on at once
 * (B-94, B-96). A step that is out for it may be answered later, or never. Before a close, and
 * after its pull: nothing happens. */
HE2B_PUBLIC void he2b_session_abandon_pull(he2b_session *session);

/*
 * Frees a session. Without a finished close its commands, and whoever waits for it, end with
 * HE2B_ERR_CLOSED (their callbacks are called before this returns), and the sandbox is left to its
 * lease.
 */
HE2B_PUBLIC void he2b_session_del(he2b_session *session);

/* Name of the lifecycle chart's state, as in docs/diagrams: "ready". Static. */
HE2B_PUBLIC const char *he2b_session_state(const he2b_session *session);
/* Id of the sandbox, its $HOME, its working directory; "" while not known. They live until the
 * next call on the session. A command that finds the working directory gone starts in $HOME, or in
 * "/", with a WARNING (FB-40); that is the working directory then. */
HE2B_PUBLIC const char *he2b_session_sandbox_id(const he2b_session *session);
HE2B_PUBLIC const char *he2b_session_home(const he2b_session *session);
HE2B_PUBLIC const char *he2b_session_cwd(const he2b_session *session);
/* The scope's digest (B-10); "" without one. As long as the session. */
HE2B_PUBLIC const char *he2b_session_scope(const he2b_session *session);
/* Name of the writer chart's state: "holding", "reading". Static. */
HE2B_PUBLIC const char *he2b_session_role(const he2b_session *session);
/* How often this session has found itself in a sandbox with nothing of its own running in it: 0
 * before the first, more after one was replaced (B-97) or was paused meanwhile (B-35). */
HE2B_PUBLIC unsigned he2b_session_generation(const he2b_session *session);

/* ---- command ----------------------------------------------------------------------------------
 */

typedef struct he2b_command he2b_command;

/* Where a command ended (B-41): only HE2B_ENDED has an exit code of the command's own. */
enum he2b_outcome {
    /* its shell ended; the exit code is its own */
    HE2B_ENDED = 1,
    /* it ran into its limit and its process group was killed; exit code 124 */
    HE2B_TIMED_OUT = 2,
    /* he2b_command_kill(); exit code 130 */
    HE2B_KILLED = 3,
    /* it never started; the failure says why; exit code 255 */
    HE2B_NOT_STARTED = 4,
    /* it started, or may have, and its end was not seen; exit code 255, never run again (B-41) */
    HE2B_UNKNOWN = 5,
    /* it ended, and some of its output may be missing, since the connection was lost on the way;
     * the failure tells its own code; exit code 255 (B-41, B-48) */
    HE2B_INCOMPLETE = 6,
};

/* The result of a command: borrowed by the callback that gets it. */
typedef struct he2b_result he2b_result;

HE2B_PUBLIC enum he2b_outcome he2b_result_outcome(const he2b_result *result);
/* 0 to 255; death by signal N is 128+N (B-41). */
HE2B_PUBLIC int he2b_result_exit_code(const he2b_result *result);
/* NULL unless the outcome is HE2B_NOT_STARTED, HE2B_UNKNOWN or HE2B_INCOMPLETE, or a kill could not
 * be delivered. */
HE2B_PUBLIC const he2b_failure *he2b_result_failure(const he2b_result *result);
/* Why stdin could not be delivered in full; NULL if it was. It does not change the exit code
 * (B-45). */
HE2B_PUBLIC const he2b_failure *he2b_result_stdin_failure(const he2b_result *result);

/*
 * Called once, on the loop thread, when the command has ended and all its output is in the pipe,
 * whose write end is closed by then.
 */
typedef void (*he2b_command_fn)(void *user, const he2b_result *result);

/*
 * Makes a command; nothing starts yet. Once its session is deleted it can only be deleted too.
 * Returns HE2B_OK, HE2B_ERR_CLOSED, HE2B_ERR_SYSTEM, HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_command_new(he2b_command **ret, he2b_session *session);

enum {
    /* Bytes of a command's text. */
    HE2B_COMMAND_TEXT_MAX = 16 * 1024 * 1024,
};

/*
 * The shell command, as data: any bytes but NUL, up to HE2B_COMMAND_TEXT_MAX of them (B-46).
 * Copied. A text that is not UTF-8, or has 131 071 bytes or more (what one argument of a kernel
 * holds), goes by a file in a private folder of the sandbox, with one more round trip before the
 * command starts; the file is removed before the text runs. To the text that makes no difference,
 * but that a shell's own error lines name "eval". Returns HE2B_OK, HE2B_ERR_ARG (NUL inside),
 * HE2B_ERR_OVERFLOW (longer), HE2B_ERR_STATE (started), HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_command_set_text(he2b_command *command, const char *text, size_t length);

/* Runs the text in a login shell (bash -l) if yes is not 0; the default is bash without it. */
HE2B_PUBLIC void he2b_command_set_login(he2b_command *command, int yes);

/* Milliseconds the command may take; 0, the default, is no limit. */
HE2B_PUBLIC void he2b_command_set_timeout(he2b_command *command, int64_t timeout_ms);

/*
 * The command's standard input, then end of file (B-45); the default is none at all (/dev/null).
 * data is borrowed until the command's callback or its deletion, whichever comes first.
 * Returns HE2B_OK, HE2B_ERR_STATE.
 */
HE2B_PUBLIC int he2b_command_set_stdin(he2b_command *command, const void *data, size_t length);

/*
 * Where stdout and stderr go, as one stream in true order (B-40): the write end of a pipe or
 * socket. It becomes the command's own, set to non-blocking, and is closed when the output ends or
 * the command is deleted. A reader that does not read stops the transfer, and nothing else. Without
 * it the output is thrown away.
 * Returns HE2B_OK (fd is the command's), HE2B_ERR_STATE, HE2B_ERR_SYSTEM or HE2B_ERR_NOMEM (fd
 * stays the caller's).
 */
HE2B_PUBLIC int he2b_command_set_output(he2b_command *command, int fd);

/*
 * A he2b_session_prepare() that found this generation (he2b_session_generation()) was for this
 * command: it starts without another HE2B_STEP_SYNC or look at the role, as long as the session is
 * still where that prepare had brought it. Else, and with 0, the default, it is prepared for as any
 * other. One command for one prepare: B-66 and B-65 hold for each.
 */
HE2B_PUBLIC void he2b_command_set_prepared(he2b_command *command, unsigned generation);

/*
 * Starts it: brings the session up if that is needed, runs the command, watches its limit. done
 * comes once. The command keeps itself alive until then.
 * Returns HE2B_OK (done will come), HE2B_ERR_STATE (started before, or no text), HE2B_ERR_CLOSED,
 * HE2B_ERR_FORK, HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_command_start(he2b_command *command, he2b_command_fn done, void *user);

/*
 * Ends the command's process group, TERM and then KILL, and nothing else (B-43). Its pipe gets its
 * end of file at once; done comes within 5 s, whatever the network does. Harmless when it has
 * ended or was killed.
 */
HE2B_PUBLIC void he2b_command_kill(he2b_command *command);

/* Frees a command; one that still runs is killed first, and its done is not called any more. */
HE2B_PUBLIC void he2b_command_del(he2b_command *command);

/* Name of the command chart's state, as in docs/diagrams: "running". Static. */
HE2B_PUBLIC const char *he2b_command_state(const he2b_command *command);

/* ---- terminal: a shell for a person -----------------------------------------------------------
 */

/*
 * An interactive shell on a terminal in a sandbox that is there. It is no session: it takes no role
 * in a scope, and nothing of what sessions do there is touched by it. While it is open the
 * sandbox's lease is extended, never shortened (B-31).
 */
typedef struct he2b_terminal he2b_terminal;

/* The shell runs: what is typed can be sent. Nothing of its output is in the pipe before. */
typedef void (*he2b_terminal_started_fn)(void *user);
/*
 * Called once, from the loop; it may delete the terminal. failure NULL: the shell ended with
 * exit_code (128+N for signal N), and all its output is in the pipe, whose write end is closed.
 * Else exit_code is 255: it could not be opened, or its connection was lost, HE2B_ERR_LOST, or the
 * sandbox with it, HE2B_ERR_GONE; the shell may then run on, and its output goes nowhere.
 */
typedef void (*he2b_terminal_ended_fn)(void *user, int exit_code, const he2b_failure *failure);
/* What was sent has been typed there. */
typedef void (*he2b_terminal_sent_fn)(void *user);

/*
 * Makes a terminal; nothing starts yet, and nobody is contacted. options are copied.
 * Returns HE2B_OK, HE2B_ERR_ARG (not an E2B sandbox id), HE2B_ERR_FORK, HE2B_ERR_SYSTEM,
 * HE2B_ERR_NOMEM, HE2B_ERR_LOOP.
 */
HE2B_PUBLIC int he2b_terminal_new(he2b_terminal **ret, he2b_loop *loop, const he2b_options *options,
                                  const char *sandbox_id);

/* TERM of the shell; NULL or "": "xterm-256color". Returns HE2B_OK, HE2B_ERR_ARG (other than
 * visible ASCII), HE2B_ERR_STATE (started), HE2B_ERR_NOMEM. */
HE2B_PUBLIC int he2b_terminal_set_type(he2b_terminal *terminal, const char *type);

/* Where what the terminal shows goes, in bytes; as he2b_command_set_output(). */
HE2B_PUBLIC int he2b_terminal_set_output(he2b_terminal *terminal, int fd);

/* Its size in characters, before and after the start; 0: 80 and 24. The newest is told to the
 * sandbox. Returns HE2B_OK, HE2B_ERR_ARG (above 65535). */
HE2B_PUBLIC int he2b_terminal_resize(he2b_terminal *terminal, unsigned cols, unsigned rows);

/*
 * Connects to the sandbox, which wakes a paused one, and starts a login shell there: bash, or sh
 * where there is none. ended comes once, with HE2B_ERR_KEY, _REFUSED, _UNREACHABLE, _TLS,
 * _PROTOCOL, _BUSY, _SERVER, _GONE, _LOST, _NOMEM, _LOOP as a failure. Returns HE2B_OK (ended will
 * come), HE2B_ERR_STATE (started before), HE2B_ERR_FORK, HE2B_ERR_NOMEM, HE2B_ERR_LOOP.
 */
HE2B_PUBLIC int he2b_terminal_start(he2b_terminal *terminal, he2b_terminal_started_fn started,
                                    he2b_terminal_ended_fn ended, void *user);

/*
 * Types length bytes, at most 1 MiB, which are copied. One piece is on its way at a time: the next
 * may follow when sent was called, which does not happen any more once ended was.
 * Returns HE2B_OK, HE2B_ERR_STATE (does not run, or a piece is on its way), HE2B_ERR_OVERFLOW,
 * HE2B_ERR_NOMEM, HE2B_ERR_LOOP.
 */
HE2B_PUBLIC int he2b_terminal_send(he2b_terminal *terminal, const void *data, size_t length,
                                   he2b_terminal_sent_fn sent, void *user);

/* Process id of what leads the terminal in the sandbox; 0 before its start. SIGHUP to it ends the
 * shell of one that was left. */
HE2B_PUBLIC int64_t he2b_terminal_pid(const he2b_terminal *terminal);

/* Frees a terminal. One that is open is left: what runs in it goes on in the sandbox, and its
 * output goes nowhere. */
HE2B_PUBLIC void he2b_terminal_del(he2b_terminal *terminal);

/* ---- transfer: Hermes' state between this machine and a sandbox --------------------------------
 */

/*
 * One movement of files between this machine and the sandbox of a session: a push, a recovery, or a
 * pull. It answers the caller's steps (HE2B_STEP_RECOVER, _PUSH, _SYNC, _PULL), or serves a program
 * whose session is ready. One is used for one movement, by one thread at a time; it must be deleted
 * before its session is. Paths in the sandbox are relative to $HOME/.hermes there (B-71), plain
 * (neither empty parts nor "." nor ".."), and any bytes but NUL.
 */
typedef struct he2b_transfer he2b_transfer;

enum he2b_file_kind {
    HE2B_FILE_CREDENTIAL = 1,
    HE2B_FILE_SKILL = 2, /* below skills/ or memories/ */
    HE2B_FILE_OTHER = 3,
};

/* The most bytes that a pull writes, and that what it reads may inflate to (B-87). */
#define HE2B_PULL_MAX INT64_C(2147483648)

/* Called once, from the loop: NULL, or why nothing, or not all, was moved. It may delete the
 * transfer. */
typedef void (*he2b_transfer_fn)(void *user, const he2b_failure *failure);

/*
 * Makes one; contacts nobody. home: the profile home, an absolute path. Loop thread.
 * Returns HE2B_OK, HE2B_ERR_SETTING (home), HE2B_ERR_CLOSED, HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_transfer_new(he2b_transfer **ret, he2b_session *session, const char *home);

/*
 * A file that a push sends: host, where it is on this machine, and path, where it goes. The home's
 * own .env and config.yaml are left out, with a note (B-74). remove: path is deleted there.
 * protect: host, absolute or below home, is a credential file or (mirrored not 0) a mirrored
 * folder, which no sandbox' data is written to (B-83). Any thread, before the start. Return
 * HE2B_OK, HE2B_ERR_ARG (path is not plain), HE2B_ERR_STATE, HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_transfer_add(he2b_transfer *transfer, const char *host, const char *path,
                                  enum he2b_file_kind kind);
HE2B_PUBLIC int he2b_transfer_remove(he2b_transfer *transfer, const char *path);
HE2B_PUBLIC int he2b_transfer_protect(he2b_transfer *transfer, const char *host, int mirrored);

/*
 * The push that follows a recovery deletes what the recovery found deleted on this machine, and
 * starts from what it read of the manifest (B-75). recovered was applied. Before the start.
 * Returns HE2B_OK, HE2B_ERR_STATE, HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_transfer_follow(he2b_transfer *push, const he2b_transfer *recovered);

/*
 * Sends what was added and deletes what was removed: uploads or deletions in 2 round trips, both in
 * 3, whatever the number of files (B-72), with the manifest, whose hash the stamp will repeat
 * (B-35, B-75). Nothing added and nothing removed: the manifest alone. A file that vanished, or
 * changed while it was read, fails the push when everything else has arrived. Loop thread. done
 * comes with HE2B_ERR_STEP (files of this machine, or the sandbox' tar), HE2B_ERR_CANCELLED, or
 * what a command's end may bring. Returns HE2B_OK (done will come), HE2B_ERR_STATE (the session has
 * no sandbox, or started before), HE2B_ERR_FORK, HE2B_ERR_SYSTEM, HE2B_ERR_NOMEM.
 */
HE2B_PUBLIC int he2b_transfer_push(he2b_transfer *transfer, he2b_transfer_fn done, void *user);

/*
 * Takes a snapshot of the sandbox' skills/ and memories/, and its manifest, to this machine, into a
 * file without a name; nothing is written below home yet (B-80, B-86). Returns and reports as
 * he2b_transfer_push().
 */
HE2B_PUBLIC int he2b_transfer_recover(he2b_transfer *transfer, he2b_transfer_fn done, void *user);

/*
 * The whole of the sandbox' .hermes as a tar archive, not compressed, of regular files only, with
 * names that are safe, below fd, which stays the caller's and is written from where it stands
 * (B-91); members are named as Hermes' pull expects them: the absolute path without its leading
 * "/". Of at most HE2B_PULL_MAX bytes. recover not 0: skills/ and memories/ of the same archive are
 * kept for he2b_transfer_apply(), as by he2b_transfer_recover(). fd is a regular file, open for
 * reading and writing: hard links, too, become files, and are read back.
 * Returns and reports as he2b_transfer_push(), and HE2B_ERR_OVERFLOW.
 */
HE2B_PUBLIC int he2b_transfer_pull(he2b_transfer *transfer, int fd, int recover,
                                   he2b_transfer_fn done, void *user);

/*
 * Restores and parks what a recovery or a pull brought (B-80 to B-87). present: the paths, count of
 * them, which this machine would push now: what the manifest has beside them was deleted here, and
 * is deleted there by the push that follows; NULL: nothing was. BLOCKS on files: any thread but the
 * loop's, after done. Returns HE2B_OK, or HE2B_ERR_STATE, HE2B_ERR_STEP, HE2B_ERR_OVERFLOW,
 * HE2B_ERR_PROTOCOL, HE2B_ERR_NOMEM, with *ret_why, which lives as long as the transfer.
 */
HE2B_PUBLIC int he2b_transfer_apply(he2b_transfer *transfer, const char *const *present,
                                    size_t count, const char **ret_why);

/* What a person should hear of it, one line each, redacted and safe for a terminal (B-74, B-80,
 * B-85): the number of them; the text and its enum he2b_log_level. After done and apply. */
HE2B_PUBLIC size_t he2b_transfer_notes(const he2b_transfer *transfer);
HE2B_PUBLIC const char *he2b_transfer_note(const he2b_transfer *transfer, size_t number,
                                           int *ret_level);

/* Files (0 while not known) and bytes of content that were moved so far. ANY THREAD that has it. */
HE2B_PUBLIC void he2b_transfer_progress(const he2b_transfer *transfer, size_t *ret_files,
                                        int64_t *ret_bytes);

/* Ends it: done comes with HE2B_ERR_CANCELLED, from the loop, within 5 s. What has arrived stays.
 * Harmless before the start and after the end. Loop thread. */
HE2B_PUBLIC void he2b_transfer_cancel(he2b_transfer *transfer);

/* Frees one; of one that is on its way nothing is told any more. Loop thread. */
HE2B_PUBLIC void he2b_transfer_del(he2b_transfer *transfer);

/* ---- catalog: looking after sandboxes ---------------------------------------------------------
 */

/*
 * What the server says of one sandbox. Borrowed by the callback that gets it. Texts are as the
 * server wrote them: escape them before they meet a terminal.
 */
typedef struct he2b_sandbox_info he2b_sandbox_info;

HE2B_PUBLIC const char *he2b_sandbox_info_id(const he2b_sandbox_info *info);
/* "running", "paused". */
HE2B_PUBLIC const char *he2b_sandbox_info_state(const he2b_sandbox_info *info);
/* The template's id, and the name it was asked for by; "" if there is none. */
HE2B_PUBLIC const char *he2b_sandbox_info_template(const he2b_sandbox_info *info);
HE2B_PUBLIC const char *he2b_sandbox_info_alias(const he2b_sandbox_info *info);
/* The scope of a persistent one (B-10): metadata hermes_scope; "" for an ephemeral one. */
HE2B_PUBLIC const char *he2b_sandbox_info_scope(const he2b_sandbox_info *info);
/* RFC 3339. A paused one's end is the time at which its pause began. */
HE2B_PUBLIC const char *he2b_sandbox_info_started_at(const he2b_sandbox_info *info);
HE2B_PUBLIC const char *he2b_sandbox_info_end_at(const he2b_sandbox_info *info);
/* Milliseconds that are left of a running one's lease, by the server's own clock (B-32); INT64_MIN:
 * not known. */
HE2B_PUBLIC int64_t he2b_sandbox_info_remaining_ms(const he2b_sandbox_info *info);
/* Not 0 if this product made it: its metadata says hermes_plugin = e2b-terminal. */
HE2B_PUBLIC int he2b_sandbox_info_ours(const he2b_sandbox_info *info);
/* Calls fn for each pair of its metadata whose value is text. */
HE2B_PUBLIC void he2b_sandbox_info_each_metadata(const he2b_sandbox_info *info,
                                                 void (*fn)(void *user, const char *key,
                                                            const char *value),
                                                 void *user);

/* One question to the control plane, repeated within bounds where that helps (B-27). */
typedef struct he2b_catalog he2b_catalog;

/*
 * Called once, from the loop. failure is NULL if it was done. items (count of them): all of a list,
 * newest first; the one that was got; none else. It may delete the question.
 */
typedef void (*he2b_catalog_fn)(void *user, const he2b_failure *failure,
                                const he2b_sandbox_info *const *items, size_t count);

/*
 * Each asks one question; options are copied. Return HE2B_OK (done will come), HE2B_ERR_ARG (not an
 * E2B sandbox id), HE2B_ERR_FORK, HE2B_ERR_NOMEM, HE2B_ERR_LOOP. done comes with HE2B_ERR_KEY,
 * _REFUSED, _UNREACHABLE, _TLS, _PROTOCOL, _BUSY, _SERVER, _GONE, _LOST, _NOMEM.
 */

/* The sandboxes this product made, running and paused; scope NULL: of every scope. All of them or a
 * failure: what is not in the list is not there (B-22). */
HE2B_PUBLIC int he2b_catalog_list(he2b_catalog **ret, he2b_loop *loop, const he2b_options *options,
                                  const char *scope, he2b_catalog_fn done, void *user);
/* Any sandbox of the account. One that is not there is HE2B_ERR_GONE. */
HE2B_PUBLIC int he2b_catalog_get(he2b_catalog **ret, he2b_loop *loop, const he2b_options *options,
                                 const char *sandbox_id, he2b_catalog_fn done, void *user);
/* Extends its lease to now + lease_s, which is never shortened, and wakes a paused one (B-31). */
HE2B_PUBLIC int he2b_catalog_connect(he2b_catalog **ret, he2b_loop *loop,
                                     const he2b_options *options, const char *sandbox_id,
                                     int64_t lease_s, he2b_catalog_fn done, void *user);
/* Ends it, and what was in it is lost; one that is gone is fine (B-91). */
HE2B_PUBLIC int he2b_catalog_kill(he2b_catalog **ret, he2b_loop *loop, const he2b_options *options,
                                  const char *sandbox_id, he2b_catalog_fn done, void *user);
/* Stops it and keeps its files, not its processes; one that is paused is fine. For a person's
 * command only (B-31). */
HE2B_PUBLIC int he2b_catalog_pause(he2b_catalog **ret, he2b_loop *loop, const he2b_options *options,
                                   const char *sandbox_id, he2b_catalog_fn done, void *user);

/* Ends the waiting, from now on, after ms: done comes with HE2B_ERR_LOST then. Returns HE2B_OK,
 * HE2B_ERR_LOOP, HE2B_ERR_NOMEM. */
HE2B_PUBLIC int he2b_catalog_set_limit(he2b_catalog *catalog, int64_t ms);

/* Frees a question; of one that is not answered yet nothing is told any more, and what it asked for
 * may be done all the same. */
HE2B_PUBLIC void he2b_catalog_del(he2b_catalog *catalog);

/*
 * The file with the certificates to trust that https with these options would use (B-101): the
 * option ca_file, the environment's, or the system's. NULL: none is there. Borrowed from the
 * options or the environment.
 */
HE2B_PUBLIC const char *he2b_catalog_ca_file(const he2b_options *options);

/*
 * Whether a session on this host holds the writer's role of scope (B-60): home is the Hermes home
 * as an absolute path. Tries the lock, releases it at once, and makes no file. Blocks on the disk:
 * any thread, not the loop's.
 * Returns HE2B_OK (free), HE2B_ERR_BUSY (held), HE2B_ERR_SETTING (home cannot be used),
 * HE2B_ERR_SYSTEM (it cannot be told; errno says why).
 */
HE2B_PUBLIC int he2b_scope_writer(const char *home, const char *scope);

#ifdef __cplusplus
}
#endif
#endif
