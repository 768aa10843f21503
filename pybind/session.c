/* hermes_e2b._native.Session */
#include "native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    PyObject_HEAD struct native_shared *shared; /* NULL: not initialised */
} Session;

/* ---- the loop thread's side ---- */

static struct native_log_line *log_line(struct native_shared *shared, unsigned nth)
{
    return &shared->log[(shared->log_first + nth) % NATIVE_LOG_MAX];
}

/* The oldest of the least important lines goes, if the new one is no less important: a warning is
 * not pushed out by what is said at each command. */
static bool make_room(struct native_shared *shared, int level)
{
    unsigned least = 0;
    unsigned i;

    for (i = 1; i < shared->log_count; i++) {
        if (log_line(shared, i)->level < log_line(shared, least)->level)
            least = i;
    }
    if (log_line(shared, least)->level > level) {
        shared->log_lost += level > HE2B_LOG_DEBUG;
        return false;
    }
    if (log_line(shared, least)->level > HE2B_LOG_DEBUG)
        shared->log_lost++;
    shared->log_count--;
    for (i = least; i < shared->log_count; i++)
        *log_line(shared, i) = *log_line(shared, i + 1);
    return true;
}

static void on_log(void *user, int level, const char *text)
{
    struct native_shared *shared = user;
    struct native_log_line *line;

    pthread_mutex_lock(&shared->lock);
    if (shared->log_count < NATIVE_LOG_MAX || make_room(shared, level)) {
        line = log_line(shared, shared->log_count++);
        line->level = level;
        snprintf(line->text, sizeof(line->text), "%s", text);
    }
    pthread_mutex_unlock(&shared->lock);
}

struct make {
    struct native_shared *shared;
    he2b_options *options;
    const char *home; /* NULL: a sandbox of its own */
    const char *task;
    bool state; /* Hermes' state is moved */
    int error;
};

static void make_session(void *arg)
{
    struct make *make = arg;
    struct native_shared *shared = make->shared;

    make->error =
        he2b_session_new(&shared->session, shared->loop->loop, make->options, on_log, shared);
    if (make->error)
        return;
    if (make->home) {
        make->error = he2b_session_set_scope(shared->session, make->home, make->task, make->state);
    } else if (make->state) {
        make->error = he2b_session_set_host_state(shared->session, 1);
    }
    if (!make->error)
        make->error = he2b_session_on_step(shared->session, native_step, shared);
    if (make->error) {
        he2b_session_del(shared->session);
        shared->session = NULL;
        return;
    }
    snprintf(shared->scope, sizeof(shared->scope), "%s", he2b_session_scope(shared->session));
    native_shared_look(shared);
}

struct request {
    struct native_shared *shared;
    struct native_event *event;
    int64_t timeout_ms;
};

static void on_answer(void *user, const he2b_failure *failure)
{
    struct request *request = user;

    if (request->event->wish)
        native_step_unwish(request->shared);
    request->event->wish = NULL;
    native_shared_look(request->shared);
    native_event_finish(request->event, failure);
    native_event_unref(request->event);
    native_shared_unref(request->shared);
    free(request);
}

static void refuse(struct request *request, const char *action, int error)
{
    pthread_mutex_lock(&request->event->lock);
    native_failure_error(&request->event->failure, action, error);
    request->event->done = true;
    pthread_cond_broadcast(&request->event->changed);
    pthread_mutex_unlock(&request->event->lock);
    native_event_unref(request->event);
    native_shared_unref(request->shared);
    free(request);
}

static void prepare(void *arg)
{
    struct request *request = arg;
    int error = HE2B_ERR_CLOSED;

    if (request->shared->session)
        error =
            he2b_session_prepare(request->shared->session, request->timeout_ms, on_answer, request);
    if (error)
        refuse(request, "prepare sandbox", error);
    else {
        request->event->wish = request;
        native_step_wish(request->shared);
    }
}

