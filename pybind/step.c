/*
 * hermes_e2b._native.Step, and where a session's steps (he2b.h) go. The library's own are done on
 * threads of their own: files may block for long, and the caller may be interrupted at any time,
 * which must leave no lock half taken. The others are Python's: whoever waits takes them.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct answer {
    he2b_step *step;
    enum he2b_step_outcome outcome;
    char why[NATIVE_TEXT_MAX];
};

static void finish(void *arg)
{
    struct answer *answer = arg;

    he2b_step_done(answer->step, answer->outcome, answer->why[0] ? answer->why : NULL);
    free(answer);
}

/* An answer that got lost would keep the session waiting for ever. */
static void post(struct native_loop *loop, struct answer *answer)
{
    static const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};

    while (he2b_loop_post(loop->loop, finish, answer) == HE2B_ERR_NOMEM)
        nanosleep(&moment, NULL);
}

/* ---- the library's own ---- */

struct work {
    struct native_loop *loop;
    struct answer *answer;
};

static void *run(void *arg)
{
    struct work *work = arg;

    he2b_step_do(work->answer->step);
    post(work->loop, work->answer);
    free(work);
    return NULL;
}

static bool run_beside(struct native_loop *loop, he2b_step *step)
{
    struct work *work = malloc(sizeof(*work));
    struct answer *answer = calloc(1, sizeof(*answer));

    if (work && answer) {
        *answer = (struct answer){.step = step, .outcome = HE2B_STEP_DONE};
        *work = (struct work){.loop = loop, .answer = answer};
        if (native_thread_start(run, work))
            return true;
    }
    free(work);
    free(answer);
    return false;
}

/* ---- the caller's: loop thread ---- */

static he2b_step *take_out(struct native_shared *shared)
{
    he2b_step *step;

    pthread_mutex_lock(&shared->lock);
    step = shared->step;
    shared->step = NULL;
    pthread_mutex_unlock(&shared->lock);
    return step;
}

static bool is_pull(const struct native_shared *shared)
{
    return shared->step && he2b_step_kind(shared->step) == HE2B_STEP_PULL;
}

/* A pull has somebody of its own, or is given up by he2b_session_abandon_pull(). */
static void consider(struct native_shared *shared)
{
    he2b_step *step = NULL;

    if (!shared->wishes && !is_pull(shared))
        step = take_out(shared);
    if (step)
        he2b_step_done(step, HE2B_STEP_ABANDONED, NULL);
}

void native_step_wish(struct native_shared *shared)
{
    shared->wishes++;
}

void native_step_unwish(struct native_shared *shared)
{
    shared->wishes--;
    consider(shared);
}

void native_step_drop(struct native_shared *shared)
{
    he2b_step *step = take_out(shared);

    if (step)
        he2b_step_done(step, HE2B_STEP_ABANDONED, NULL);
}

void native_step(void *user, he2b_step *step)
{
    struct native_shared *shared = user;

    if (he2b_step_kind(step) >= HE2B_STEP_RECOVER) {
        pthread_mutex_lock(&shared->lock);
        shared->step = step;
        pthread_mutex_unlock(&shared->lock);
        native_shared_look(shared);
        native_shared_poke(shared);
        consider(shared);
        return;
    }
    if (run_beside(shared->loop, step))
        return;
    /* no thread to be had: the loop waits for the files itself */
    he2b_step_do(step);
    he2b_step_done(step, HE2B_STEP_DONE, NULL);
}

/* ---- Python's side ---- */

typedef struct {
    PyObject_HEAD struct native_shared *shared;
    struct answer *answer; /* NULL: it was answered */
    const char *kind;
} Step;

PyObject *native_step_take(struct native_state *state, struct native_shared *shared, bool pull)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(state->step_type, Py_tp_alloc);
    struct answer *answer;
    Step *self;
    bool any;

    /* asked at each slice of each wait: mostly there is none */
    pthread_mutex_lock(&shared->lock);
    any = shared->step && is_pull(shared) == pull;
    pthread_mutex_unlock(&shared->lock);
    if (!any)
        Py_RETURN_NONE;
    answer = calloc(1, sizeof(*answer));
    self = answer ? (Step *)alloc(state->step_type, 0) : NULL;
    if (!self) {
        free(answer);
        return answer ? NULL : PyErr_NoMemory();
    }
    pthread_mutex_lock(&shared->lock);
    if (shared->step && is_pull(shared) == pull) {
        answer->step = shared->step;
        shared->step = NULL;
    }
    pthread_mutex_unlock(&shared->lock);
    if (!answer->step) {
        free(answer);
        Py_DECREF((PyObject *)self);
        Py_RETURN_NONE;
    }
    self->shared = native_shared_ref(shared);
    self->answer = answer;
    self->kind = he2b_step_name((int)he2b_step_kind(answer->step));
    return (PyObject *)self;
}

static PyObject *reply(Step *self, enum he2b_step_outcome outcome, const char *why)
{
    struct answer *answer = self->answer;

    if (!answer) {
        PyErr_SetString(PyExc_RuntimeError, "the step was answered before");
        return NULL;
    }
    self->answer = NULL;
    answer->outcome = outcome;
    if (why)
        strncpy(answer->why, why, sizeof(answer->why) - 1);
    post(self->shared->loop, answer);
    Py_RETURN_NONE;
}

static void step_dealloc(PyObject *object)
{
    Step *self = (Step *)object;
    PyTypeObject *type = Py_TYPE(object);

    if (self->answer)
        Py_XDECREF(reply(self, HE2B_STEP_FAILED, "it was interrupted"));
    native_shared_unref(self->shared);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *step_done(PyObject *object, PyObject *unused)
{
    (void)unused;
    return reply((Step *)object, HE2B_STEP_DONE, NULL);
}

static PyObject *step_fail(PyObject *object, PyObject *args)
{
    const char *why;

    if (!PyArg_ParseTuple(args, "s", &why))
        return NULL;
    return reply((Step *)object, HE2B_STEP_FAILED, why);
}

static PyObject *step_again(PyObject *object, PyObject *unused)
{
    (void)unused;
    return reply((Step *)object, HE2B_STEP_AGAIN, NULL);
}

static PyObject *get_kind(PyObject *object, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(((Step *)object)->kind);
}

static PyMethodDef methods[] = {
    {"done", step_done, METH_NOARGS, "done()\n\nIt was done: the session goes on."},
    {"fail", step_fail, METH_VARARGS, "fail(why)\n\nIt failed; why is one line."},
    {"again", step_again, METH_NOARGS,
     "again()\n\nA pull: connect once more, then ask for it again (B-91)."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"kind", get_kind, NULL, "\"recover\", \"push\", \"sync\" or \"pull\".", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "What has to be done on this machine. Must be answered, once; one that is dropped "
                "has failed."},
    {Py_tp_dealloc, step_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {0, NULL},
};

PyType_Spec native_step_spec = {
    .name = "hermes_e2b._native.Step",
    .basicsize = sizeof(Step),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
