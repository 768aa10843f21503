/* hermes_e2b._native.Transfer */
#include "native.h"

#include <stdlib.h>

/* What Python and the loop have in common; the event is its end. */
struct moving {
    struct native_shared *session;
    struct native_event *event;
    he2b_transfer *transfer; /* NULL: deleted */
    const char *home;
    int kind;
    int fd;
    int recover;
    int error;
};

enum {
    MOVE_PUSH = 1,
    MOVE_RECOVER = 2,
    MOVE_PULL = 3,
};

typedef struct {
    PyObject_HEAD PyObject *session;
    struct moving *moving;
} Transfer;

/* ---- the loop thread's side ---- */

static void on_done(void *user, const he2b_failure *failure)
{
    struct moving *moving = user;

    native_event_finish(moving->event, failure);
}

static void make(void *arg)
{
    struct moving *moving = arg;

    moving->error = HE2B_ERR_CLOSED;
    if (moving->session->session)
        moving->error =
            he2b_transfer_new(&moving->transfer, moving->session->session, moving->home);
}

static void start(void *arg)
{
    struct moving *moving = arg;

    if (!moving->session->session)
        moving->error = HE2B_ERR_CLOSED;
    else if (moving->kind == MOVE_PUSH)
        moving->error = he2b_transfer_push(moving->transfer, on_done, moving);
    else if (moving->kind == MOVE_RECOVER)
        moving->error = he2b_transfer_recover(moving->transfer, on_done, moving);
    else
        moving->error =
            he2b_transfer_pull(moving->transfer, moving->fd, moving->recover, on_done, moving);
}

static void cancel(void *arg)
{
    struct moving *moving = arg;

    he2b_transfer_cancel(moving->transfer);
}

static void delete (void *arg)
{
    struct moving *moving = arg;

    he2b_transfer_del(moving->transfer);
    native_event_unref(moving->event);
    native_shared_unref(moving->session);
    free(moving);
}

/* ---- Python's side ---- */

PyObject *native_transfer_new(struct native_state *state, PyObject *session,
                              struct native_shared *shared, const char *home)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(state->transfer_type, Py_tp_alloc);
    struct moving *moving = calloc(1, sizeof(*moving));
    Transfer *self;

    if (moving)
        moving->event = native_event_new();
    if (!moving || !moving->event) {
        free(moving);
        return PyErr_NoMemory();
    }
    moving->session = native_shared_ref(shared);
    moving->home = home;
    self = (Transfer *)alloc(state->transfer_type, 0);
    if (!self || !native_call(shared->loop, make, moving))
        goto fail;
    if (moving->error) {
        PyErr_SetString(PyExc_RuntimeError, he2b_strerror(moving->error));
        goto fail;
    }
    self->session = Py_NewRef(session);
    self->moving = moving;
    return (PyObject *)self;
fail:
    Py_XDECREF((PyObject *)self);
    native_event_unref(moving->event);
    native_shared_unref(moving->session);
    free(moving);
    return NULL;
}

