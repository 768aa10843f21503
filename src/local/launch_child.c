#include "local/launch_child.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void reset_signals(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

int launch_child_die_with(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return -1;
    if (getppid() != parent) {
        errno = ESRCH;
        return -1;
    }
    return 0;
}

int launch_child_fork(struct launch_child *ret)
{
    pid_t parent = getpid();
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0) {
        reset_signals();
        if (launch_child_die_with(parent) < 0)
            _exit(1);
        return 0;
    }
    int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid < 0) {
        errno = error;
        return -1;
    }
    /* close-on-exec by itself (pidfd_open(2)) */
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0) {
        error = errno;
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        errno = error;
        return -1;
    }
    *ret = (struct launch_child){.pid = pid, .pidfd = pidfd};
    return 1;
}

void launch_child_kill(const struct launch_child *child)
{
    if (child->pid > 0)
        kill(child->pid, SIGKILL);
}

int launch_child_wait(struct launch_child *child)
{
    int status = 0;
    if (child->pid > 0) {
        while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    if (child->pidfd >= 0)
        close(child->pidfd);
    *child = LAUNCH_CHILD_NONE;
    return status;
}

int launch_child_run(const char *path, char *const argv[])
{
    struct launch_child child = LAUNCH_CHILD_NONE;
    int forked = launch_child_fork(&child);
    if (forked < 0)
        return -1;
    if (forked == 0) {
        char *none[] = {NULL};
        execve(path, argv, none);
        _exit(127);
    }
    return launch_child_wait(&child);
}
