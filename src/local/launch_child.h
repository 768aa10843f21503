/*
 * A child process that must not outlive the thread which made it, watched by a pidfd.
 */
#ifndef HE2B_LOCAL_LAUNCH_CHILD_H
#define HE2B_LOCAL_LAUNCH_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct launch_child {
    pid_t pid;
    int pidfd;
};

#define LAUNCH_CHILD_NONE                                                                          \
    ((struct launch_child){                                                                        \
        .pid = -1,                                                                                 \
        .pidfd = -1,                                                                               \
    })

/*
 * fork(2). Returns 1 in the parent with *ret, 0 in the child, -1 with errno. The child begins with
 * default signal actions, nothing blocked, and dies (SIGKILL) when the calling thread does. An
 * event library's signal handlers never run in it: they would write into the parent's loop.
 */
int launch_child_fork(struct launch_child *ret);

/* In a child: sets again what a change of ids has cleared. parent is its getppid() right after the
 * fork. Returns -1 with errno, ESRCH if the parent is gone already. */
int launch_child_die_with(pid_t parent);

/* SIGKILL, if there is one. */
void launch_child_kill(const struct launch_child *child);

/* Waits for its end, takes its status (waitpid(2)) and makes it LAUNCH_CHILD_NONE. 0 if none. */
int launch_child_wait(struct launch_child *child);

/* Runs a program with an empty environment, standard descriptors untouched, and waits for it.
 * Returns its waitpid(2) status, or -1 with errno. */
int launch_child_run(const char *path, char *const argv[]);

#endif
