/* hermes_e2b._native.Command */
#include "native.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The command as both sides know it; event is its end. */
struct shared_command {
    struct native_event *event; /* its lock guards all of this */
    int references;
    struct native_shared *session;
    he2b_command *command; /* loop thread only */
    /* from the caller, until it is started */
    char *text;
    size_t text_len;
    char *input; /* until its end */
    size_t input_len;
    bool login;
    int64_t timeout_ms;
    unsigned prepared;
    int write_fd;
    /* the result */
    int outcome;
    int exit_code;
    struct native_failure stdin_failure;
};

typedef struct {
    PyObject_HEAD struct shared_command *shared;
    int read_fd; /* -1 once it was taken */
} Command;

static struct shared_command *shared_ref(struct shared_command *shared)
{
    pthread_mutex_lock(&shared->event->lock);
    shared->references++;
    pthread_mutex_unlock(&shared->event->lock);
    return shared;
}

static void shared_unref(struct shared_command *shared)
{
    int left;

    pthread_mutex_lock(&shared->event->lock);
    left = --shared->references;
    pthread_mutex_unlock(&shared->event->lock);
    if (left)
        return;
    if (shared->write_fd >= 0)
        close(shared->write_fd);
    native_event_unref(shared->event);
    native_shared_unref(shared->session);
    free(shared->text);
    free(shared->input);
    free(shared);
}

/* ---- the loop thread's side ---- */

static void finish(struct shared_command *shared, int outcome, int exit_code,
                   const he2b_failure *stdin_failure, const he2b_failure *failure)
{
    pthread_mutex_lock(&shared->event->lock);
    shared->outcome = outcome;
    shared->exit_code = exit_code;
    native_failure_copy(&shared->stdin_failure, stdin_failure);
    pthread_mutex_unlock(&shared->event->lock);
    native_shared_look(shared->session);
    native_event_finish(shared->event, failure);
    native_step_unwish(shared->session);
}

static void on_done(void *user, const he2b_result *result)
{
    struct shared_command *shared = user;
    he2b_command *command = shared->command;

    shared->command = NULL;
    finish(shared, (int)he2b_result_outcome(result), he2b_result_exit_code(result),
           he2b_result_stdin_failure(result), he2b_result_failure(result));
    he2b_command_del(command);
    shared_unref(shared);
}

static void refuse(struct shared_command *shared, int error)
{
    enum {
        EXIT_NOT_STARTED = 255,
    };

    if (shared->write_fd >= 0) {
        close(shared->write_fd);
        shared->write_fd = -1;
    }
    pthread_mutex_lock(&shared->event->lock);
    shared->outcome = HE2B_NOT_STARTED;
    shared->exit_code = EXIT_NOT_STARTED;
    native_failure_because(&shared->event->failure, "run command", error,
                           error == HE2B_ERR_OVERFLOW ? "the command is longer than 16 MiB"
                                                      : he2b_strerror(error));
    shared->event->done = true;
    pthread_cond_broadcast(&shared->event->changed);
    pthread_mutex_unlock(&shared->event->lock);
    shared_unref(shared);
}

static void start(void *arg)
{
    struct shared_command *shared = arg;
    he2b_command *command = NULL;
    int error = HE2B_ERR_CLOSED;

    if (shared->session->session)
        error = he2b_command_new(&command, shared->session->session);
    if (!error)
        error = he2b_command_set_text(command, shared->text, shared->text_len);
    if (!error) {
        he2b_command_set_login(command, shared->login);
        he2b_command_set_timeout(command, shared->timeout_ms);
        he2b_command_set_prepared(command, shared->prepared);
        error = he2b_command_set_output(command, shared->write_fd);
    }
    if (!error) {
        shared->write_fd = -1;
        if (shared->input_len)
            error = he2b_command_set_stdin(command, shared->input, shared->input_len);
    }
    if (!error) {
        shared->command = command;
        error = he2b_command_start(command, on_done, shared);
    }
    if (!error)
        native_step_wish(shared->session);
    if (error) {
        shared->command = NULL;
        he2b_command_del(command);
        refuse(shared, error);
    }
}

static void kill_command(void *arg)
{
    struct shared_command *shared = arg;

    if (shared->command)
        he2b_command_kill(shared->command);
    shared_unref(shared);
}

/* ---- Python's side ---- */

static void post_kill(struct shared_command *shared)
{
    shared_ref(shared);
    if (he2b_loop_post(shared->session->loop->loop, kill_command, shared) != HE2B_OK)
        shared_unref(shared);
}

static bool copy_bytes(PyObject *object, char **ret, size_t *ret_len)
{
    Py_buffer view;

    if (!object || object == Py_None)
        return true;
    if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) != 0)
        return false;
    *ret = malloc((size_t)view.len + 1);
    if (*ret) {
        memcpy(*ret, view.buf, (size_t)view.len);
        (*ret)[view.len] = '\0';
        *ret_len = (size_t)view.len;
    } else {
        PyErr_NoMemory();
    }
    PyBuffer_Release(&view);
    return *ret != NULL;
}

static struct shared_command *shared_new(struct native_shared *session)
{
    struct shared_command *shared = calloc(1, sizeof(*shared));

    if (shared)
        shared->event = native_event_new();
    if (!shared || !shared->event) {
        free(shared);
        PyErr_NoMemory();
        return NULL;
    }
    shared->references = 1;
    shared->write_fd = -1;
    shared->session = native_shared_ref(session);
    return shared;
}

