/*
 * Starting one process (wire C.6, C.9): user, directory, environment, descriptors.
 */
#ifndef HE2B_LOCAL_DAEMON_SPAWN_H
#define HE2B_LOCAL_DAEMON_SPAWN_H

#include "local/daemon.h"
#include "local/daemon_user.h"

enum {
    /* Names in an environment; each is looked for among those before: guards the daemon's time. */
    SPAWN_ENVS_MAX = 4096,
};

struct spawn {
    /* asked for */
    struct daemon_user user;
    char cwd[DAEMON_PATH_MAX];
    const he2b_json *config; /* cmd, args, envs; borrowed */
    bool stdin_open;
    bool pty;
    unsigned short cols;
    unsigned short rows;
    /* made: non-blocking, close-on-exec; -1 where there is none */
    pid_t pid;
    int in;
    int out;
    int err;
    int terminal;
};

/*
 * Waits until the program runs, some milliseconds. 0, or -1 with a Connect code and a message. The
 * process is no leader of a session or group, but for one with a terminal, which leads both.
 */
int spawn_process(struct spawn *spawn, const char **ret_code, char *why, size_t why_size);

#endif
