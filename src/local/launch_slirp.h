/*
 * slirp4netns(1): a user-mode network for a sandbox, which reaches what this machine reaches, but
 * not its loopback.
 */
#ifndef HE2B_LOCAL_LAUNCH_SLIRP_H
#define HE2B_LOCAL_LAUNCH_SLIRP_H

#include "local/launch_child.h"

struct launch_slirp {
    struct launch_child child;
    /* gives one byte when the network is there; end of file when it failed */
    int ready_fd;
    /* slirp4netns ends when it is closed */
    int exit_fd;
};

#define LAUNCH_SLIRP_NONE                                                                          \
    ((struct launch_slirp){                                                                        \
        .child = LAUNCH_CHILD_NONE,                                                                \
        .ready_fd = -1,                                                                            \
        .exit_fd = -1,                                                                             \
    })

/*
 * Starts it for the network namespace of the process first, its standard output and error going to
 * stderr_fd. Returns 0, or -1 with errno: ENOENT if it is not installed. What is in *ret is the
 * caller's to end and close in both cases; it is LAUNCH_SLIRP_NONE before.
 */
int launch_slirp_start(struct launch_slirp *ret, pid_t first, int stderr_fd);

#endif
