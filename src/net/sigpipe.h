/*
 * SIGPIPE kept from the host: a library must not change the process-wide handler, so the signal is
 * blocked in this thread while sockets and pipes are written, and one that we caused is swallowed.
 */
#ifndef HE2B_NET_SIGPIPE_H
#define HE2B_NET_SIGPIPE_H

#include <signal.h>
#include <stdbool.h>

struct he2b_sigpipe {
    sigset_t before;
    bool pending_before;
};

void he2b_sigpipe_block(struct he2b_sigpipe *guard);
/* Puts the thread's mask back as it was. */
void he2b_sigpipe_restore(const struct he2b_sigpipe *guard);

#endif