PyObject *native_command_start(struct native_state *state, struct native_shared *session,
                               PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"text", "login", "timeout_ms", "stdin", "prepared", NULL};
    allocfunc alloc = (allocfunc)PyType_GetSlot(state->command_type, Py_tp_alloc);
    struct shared_command *shared;
    PyObject *text;
    PyObject *input = NULL;
    Command *self = NULL;
    long long timeout_ms = 0;
    unsigned prepared = 0;
    int login = 0;
    int fds[2];
    int error;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|pLOI", names, &text, &login, &timeout_ms,
                                     &input, &prepared))
        return NULL;
    shared = shared_new(session);
    if (!shared)
        return NULL;
    shared->login = login;
    shared->timeout_ms = timeout_ms;
    shared->prepared = prepared;
    if (!copy_bytes(text, &shared->text, &shared->text_len) ||
        !copy_bytes(input, &shared->input, &shared->input_len))
        goto fail;
    if (!shared->text) {
        PyErr_SetString(PyExc_TypeError, "text is bytes");
        goto fail;
    }
    self = (Command *)alloc(state->command_type, 0);
    if (!self)
        goto fail;
    self->read_fd = -1;
    if (pipe2(fds, O_CLOEXEC) != 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        goto fail;
    }
    self->read_fd = fds[0];
    shared->write_fd = fds[1];
    self->shared = shared_ref(shared);
    native_shared_await(session, shared->event);
    error = he2b_loop_post(session->loop->loop, start, shared);
    if (error)
        refuse(shared, error);
    return (PyObject *)self;
fail:
    Py_XDECREF((PyObject *)self);
    shared_unref(shared);
    return NULL;
}

static void command_dealloc(PyObject *object)
{
    Command *self = (Command *)object;
    PyTypeObject *type = Py_TYPE(object);

    if (self->read_fd >= 0)
        close(self->read_fd);
    if (self->shared) {
        /* Nobody can ever read its end: it is ended. */
        post_kill(self->shared);
        native_shared_forget(self->shared->session, self->shared->event);
        shared_unref(self->shared);
    }
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *command_take_fd(PyObject *object, PyObject *unused)
{
    Command *self = (Command *)object;
    int fd = self->read_fd;

    (void)unused;
    if (fd < 0) {
        PyErr_SetString(PyExc_ValueError, "the descriptor was taken before");
        return NULL;
    }
    self->read_fd = -1;
    return PyLong_FromLong(fd);
}

static PyObject *command_wait(PyObject *object, PyObject *args)
{
    Command *self = (Command *)object;
    long ms = 100;
    int done;

    if (!PyArg_ParseTuple(args, "|l", &ms) || !native_here(self->shared->session->loop))
        return NULL;
    done = native_event_wait(self->shared->event, ms);
    return done < 0 ? NULL : PyBool_FromLong(done);
}

static PyObject *command_kill(PyObject *object, PyObject *unused)
{
    Command *self = (Command *)object;

    (void)unused;
    if (!native_here(self->shared->session->loop))
        return NULL;
    post_kill(self->shared);
    Py_RETURN_NONE;
}

static PyObject *get_number(PyObject *object, bool outcome)
{
    Command *self = (Command *)object;
    bool done;
    int number;

    pthread_mutex_lock(&self->shared->event->lock);
    done = self->shared->event->done;
    number = outcome ? self->shared->outcome : self->shared->exit_code;
    pthread_mutex_unlock(&self->shared->event->lock);
    if (!done)
        Py_RETURN_NONE;
    return PyLong_FromLong(number);
}

static PyObject *get_outcome(PyObject *object, void *unused)
{
    (void)unused;
    return get_number(object, true);
}

static PyObject *get_exit_code(PyObject *object, void *unused)
{
    (void)unused;
    return get_number(object, false);
}

static PyObject *get_failure(PyObject *object, void *unused)
{
    Command *self = (Command *)object;
    struct native_failure failure;

    (void)unused;
    pthread_mutex_lock(&self->shared->event->lock);
    failure = self->shared->event->failure;
    pthread_mutex_unlock(&self->shared->event->lock);
    return native_failure_dict(&failure);
}

static PyObject *get_stdin_failure(PyObject *object, void *unused)
{
    Command *self = (Command *)object;
    struct native_failure failure;

    (void)unused;
    pthread_mutex_lock(&self->shared->event->lock);
    failure = self->shared->stdin_failure;
    pthread_mutex_unlock(&self->shared->event->lock);
    return native_failure_dict(&failure);
}

static PyMethodDef methods[] = {
    {"take_fd", command_take_fd, METH_NOARGS,
     "take_fd() -> int\n\nThe read end of the output's pipe; the caller's from now on. Once."},
    {"wait", command_wait, METH_VARARGS,
     "wait(ms=100) -> bool\n\nTrue once the command has ended; False at the latest after ms, and "
     "when a step came (Session.take_step). Signals are let in at its end."},
    {"kill", command_kill, METH_NOARGS,
     "kill()\n\nEnds its process group (B-43); the pipe ends at once. Returns at once."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"outcome", get_outcome, NULL, "None while it runs, else one of the module's constants.", NULL},
    {"exit_code", get_exit_code, NULL, "None while it runs, else 0 to 255.", NULL},
    {"failure", get_failure, NULL, "None, or why it has no exit code of its own: a dict.", NULL},
    {"stdin_failure", get_stdin_failure, NULL, "None, or why stdin was not delivered: a dict.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A command on its way or at its end."},
    {Py_tp_dealloc, command_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {0, NULL},
};

PyType_Spec native_command_spec = {
    .name = "hermes_e2b._native.Command",
    .basicsize = sizeof(Command),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
