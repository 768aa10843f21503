#include "session/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* What both threads have of it. */
struct shared {
    struct he2b_worker_events events;
    void *arg;
    int end; /* closed when work has returned */
    atomic_int holders;
};

struct he2b_worker {
    struct shared *shared;
    he2b_watch *watch;
    int ends; /* the other end */
    void *user;
};

static void let_go(struct shared *shared)
{
    if (atomic_fetch_sub(&shared->holders, 1) > 1)
        return;
    shared->events.release(shared->arg);
    free(shared);
}

static void *run(void *arg)
{
    struct shared *shared = arg;
    int end = shared->end;

    shared->events.work(shared->arg);
    let_go(shared);
    close(end);
    return NULL;
}

static void worker_free(struct he2b_worker *worker)
{
    he2b_watch_del(worker->watch);
    close(worker->ends);
    free(worker);
}

static void on_end(void *arg, int what)
{
    struct he2b_worker *worker = arg;
    struct shared *shared = worker->shared;
    void (*ended)(void *user) = shared->events.ended;
    void *user = worker->user;

    (void)what;
    /* what work wrote is seen from here on */
    (void)atomic_load(&shared->holders);
    worker_free(worker);
    ended(user);
    let_go(shared);
}

/* Its signals are the program's threads' own: one that it took would be lost to them, and a pipe
 * without a reader is an error here and no signal. */
static int start_thread(struct shared *shared)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    int error = pthread_attr_init(&attributes);

    if (error)
        return HE2B_ERR_NOMEM;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &attributes, run, shared);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error == 0 ? HE2B_OK : HE2B_ERR_SYSTEM;
}

int he2b_worker_start(he2b_worker **ret, he2b_loop *loop, const struct he2b_worker_events *events,
                      void *arg, void *user)
{
    struct he2b_worker *worker = calloc(1, sizeof(*worker));
    struct shared *shared = calloc(1, sizeof(*shared));
    int ends[2] = {-1, -1};
    int error = HE2B_ERR_NOMEM;

    if (!worker || !shared)
        goto fail;
    error = HE2B_ERR_SYSTEM;
    if (pipe2(ends, O_CLOEXEC) < 0)
        goto fail;
    shared->events = *events;
    shared->arg = arg;
    shared->end = ends[1];
    atomic_init(&shared->holders, 2);
    worker->shared = shared;
    worker->ends = ends[0];
    worker->user = user;
    error = he2b_watch_new(&worker->watch, loop, ends[0], HE2B_WATCH_READ, on_end, worker);
    if (!error)
        error = start_thread(shared);
    if (error)
        goto fail;
    *ret = worker;
    return HE2B_OK;
fail:
    if (worker)
        he2b_watch_del(worker->watch);
    if (ends[0] >= 0) {
        close(ends[0]);
        close(ends[1]);
    }
    free(worker);
    free(shared);
    return error;
}

void he2b_worker_drop(he2b_worker *worker)
{
    struct shared *shared;

    if (!worker)
        return;
    shared = worker->shared;
    worker_free(worker);
    let_go(shared);
}