struct unwish {
    struct native_shared *shared;
    struct native_event *event;
};

static void unwish(void *arg)
{
    struct unwish *what = arg;

    if (what->event->wish && what->shared->session)
        he2b_session_cancel(what->shared->session, what->event->wish);
    native_event_unref(what->event);
    native_shared_unref(what->shared);
    free(what);
}

void native_session_unwish(struct native_shared *shared, struct native_event *event)
{
    struct unwish *what = malloc(sizeof(*what));

    /* Without memory it is brought up for nobody, as it would be for somebody. */
    if (!what)
        return;
    *what = (struct unwish){.shared = native_shared_ref(shared), .event = native_event_ref(event)};
    if (he2b_loop_post(shared->loop->loop, unwish, what) == HE2B_OK)
        return;
    native_event_unref(what->event);
    native_shared_unref(what->shared);
    free(what);
}

static void close_session(void *arg)
{
    struct request *request = arg;
    int error = HE2B_ERR_CLOSED;

    if (request->shared->session)
        error = he2b_session_close(request->shared->session, on_answer, request);
    if (error)
        refuse(request, "close session", error);
}

/* The Python object is gone: what it made is killed (B-95), and then all of it is freed. */
static void on_last_close(void *user, const he2b_failure *failure)
{
    struct native_shared *shared = user;
    he2b_session *session = shared->session;

    (void)failure;
    native_step_drop(shared);
    shared->session = NULL;
    he2b_session_del(session);
    native_shared_unref(shared);
}

static void finalise(void *arg)
{
    struct native_shared *shared = arg;

    if (!shared->session)
        native_shared_unref(shared);
    else if (he2b_session_close(shared->session, on_last_close, shared) != HE2B_OK)
        on_last_close(shared, NULL); /* no memory: its lease ends the sandbox */
    else
        he2b_session_abandon_pull(shared->session); /* nobody is left who would do it */
}

static void abandon_pull(void *arg)
{
    struct native_shared *shared = arg;

    if (shared->session)
        he2b_session_abandon_pull(shared->session);
}

struct key {
    struct native_shared *shared;
    const char *key;
    int error;
};

static void set_key(void *arg)
{
    struct key *key = arg;

    key->error = key->shared->session ? he2b_session_set_api_key(key->shared->session, key->key)
                                      : HE2B_ERR_CLOSED;
}

/* ---- Python's side ---- */

static struct native_state *state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

static struct native_shared *usable(Session *self)
{
    if (!self->shared) {
        PyErr_SetString(PyExc_RuntimeError, "the session was not initialised");
        return NULL;
    }
    return native_here(self->shared->loop) ? self->shared : NULL;
}

/* Sets every pair of a dict of texts through set; false with an exception. */
static bool each_text(PyObject *dict,
                      bool (*set)(he2b_options *options, const char *name, const char *value),
                      he2b_options *options)
{
    PyObject *key;
    PyObject *value;
    Py_ssize_t at = 0;

    if (!dict || dict == Py_None)
        return true;
    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "options and metadata are dicts of texts");
        return false;
    }
    while (PyDict_Next(dict, &at, &key, &value)) {
        Py_ssize_t name_len;
        Py_ssize_t value_len;
        const char *name = PyUnicode_AsUTF8AndSize(key, &name_len);
        const char *text = name ? PyUnicode_AsUTF8AndSize(value, &value_len) : NULL;

        if (!text)
            return false;
        if ((size_t)name_len != strlen(name) || (size_t)value_len != strlen(text)) {
            PyErr_Format(PyExc_ValueError, "%s: a NUL character", name);
            return false;
        }
        if (!set(options, name, text))
            return false;
    }
    return true;
}

static bool set_option(he2b_options *options, const char *name, const char *value)
{
    int error = he2b_options_set(options, name, value);

    if (error == HE2B_OK)
        return true;
    PyErr_Format(PyExc_ValueError, "%s: %s", name, he2b_strerror(error));
    return false;
}

