#include "net/sigpipe.h"

#include <pthread.h>
#include <time.h>

static void only_sigpipe(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGPIPE);
}

static bool sigpipe_pending(void)
{
    sigset_t pending;

    sigemptyset(&pending);
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
}

void he2b_sigpipe_block(struct he2b_sigpipe *guard)
{
    sigset_t set;

    guard->pending_before = sigpipe_pending();
    only_sigpipe(&set);
    pthread_sigmask(SIG_BLOCK, &set, &guard->before);
}

void he2b_sigpipe_restore(const struct he2b_sigpipe *guard)
{
    static const struct timespec at_once = {0, 0};
    sigset_t set;

    if (!guard->pending_before && sigpipe_pending()) {
        only_sigpipe(&set);
        sigtimedwait(&set, NULL, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}
