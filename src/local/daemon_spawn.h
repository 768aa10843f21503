/*
 * Starting one process (wire C.6, C.9): user, directory, environment, descriptors.
 */
#ifndef HE2B_LOCAL_DAEMON_SPAWN_H
#define HE2B_LOCAL_DAEMON_SPAWN_H

#include "local/daemon.h"

struct spawn {
    /* asked for */
    struct daemon_user user;
    char cwd[DAEMON_PATH_MAX];
    const he2b_json *config; /* cmd, args, envs */
    bool stdin_open;
    bool pty;
    unsigned cols;
    unsigned rows;
    /* made: non-blocking, close-on-exec; -1 where there is none */
    pid_t pid;
    int in;
    int out;
    int err;
    int terminal;
};

/* 0, or -1 with a Connect code and a message. */
int spawn_process(struct spawn *spawn, const char **ret_code, char *why, size_t why_size);

#endif
