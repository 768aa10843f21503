/*
 * Argument list and environment of a process (wire C.6, C.9), as execve(2) wants them.
 */
#ifndef HE2B_LOCAL_DAEMON_SPAWN_ARGS_H
#define HE2B_LOCAL_DAEMON_SPAWN_ARGS_H

#include <stddef.h>

struct spawn;

struct spawn_args {
    char **argv;
    char **env;
};

/* NULL and *ret, to be freed by spawn_args_free(); or what is wrong with the request (static), and
 * nothing is held. */
const char *spawn_args_make(struct spawn_args *ret, const struct spawn *spawn);
void spawn_args_free(struct spawn_args *args);

#endif
