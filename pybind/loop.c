/* The loop thread: one for the process, made at the first use, never ended (B-96). */
#include "native.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static struct native_loop *the_loop;

static void *run(void *arg)
{
    struct native_loop *loop = arg;

    he2b_loop_run(loop->loop);
    return NULL;
}

bool native_thread_start(void *(*fn)(void *arg), void *arg)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    bool started;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&thread, &attributes, fn, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

static struct native_loop *make(void)
{
    struct native_loop *loop = calloc(1, sizeof(*loop));

    if (!loop)
        return NULL;
    loop->pid = getpid();
    if (he2b_loop_new(&loop->loop) != HE2B_OK) {
        free(loop);
        return NULL;
    }
    if (!native_thread_start(run, loop)) {
        he2b_loop_del(loop->loop);
        free(loop);
        return NULL;
    }
    return loop;
}

bool native_here(const struct native_loop *loop)
{
    if (loop->pid == getpid())
        return true;
    PyErr_SetString(PyExc_RuntimeError,
                    "hermes_e2b cannot be used in a forked child; start a new process instead");
    return false;
}

struct native_loop *native_loop_get(void)
{
    struct native_loop *loop;

    pthread_mutex_lock(&making);
    if (!the_loop)
        the_loop = make();
    loop = the_loop;
    pthread_mutex_unlock(&making);
    if (!loop) {
        PyErr_SetString(PyExc_RuntimeError, "hermes_e2b cannot start its loop thread");
        return NULL;
    }
    return native_here(loop) ? loop : NULL;
}