static bool set_metadata(he2b_options *options, const char *name, const char *value)
{
    int error = he2b_options_add_metadata(options, name, value);

    if (error == HE2B_OK)
        return true;
    PyErr_Format(PyExc_ValueError, "metadata: %s", he2b_strerror(error));
    return false;
}

static int session_init(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"options", "metadata", "home", "task", "state", NULL};
    Session *self = (Session *)object;
    struct make make = {0};
    PyObject *options = NULL;
    PyObject *metadata = NULL;
    int moves = 0;
    int result = -1;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOzzp", names, &options, &metadata, &make.home,
                                     &make.task, &moves))
        return -1;
    make.state = moves != 0;
    if (self->shared) {
        PyErr_SetString(PyExc_RuntimeError, "the session was initialised before");
        return -1;
    }
    make.shared = calloc(1, sizeof(*make.shared));
    if (!make.shared) {
        PyErr_NoMemory();
        return -1;
    }
    pthread_mutex_init(&make.shared->lock, NULL);
    make.shared->references = 1;
    make.shared->loop = native_loop_get();
    if (!make.shared->loop)
        goto out;
    if (he2b_options_new(&make.options, on_log, make.shared) != HE2B_OK) {
        PyErr_NoMemory();
        goto out;
    }
    if (!each_text(options, set_option, make.options) ||
        !each_text(metadata, set_metadata, make.options) ||
        !native_call(make.shared->loop, make_session, &make))
        goto out;
    if (make.error == HE2B_ERR_SETTING) {
        PyErr_SetString(PyExc_ValueError, "home: not an absolute path, or too long");
        goto out;
    }
    if (make.error) {
        PyErr_SetString(PyExc_RuntimeError, he2b_strerror(make.error));
        goto out;
    }
    self->shared = native_shared_ref(make.shared);
    result = 0;
out:
    he2b_options_del(make.options);
    native_shared_unref(make.shared);
    return result;
}

