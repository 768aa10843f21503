#include "native.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- failures ---- */

static void copy(char *out, const char *text)
{
    snprintf(out, NATIVE_TEXT_MAX, "%s", text);
}

void native_failure_copy(struct native_failure *ret, const he2b_failure *failure)
{
    memset(ret, 0, sizeof(*ret));
    if (!failure)
        return;
    ret->set = true;
    ret->code = he2b_failure_code(failure);
    ret->status = he2b_failure_status(failure);
    copy(ret->action, he2b_failure_action(failure));
    copy(ret->cause, he2b_failure_cause(failure));
    copy(ret->hint, he2b_failure_hint(failure));
    copy(ret->text, he2b_failure_text(failure));
}

void native_failure_error(struct native_failure *ret, const char *action, int error)
{
    native_failure_because(ret, action, error, he2b_strerror(error));
}

void native_failure_because(struct native_failure *ret, const char *action, int error,
                            const char *cause)
{
    memset(ret, 0, sizeof(*ret));
    ret->set = true;
    ret->code = error;
    copy(ret->action, action);
    copy(ret->cause, cause);
    snprintf(ret->text, sizeof(ret->text), "%s: %s", action, cause);
}

PyObject *native_failure_dict(const struct native_failure *failure)
{
    if (!failure->set)
        Py_RETURN_NONE;
    return Py_BuildValue("{s:s,s:i,s:s,s:s,s:s,s:s}", "code", he2b_error_name(failure->code),
                         "status", failure->status, "action", failure->action, "cause",
                         failure->cause, "hint", failure->hint, "text", failure->text);
}

/* ---- events ---- */

struct native_event *native_event_new(void)
{
    struct native_event *event = calloc(1, sizeof(*event));
    pthread_condattr_t attributes;

    if (!event)
        return NULL;
    pthread_mutex_init(&event->lock, NULL);
    pthread_condattr_init(&attributes);
    /* The host's clock may be set while somebody waits. */
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&event->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    event->references = 1;
    return event;
}

struct native_event *native_event_ref(struct native_event *event)
{
    pthread_mutex_lock(&event->lock);
    event->references++;
    pthread_mutex_unlock(&event->lock);
    return event;
}

void native_event_unref(struct native_event *event)
{
    int left;

    if (!event)
        return;
    pthread_mutex_lock(&event->lock);
    left = --event->references;
    pthread_mutex_unlock(&event->lock);
    if (left)
        return;
    pthread_cond_destroy(&event->changed);
    pthread_mutex_destroy(&event->lock);
    free(event);
}

void native_event_finish(struct native_event *event, const he2b_failure *failure)
{
    pthread_mutex_lock(&event->lock);
    native_failure_copy(&event->failure, failure);
    event->done = true;
    pthread_cond_broadcast(&event->changed);
    pthread_mutex_unlock(&event->lock);
}

/* 1 done, 0 not yet, -1 poked. */
static int wait_done(struct native_event *event, long ms)
{
    struct timespec until;
    int answer;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&event->lock);
    while (!event->done && !event->poked &&
           pthread_cond_timedwait(&event->changed, &event->lock, &until) != ETIMEDOUT) {
    }
    answer = event->done ? 1 : event->poked ? -1 : 0;
    event->poked = false;
    pthread_mutex_unlock(&event->lock);
    return answer;
}

int native_event_wait(struct native_event *event, long ms)
{
    enum {
        /* How long a signal may wait to be heard. */
        SLICE_MS = 100,
    };
    int answer = 0;

    do {
        long slice = ms < SLICE_MS ? ms : SLICE_MS;

        Py_BEGIN_ALLOW_THREADS answer = wait_done(event, slice < 0 ? 0 : slice);
        Py_END_ALLOW_THREADS if (PyErr_CheckSignals() != 0) return -1;
        ms -= slice;
    } while (!answer && ms > 0);
    return answer == 1;
}

/* ---- calls ---- */

struct call {
    struct native_event *event;
    void (*fn)(void *arg);
    void *arg;
};

static void run_call(void *arg)
{
    struct call *call = arg;
    struct native_event *event = call->event;

    call->fn(call->arg);
    native_event_finish(event, NULL);
    native_event_unref(event);
}

bool native_call(struct native_loop *loop, void (*fn)(void *arg), void *arg)
{
    struct native_event *event = native_event_new();
    struct call call = {.event = event, .fn = fn, .arg = arg};
    int error;

    if (!event) {
        PyErr_NoMemory();
        return false;
    }
    native_event_ref(event);
    error = he2b_loop_post(loop->loop, run_call, &call);
    if (error) {
        native_event_unref(event);
        native_event_unref(event);
        PyErr_SetString(PyExc_RuntimeError, he2b_strerror(error));
        return false;
    }
    /* call lives on this stack: so this waits to the end, whatever signal comes. */
    Py_BEGIN_ALLOW_THREADS while (wait_done(event, 1000) != 1)
    {
    }
    Py_END_ALLOW_THREADS native_event_unref(event);
    return true;
}

/* ---- the session's shared part ---- */

struct native_shared *native_shared_ref(struct native_shared *shared)
{
    pthread_mutex_lock(&shared->lock);
    shared->references++;
    pthread_mutex_unlock(&shared->lock);
    return shared;
}

void native_shared_unref(struct native_shared *shared)
{
    int left;

    if (!shared)
        return;
    pthread_mutex_lock(&shared->lock);
    left = --shared->references;
    pthread_mutex_unlock(&shared->lock);
    if (left)
        return;
    pthread_mutex_destroy(&shared->lock);
    free(shared);
}

void native_shared_await(struct native_shared *shared, struct native_event *event)
{
    native_event_ref(event);
    pthread_mutex_lock(&shared->lock);
    event->next_awaited = shared->awaited;
    shared->awaited = event;
    pthread_mutex_unlock(&shared->lock);
}

void native_shared_forget(struct native_shared *shared, const struct native_event *event)
{
    struct native_event **link = &shared->awaited;
    struct native_event *found;

    pthread_mutex_lock(&shared->lock);
    while (*link && *link != event)
        link = &(*link)->next_awaited;
    found = *link;
    if (found)
        *link = found->next_awaited;
    pthread_mutex_unlock(&shared->lock);
    native_event_unref(found);
}

void native_shared_poke(struct native_shared *shared)
{
    struct native_event *event;

    pthread_mutex_lock(&shared->lock);
    for (event = shared->awaited; event; event = event->next_awaited) {
        pthread_mutex_lock(&event->lock);
        event->poked = true;
        pthread_cond_broadcast(&event->changed);
        pthread_mutex_unlock(&event->lock);
    }
    pthread_mutex_unlock(&shared->lock);
}

void native_shared_look(struct native_shared *shared)
{
    if (!shared->session)
        return;
    pthread_mutex_lock(&shared->lock);
    snprintf(shared->sandbox_id, sizeof(shared->sandbox_id), "%s",
             he2b_session_sandbox_id(shared->session));
    snprintf(shared->home, sizeof(shared->home), "%s", he2b_session_home(shared->session));
    snprintf(shared->cwd, sizeof(shared->cwd), "%s", he2b_session_cwd(shared->session));
    snprintf(shared->state, sizeof(shared->state), "%s", he2b_session_state(shared->session));
    snprintf(shared->role, sizeof(shared->role), "%s", he2b_session_role(shared->session));
    shared->generation = he2b_session_generation(shared->session);
    pthread_mutex_unlock(&shared->lock);
}