static void transfer_dealloc(PyObject *object)
{
    Transfer *self = (Transfer *)object;
    PyTypeObject *type = Py_TYPE(object);

    /* before the session, whose end is posted behind; a forked child leaves it to its parent, and
     * one that cannot be deleted for lack of memory is left */
    if (self->moving)
        (void)he2b_loop_post(self->moving->session->loop->loop, delete, self->moving);
    Py_XDECREF(self->session);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *answer(int error)
{
    if (!error)
        Py_RETURN_NONE;
    if (error == HE2B_ERR_NOMEM)
        return PyErr_NoMemory();
    PyErr_SetString(error == HE2B_ERR_ARG ? PyExc_ValueError : PyExc_RuntimeError,
                    he2b_strerror(error));
    return NULL;
}

static PyObject *transfer_add(PyObject *object, PyObject *args)
{
    const char *host;
    const char *path;
    int kind;

    if (!PyArg_ParseTuple(args, "yyi", &host, &path, &kind))
        return NULL;
    return answer(he2b_transfer_add(((Transfer *)object)->moving->transfer, host, path,
                                    (enum he2b_file_kind)kind));
}

static PyObject *transfer_remove(PyObject *object, PyObject *args)
{
    const char *path;

    if (!PyArg_ParseTuple(args, "y", &path))
        return NULL;
    return answer(he2b_transfer_remove(((Transfer *)object)->moving->transfer, path));
}

static PyObject *transfer_protect(PyObject *object, PyObject *args)
{
    const char *host;
    int mirrored = 0;

    if (!PyArg_ParseTuple(args, "y|p", &host, &mirrored))
        return NULL;
    return answer(he2b_transfer_protect(((Transfer *)object)->moving->transfer, host, mirrored));
}

static PyObject *transfer_follow(PyObject *object, PyObject *other)
{
    if (Py_TYPE(other) != Py_TYPE(object)) {
        PyErr_SetString(PyExc_TypeError, "follow() takes the Transfer of a recovery");
        return NULL;
    }
    return answer(he2b_transfer_follow(((Transfer *)object)->moving->transfer,
                                       ((Transfer *)other)->moving->transfer));
}

static PyObject *begin(PyObject *object, int kind)
{
    struct moving *moving = ((Transfer *)object)->moving;

    moving->kind = kind;
    if (!native_here(moving->session->loop) || !native_call(moving->session->loop, start, moving))
        return NULL;
    return answer(moving->error);
}

static PyObject *transfer_push(PyObject *object, PyObject *unused)
{
    (void)unused;
    return begin(object, MOVE_PUSH);
}

static PyObject *transfer_recover(PyObject *object, PyObject *unused)
{
    (void)unused;
    return begin(object, MOVE_RECOVER);
}

static PyObject *transfer_pull(PyObject *object, PyObject *args)
{
    struct moving *moving = ((Transfer *)object)->moving;

    if (!PyArg_ParseTuple(args, "i|p", &moving->fd, &moving->recover))
        return NULL;
    return begin(object, MOVE_PULL);
}

static PyObject *transfer_wait(PyObject *object, PyObject *args)
{
    struct moving *moving = ((Transfer *)object)->moving;
    long ms = 100;
    int done;

    if (!PyArg_ParseTuple(args, "|l", &ms) || !native_here(moving->session->loop))
        return NULL;
    done = native_event_wait(moving->event, ms);
    return done < 0 ? NULL : PyBool_FromLong(done);
}

static PyObject *transfer_cancel(PyObject *object, PyObject *unused)
{
    struct moving *moving = ((Transfer *)object)->moving;

    (void)unused;
    if (!native_here(moving->session->loop) || !native_call(moving->session->loop, cancel, moving))
        return NULL;
    Py_RETURN_NONE;
}

/* The texts of a sequence of bytes; what holds them is *ret_list. NULL with an exception. */
static const char **texts(PyObject *sequence, PyObject **ret_list, size_t *ret_count)
{
    PyObject *list = PySequence_List(sequence);
    Py_ssize_t count = list ? PyList_Size(list) : 0;
    const char **all = list ? calloc((size_t)count + 1, sizeof(*all)) : NULL;
    Py_ssize_t i;

    if (!all) {
        if (list)
            PyErr_NoMemory();
        Py_XDECREF(list);
        return NULL;
    }
    for (i = 0; i < count; i++) {
        char *text;

        if (PyBytes_AsStringAndSize(PyList_GetItem(list, i), &text, NULL) != 0) {
            free(all);
            Py_DECREF(list);
            return NULL;
        }
        all[i] = text;
    }
    *ret_list = list;
    *ret_count = (size_t)count;
    return all;
}

static PyObject *transfer_apply(PyObject *object, PyObject *present)
{
    struct moving *moving = ((Transfer *)object)->moving;
    PyObject *list = NULL;
    const char **paths = NULL;
    const char *why = NULL;
    size_t count = 0;
    int error;

    if (present != Py_None) {
        paths = texts(present, &list, &count);
        if (!paths)
            return NULL;
    }
    Py_BEGIN_ALLOW_THREADS error = he2b_transfer_apply(moving->transfer, paths, count, &why);
    Py_END_ALLOW_THREADS free(paths);
    Py_XDECREF(list);
    if (error == HE2B_ERR_NOMEM)
        return PyErr_NoMemory();
    if (!error)
        Py_RETURN_NONE;
    return PyUnicode_FromString(why ? why : he2b_strerror(error));
}

static PyObject *transfer_notes(PyObject *object, PyObject *unused)
{
    struct moving *moving = ((Transfer *)object)->moving;
    size_t count = he2b_transfer_notes(moving->transfer);
    PyObject *list = PyList_New(0);
    size_t i;

    (void)unused;
    for (i = 0; list && i < count; i++) {
        int level;
        const char *text = he2b_transfer_note(moving->transfer, i, &level);
        PyObject *pair = Py_BuildValue("(is)", level, text);

        if (!pair || PyList_Append(list, pair) != 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

static PyObject *get_progress(PyObject *object, void *unused)
{
    size_t files;
    int64_t bytes;

    (void)unused;
    he2b_transfer_progress(((Transfer *)object)->moving->transfer, &files, &bytes);
    return Py_BuildValue("(nL)", (Py_ssize_t)files, (long long)bytes);
}

static PyObject *get_failure(PyObject *object, void *unused)
{
    struct moving *moving = ((Transfer *)object)->moving;
    struct native_failure failure;

    (void)unused;
    pthread_mutex_lock(&moving->event->lock);
    failure = moving->event->failure;
    pthread_mutex_unlock(&moving->event->lock);
    return native_failure_dict(&failure);
}

static PyMethodDef methods[] = {
    {"add", transfer_add, METH_VARARGS,
     "add(host, path, kind)\n\nA push sends host, a file of this machine, to path below the "
     "sandbox' .hermes; both are bytes."},
    {"remove", transfer_remove, METH_VARARGS, "remove(path)\n\nA push deletes path there."},
    {"protect", transfer_protect, METH_VARARGS,
     "protect(host, mirrored=False)\n\nNo sandbox' data is written there (B-83)."},
    {"follow", transfer_follow, METH_O,
     "follow(recovered)\n\nThis push is the one behind that recovery (B-75)."},
    {"push", transfer_push, METH_NOARGS, "push()\n\nStarts; wait() for its end."},
    {"recover", transfer_recover, METH_NOARGS,
     "recover()\n\nStarts a snapshot of skills/ and memories/; wait(), then apply()."},
    {"pull", transfer_pull, METH_VARARGS,
     "pull(fd, recover=False)\n\nStarts to write all of the sandbox' .hermes to fd as a tar "
     "archive; "
     "recover: also as recover()."},
    {"wait", transfer_wait, METH_VARARGS,
     "wait(ms=100) -> bool\n\nTrue at its end. Signals are let in."},
    {"cancel", transfer_cancel, METH_NOARGS, "cancel()\n\nEnds it, soon."},
    {"apply", transfer_apply, METH_O,
     "apply(present)\n\nRestores and parks what came; present: the paths that would be pushed now, "
     "as bytes, or None. Blocks. None, or why it failed."},
    {"notes", transfer_notes, METH_NOARGS,
     "notes() -> [(level, text)]\n\nWhat a person should hear of it."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"failure", get_failure, NULL, "None, or why it failed: a dict.", NULL},
    {"progress", get_progress, NULL, "Files and bytes that were moved so far.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "One movement of files. One thread at a time."},
    {Py_tp_dealloc, transfer_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {0, NULL},
};

PyType_Spec native_transfer_spec = {
    .name = "hermes_e2b._native.Transfer",
    .basicsize = sizeof(Transfer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
