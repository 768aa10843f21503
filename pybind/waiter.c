/* hermes_e2b._native.Waiter: the answer to prepare() and close(). */
#include "native.h"

typedef struct {
    PyObject_HEAD struct native_event *event;
    struct native_shared *shared;
} Waiter;

PyObject *native_waiter_new(struct native_state *state, struct native_event *event,
                            struct native_shared *shared)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(state->waiter_type, Py_tp_alloc);
    Waiter *self = (Waiter *)alloc(state->waiter_type, 0);

    if (!self)
        return NULL;
    self->event = native_event_ref(event);
    self->shared = native_shared_ref(shared);
    native_shared_await(shared, event);
    return (PyObject *)self;
}

static void waiter_dealloc(PyObject *object)
{
    Waiter *self = (Waiter *)object;
    PyTypeObject *type = Py_TYPE(object);
    bool done;

    pthread_mutex_lock(&self->event->lock);
    done = self->event->done;
    pthread_mutex_unlock(&self->event->lock);
    /* An interrupt ended the waiting: locks are not held for who is not there (B-116). */
    if (!done)
        native_session_unwish(self->shared, self->event);
    native_shared_forget(self->shared, self->event);
    native_event_unref(self->event);
    native_shared_unref(self->shared);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *waiter_wait(PyObject *object, PyObject *args)
{
    Waiter *self = (Waiter *)object;
    long ms = 100;
    int done;

    if (!PyArg_ParseTuple(args, "|l", &ms) || !native_here(self->shared->loop))
        return NULL;
    done = native_event_wait(self->event, ms);
    return done < 0 ? NULL : PyBool_FromLong(done);
}

static PyObject *waiter_failure(PyObject *object, void *unused)
{
    Waiter *self = (Waiter *)object;
    struct native_failure failure;

    (void)unused;
    pthread_mutex_lock(&self->event->lock);
    failure = self->event->failure;
    pthread_mutex_unlock(&self->event->lock);
    return native_failure_dict(&failure);
}

static PyMethodDef methods[] = {
    {"wait", waiter_wait, METH_VARARGS,
     "wait(ms=100) -> bool\n\nTrue once the answer is there; False at the latest after ms, and "
     "when a "
     "step came (Session.take_step). Signals are let in at its end."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"failure", waiter_failure, NULL, "None, or what failed: a dict of its parts.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The answer that is on its way."},
    {Py_tp_dealloc, waiter_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {0, NULL},
};

PyType_Spec native_waiter_spec = {
    .name = "hermes_e2b._native.Waiter",
    .basicsize = sizeof(Waiter),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