static void session_dealloc(PyObject *object)
{
    Session *self = (Session *)object;
    PyTypeObject *type = Py_TYPE(object);
    struct native_shared *shared = self->shared;

    self->shared = NULL;
    /* A forked child sends nothing; what it inherited is its parent's. Without memory the sandbox
     * is left to its lease, and what is shared to the session, which goes on logging into it. */
    if (shared &&
        (!shared->session || he2b_loop_post(shared->loop->loop, finalise, shared) == HE2B_ERR_FORK))
        native_shared_unref(shared);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static struct request *request_new(struct native_shared *shared)
{
    struct request *request = calloc(1, sizeof(*request));

    if (request)
        request->event = native_event_new();
    if (!request || !request->event) {
        free(request);
        PyErr_NoMemory();
        return NULL;
    }
    request->shared = native_shared_ref(shared);
    return request;
}

/* Posts the request; the waiter for its answer. */
static PyObject *ask(PyObject *self, struct request *request, void (*fn)(void *arg))
{
    struct native_event *event = native_event_ref(request->event);
    struct native_shared *shared = request->shared;
    PyObject *waiter = native_waiter_new(state_of(self), event, shared);
    int error;

    native_event_unref(event);
    if (!waiter) {
        native_event_unref(request->event);
        native_shared_unref(shared);
        free(request);
        return NULL;
    }
    error = he2b_loop_post(shared->loop->loop, fn, request);
    if (error)
        refuse(request, "reach the loop", error);
    return waiter;
}

static PyObject *session_prepare(PyObject *object, PyObject *args)
{
    struct native_shared *shared = usable((Session *)object);
    struct request *request;
    long long timeout_ms = 0;

    if (!shared || !PyArg_ParseTuple(args, "|L", &timeout_ms))
        return NULL;
    request = request_new(shared);
    if (!request)
        return NULL;
    request->timeout_ms = timeout_ms;
    return ask(object, request, prepare);
}

static PyObject *session_close(PyObject *object, PyObject *unused)
{
    struct native_shared *shared = usable((Session *)object);
    struct request *request = shared ? request_new(shared) : NULL;

    (void)unused;
    return request ? ask(object, request, close_session) : NULL;
}

static PyObject *session_set_api_key(PyObject *object, PyObject *value)
{
    struct native_shared *shared = usable((Session *)object);
    struct key key = {.shared = shared};
    Py_ssize_t len;

    if (!shared)
        return NULL;
    if (value != Py_None) {
        key.key = PyUnicode_AsUTF8AndSize(value, &len);
        if (!key.key)
            return NULL;
        if ((size_t)len != strlen(key.key))
            key.key = "\n"; /* refused below, in the library's words */
    }
    if (!native_call(shared->loop, set_key, &key))
        return NULL;
    if (key.error == HE2B_ERR_SETTING) {
        PyErr_SetString(PyExc_ValueError, "the API key holds control characters");
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *session_command(PyObject *object, PyObject *args, PyObject *kwargs)
{
    struct native_shared *shared = usable((Session *)object);

    return shared ? native_command_start(state_of(object), shared, args, kwargs) : NULL;
}

static PyObject *session_take_step(PyObject *object, PyObject *args)
{
    struct native_shared *shared = usable((Session *)object);
    int pull = 0;

    if (!shared || !PyArg_ParseTuple(args, "|p", &pull))
        return NULL;
    return native_step_take(state_of(object), shared, pull);
}

static PyObject *session_transfer(PyObject *object, PyObject *args)
{
    struct native_shared *shared = usable((Session *)object);
    const char *home;

    if (!shared || !PyArg_ParseTuple(args, "y", &home))
        return NULL;
    return native_transfer_new(state_of(object), object, shared, home);
}

static PyObject *session_abandon_pull(PyObject *object, PyObject *unused)
{
    struct native_shared *shared = usable((Session *)object);

    (void)unused;
    if (!shared || !native_call(shared->loop, abandon_pull, shared))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *session_take_log(PyObject *object, PyObject *unused)
{
    Session *self = (Session *)object;
    struct native_shared *shared = self->shared;
    struct native_log_line line;
    PyObject *list = PyList_New(0);
    unsigned lost = 0;

    (void)unused;
    while (list && shared) {
        PyObject *pair;
        bool got = false;

        pthread_mutex_lock(&shared->lock);
        if (shared->log_count) {
            line = shared->log[shared->log_first];
            shared->log_first = (shared->log_first + 1) % NATIVE_LOG_MAX;
            shared->log_count--;
            got = true;
        }
        lost += shared->log_lost;
        shared->log_lost = 0;
        pthread_mutex_unlock(&shared->lock);
        if (!got)
            break;
        pair = Py_BuildValue("(is)", line.level, line.text);
        if (!pair || PyList_Append(list, pair) != 0) {
            Py_XDECREF(pair);
            Py_CLEAR(list);
            break;
        }
        Py_DECREF(pair);
    }
    if (list && lost) {
        PyObject *pair = Py_BuildValue("(is)", HE2B_LOG_WARNING, "some log messages were lost");

        if (!pair || PyList_Append(list, pair) != 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

static PyObject *get_text(Session *self, size_t offset)
{
    struct native_shared *shared = self->shared;
    char text[4096] = "";

    if (shared) {
        pthread_mutex_lock(&shared->lock);
        snprintf(text, sizeof(text), "%s", (const char *)shared + offset);
        pthread_mutex_unlock(&shared->lock);
    }
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

static PyObject *get_sandbox_id(PyObject *self, void *unused)
{
    (void)unused;
    return get_text((Session *)self, offsetof(struct native_shared, sandbox_id));
}

static PyObject *get_home(PyObject *self, void *unused)
{
    (void)unused;
    return get_text((Session *)self, offsetof(struct native_shared, home));
}

static PyObject *get_cwd(PyObject *self, void *unused)
{
    (void)unused;
    return get_text((Session *)self, offsetof(struct native_shared, cwd));
}

static PyObject *get_state(PyObject *self, void *unused)
{
    (void)unused;
    return get_text((Session *)self, offsetof(struct native_shared, state));
}

static PyObject *get_role(PyObject *self, void *unused)
{
    (void)unused;
    return get_text((Session *)self, offsetof(struct native_shared, role));
}

static PyObject *get_scope(PyObject *self, void *unused)
{
    (void)unused;
    return get_text((Session *)self, offsetof(struct native_shared, scope));
}

static PyObject *get_generation(PyObject *object, void *unused)
{
    Session *self = (Session *)object;
    unsigned generation = 0;

    (void)unused;
    if (self->shared) {
        pthread_mutex_lock(&self->shared->lock);
        generation = self->shared->generation;
        pthread_mutex_unlock(&self->shared->lock);
    }
    return PyLong_FromUnsignedLong(generation);
}

static PyMethodDef methods[] = {
    {"prepare", session_prepare, METH_VARARGS,
     "prepare(timeout_ms=0) -> Waiter\n\nBrings the sandbox to where a command of timeout_ms can "
     "start. Returns at once."},
    {"close", session_close, METH_NOARGS,
     "close() -> Waiter\n\nEnds the session after its last command (B-90). A sandbox of its own is "
     "killed, that of a scope left to its lease (B-91)."},
    {"set_api_key", session_set_api_key, METH_O,
     "set_api_key(key)\n\nThe key of all later requests (B-7); None removes it."},
    {"command", (PyCFunction)(void (*)(void))session_command, METH_VARARGS | METH_KEYWORDS,
     "command(text, login=False, timeout_ms=0, stdin=None, prepared=0) -> Command\n\nStarts a "
     "command; text and stdin are bytes; prepared: the generation that a prepare() for it has "
     "found. "
     "Returns at once."},
    {"take_step", session_take_step, METH_VARARGS,
     "take_step(pull=False) -> Step or None\n\nWhat has to be done on this machine before the "
     "session goes on, in a session made with state. pull: at its end."},
    {"transfer", session_transfer, METH_VARARGS,
     "transfer(home) -> Transfer\n\nA movement of files; home is the profile home, as bytes."},
    {"abandon_pull", session_abandon_pull, METH_NOARGS,
     "abandon_pull()\n\nThe rest of the close goes on without it (B-94, B-96)."},
    {"take_log", session_take_log, METH_NOARGS,
     "take_log() -> [(level, text)]\n\nThe messages since the last call; logging is the caller's."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"sandbox_id", get_sandbox_id, NULL, "Id of the sandbox; \"\" while there is none.", NULL},
    {"home", get_home, NULL, "$HOME in the sandbox; \"\" while not known.", NULL},
    {"cwd", get_cwd, NULL, "Its working directory; \"\" while not known.", NULL},
    {"state", get_state, NULL, "State of the lifecycle chart, as last seen.", NULL},
    {"role", get_role, NULL, "State of the writer chart, as last seen.", NULL},
    {"scope", get_scope, NULL, "Digest of the scope (B-10); \"\" without one.", NULL},
    {"generation", get_generation, NULL,
     "How often it was in a sandbox with nothing of its own running in it (B-35, B-97).", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Session(options={}, metadata={}, home=None, task=None, state=False)\n\nOne sandbox "
     "and its commands. Contacts nobody by itself (B-20). With home, the profile home, "
     "the sandbox is the persistent one of home and task (B-10); with state, whoever "
     "waits moves Hermes' state there (take_step)."},
    {Py_tp_init, session_init},
    {Py_tp_dealloc, session_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {0, NULL},
};

PyType_Spec native_session_spec = {
    .name = "hermes_e2b._native.Session",
    .basicsize = sizeof(Session),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
