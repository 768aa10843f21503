#include "local/launch_slirp.h"

#include "local/launch_fd.h"
#include "local/launch_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void become_slirp(const char *program, pid_t first, int ready, int end)
{
    char pid[16];
    char ready_text[16];
    char end_text[16];
    snprintf(pid, sizeof pid, "%d", (int)first);
    snprintf(ready_text, sizeof ready_text, "%d", ready);
    snprintf(end_text, sizeof end_text, "%d", end);
    const char *argv[] = {
        "slirp4netns",
        "--configure",
        "--mtu=65520",
        "--disable-host-loopback",
        "--enable-sandbox",
        "--enable-seccomp",
        "-r",
        ready_text,
        "-e",
        end_text,
        pid,
        "tap0",
        NULL,
    };
    char *none[] = {NULL};
    /* execve(2) changes no argument; its type is older than const */
    if (fcntl(ready, F_SETFD, 0) == 0 && fcntl(end, F_SETFD, 0) == 0)
        execve(program, (char *const *)(const void *)argv, none);
    dprintf(STDERR_FILENO, "slirp4netns cannot be run: %s\n", strerror(errno));
    _exit(127);
}

int launch_slirp_start(struct launch_slirp *ret, pid_t first, int stderr_fd)
{
    char program[PATH_MAX];
    int ready_other = -1;
    int exit_other = -1;
    int forked = -1;
    if (launch_programs_find(program, "slirp4netns") < 0) {
        errno = ENOENT;
        return -1;
    }
    if (launch_fd_pipe(&ret->ready_fd, &ready_other) == 0 &&
        launch_fd_pipe(&exit_other, &ret->exit_fd) == 0)
        forked = launch_child_fork(&ret->child);
    if (forked == 0) {
        if (dup2(stderr_fd, 1) < 0 || dup2(stderr_fd, 2) < 0)
            _exit(127);
        become_slirp(program, first, ready_other, exit_other);
    }
    int error = errno;
    launch_fd_close(&ready_other);
    launch_fd_close(&exit_other);
    errno = error;
    return forked < 0 ? -1 : 0;
}
