/*
 * --unsafely-without-isolation: the daemon as a plain child of the keeper.
 */
#ifndef HE2B_LOCAL_LAUNCH_PLAIN_H
#define HE2B_LOCAL_LAUNCH_PLAIN_H

#include "local/launch.h"

/*
 * Becomes the daemon as launch.h describes it; runs in a forked child and does not return. A
 * failure is one line to stderr_fd and status 1. Descriptors are LAUNCH_FD_LOWEST or above,
 * close-on-exec.
 */
_Noreturn void launch_plain(const struct launch_spec *spec, int stderr_fd);

/*
 * Kills every child of this process until there is none; being their subreaper (prctl(2)), it gets
 * their children too. Only the keeper's death by SIGKILL leaves some of them behind.
 */
void launch_plain_kill_rest(void);

#endif
