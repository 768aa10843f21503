/*
 * hermes_e2b._native: what its files share. Only he2b.h of the library is used.
 *
 * Three kinds of thread meet here. Python's threads call the methods; the one loop thread of the
 * process runs the library; neither ever waits for the other with a lock held, and the loop thread
 * never touches Python. What both see is in counted structs (struct shared) with a mutex and a
 * condition.
 */
#ifndef HE2B_PYBIND_NATIVE_H
#define HE2B_PYBIND_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "he2b.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    /* Messages that wait to be logged by Python; the oldest ones go first. */
    NATIVE_LOG_MAX = 128,
    NATIVE_TEXT_MAX = 1024,
};

/* ---- loop.c: the one loop thread of the process ---- */

struct native_loop {
    he2b_loop *loop;
    pid_t pid;
};

struct native_state {
    PyTypeObject *session_type;
    PyTypeObject *waiter_type;
    PyTypeObject *command_type;
    PyTypeObject *step_type;
    PyTypeObject *transfer_type;
};

/* Started at the first use. NULL with an exception: no memory or thread, or a forked child. */
struct native_loop *native_loop_get(void);
/* False with an exception in a forked child of the process that made the loop. */
bool native_here(const struct native_loop *loop);

/* A detached thread in which no signal is delivered: those are for Python's. False: none to be had.
 */
bool native_thread_start(void *(*fn)(void *arg), void *arg);

/* ---- shared.c: what a Python object and the loop thread have in common ---- */

/* A failure's parts, copied out of the library. */
struct native_failure {
    bool set;
    int code;
    int status;
    char action[NATIVE_TEXT_MAX];
    char cause[NATIVE_TEXT_MAX];
    char hint[NATIVE_TEXT_MAX];
    char text[NATIVE_TEXT_MAX];
};
void native_failure_copy(struct native_failure *ret, const he2b_failure *failure);
void native_failure_error(struct native_failure *ret, const char *action, int error);
void native_failure_because(struct native_failure *ret, const char *action, int error,
                            const char *cause);
/* None, or a dict of code, status, action, cause, hint, text. */
PyObject *native_failure_dict(const struct native_failure *failure);

/* A thing that is awaited: counted, since either side may be gone first. */
struct native_event {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int references;
    bool done;
    bool poked; /* whoever waits is to look around */
    struct native_failure failure;
    struct native_event *next_awaited; /* native_shared's lock */
    void *wish; /* loop thread only: the user of the prepare that it is for, until its answer */
};
struct native_event *native_event_new(void);
struct native_event *native_event_ref(struct native_event *event);
void native_event_unref(struct native_event *event);
void native_event_finish(struct native_event *event, const he2b_failure *failure);
/*
 * Waits up to ms with the GIL released, in slices that let signals in. 1 done, 0 not yet, or poked,
 * -1 exception.
 */
int native_event_wait(struct native_event *event, long ms);

/* Runs fn(arg) on the loop thread and waits for its end (a moment: nothing there blocks). */
bool native_call(struct native_loop *loop, void (*fn)(void *arg), void *arg);

/* ---- session.c, waiter.c, command.c ---- */

struct native_log_line {
    int level;
    char text[NATIVE_TEXT_MAX];
};

/* The session as both sides know it. */
struct native_shared {
    pthread_mutex_t lock;
    int references;
    struct native_loop *loop;
    he2b_session *session; /* loop thread only */
    unsigned wishes;       /* loop thread only: prepares and commands that are not answered */
    he2b_step *step;       /* the caller's, that nobody took yet */
    struct native_event *awaited;
    struct native_log_line log[NATIVE_LOG_MAX];
    unsigned log_first;
    unsigned log_count;
    unsigned log_lost;
    char sandbox_id[256];
    char home[4096];
    char cwd[4096];
    char state[32];
    char role[32];
    char scope[72];
    unsigned generation;
};
struct native_shared *native_shared_ref(struct native_shared *shared);
void native_shared_unref(struct native_shared *shared);
/* Loop thread: copies what the session now says of itself. */
void native_shared_look(struct native_shared *shared);

/* Whoever waits for event hears of a step that comes, until it is forgotten. */
void native_shared_await(struct native_shared *shared, struct native_event *event);
/* Harmless for one that is not awaited. */
void native_shared_forget(struct native_shared *shared, const struct native_event *event);
void native_shared_poke(struct native_shared *shared);

/* ---- step.c ---- */

/* The he2b_step_fn of a session; user is its native_shared. */
void native_step(void *user, he2b_step *step);
/* Loop thread: one wish less, or more. With none left, a step that nobody took is abandoned. */
void native_step_wish(struct native_shared *shared);
void native_step_unwish(struct native_shared *shared);
/* Loop thread: the session is closed or gone; nobody will take what is there. */
void native_step_drop(struct native_shared *shared);
/* A Step of the caller's own kinds, or None. pull: those of an end, else all others. */
PyObject *native_step_take(struct native_state *state, struct native_shared *shared, bool pull);

/* ---- transfer.c ---- */

/* session: the Python object, which outlives it. */
PyObject *native_transfer_new(struct native_state *state, PyObject *session,
                              struct native_shared *shared, const char *home);

extern PyType_Spec native_step_spec;
extern PyType_Spec native_transfer_spec;
extern PyType_Spec native_session_spec;
extern PyType_Spec native_waiter_spec;
extern PyType_Spec native_command_spec;

PyObject *native_waiter_new(struct native_state *state, struct native_event *event,
                            struct native_shared *shared);
/* Nobody hears the answer of event any more: its prepare is cancelled (B-64). */
void native_session_unwish(struct native_shared *shared, struct native_event *event);
PyObject *native_command_start(struct native_state *state, struct native_shared *shared,
                               PyObject *args, PyObject *kwargs);

#endif
