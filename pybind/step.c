/* Steps of a session (he2b.h), each on a thread of its own: files may block for long, and the
 * caller may be interrupted at any time, which must leave no lock half taken. */
#include "native.h"

#include <stdlib.h>
#include <time.h>

struct work {
    struct native_loop *loop;
    he2b_step *step;
};

static void finish(void *arg)
{
    he2b_step_done(arg, HE2B_STEP_DONE, NULL);
}

/* An answer that got lost would keep the session waiting for ever. */
static void answer(struct native_loop *loop, he2b_step *step)
{
    static const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};

    while (he2b_loop_post(loop->loop, finish, step) == HE2B_ERR_NOMEM)
        nanosleep(&moment, NULL);
}

static void *run(void *arg)
{
    struct work *work = arg;

    he2b_step_do(work->step);
    answer(work->loop, work->step);
    free(work);
    return NULL;
}

void native_step(void *user, he2b_step *step)
{
    struct native_loop *loop = user;
    struct work *work = malloc(sizeof(*work));

    if (work) {
        *work = (struct work){.loop = loop, .step = step};
        if (native_thread_start(run, work))
            return;
        free(work);
    }
    /* no thread to be had: the loop waits for the files itself */
    he2b_step_do(step);
    he2b_step_done(step, HE2B_STEP_DONE, NULL);
}
