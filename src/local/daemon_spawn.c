#include "local/daemon_spawn.h"

#include "local/daemon_spawn_args.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* What failed in the child, with its errno. */
enum step {
    STEP_USER,
    STEP_CWD,
    STEP_EXEC,
};

struct report {
    int error;
    enum step step;
};

/* ---- in the child, which never returns ---- */

static _Noreturn void give_up(int report_fd, enum step step)
{
    struct report report = {errno, step};

    while (write(report_fd, &report, sizeof(report)) < 0 && errno == EINTR) {
    }
    _exit(127);
}

static void become(const struct daemon_user *user, int report_fd)
{
    /* one that is not root is only itself */
    if (geteuid() != 0)
        return;
    if (initgroups(user->name, user->gid) != 0 || setresgid(user->gid, user->gid, user->gid) != 0 ||
        setresuid(user->uid, user->uid, user->uid) != 0)
        give_up(report_fd, STEP_USER);
}

static void reset_signals(void)
{
    sigset_t none;
    int i;

    for (i = 1; i < NSIG; i++)
        (void)signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void run_child(const struct spawn *spawn, const struct spawn_args *args,
                                const int fds[3], int terminal, int report_fd)
{
    int i;

    if (terminal >= 0) {
        setsid();
        (void)ioctl(terminal, TIOCSCTTY, 0);
    }
    for (i = 0; i < 3; i++) {
        if (dup2(terminal >= 0 ? terminal : fds[i], i) < 0)
            give_up(report_fd, STEP_EXEC);
    }
    become(&spawn->user, report_fd);
    if (chdir(spawn->cwd) != 0)
        give_up(report_fd, STEP_CWD);
    umask(022);
    (void)setrlimit(RLIMIT_NOFILE, &daemon_globals.descriptors);
    reset_signals();
    execve("/bin/sh", args->argv, args->env);
    give_up(report_fd, STEP_EXEC);
}

/* ---- in the daemon ---- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ours does not block */
static bool make_pipe(int *ours, int *theirs, bool we_read)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) != 0)
        return false;
    *ours = we_read ? fds[0] : fds[1];
    *theirs = we_read ? fds[1] : fds[0];
    return fcntl(*ours, F_SETFL, O_NONBLOCK) == 0;
}

static bool make_terminal(struct spawn *spawn, int *theirs)
{
    struct winsize size = {.ws_col = spawn->cols, .ws_row = spawn->rows};

    if (openpty(&spawn->terminal, theirs, NULL, NULL, &size) != 0)
        return false;
    return fcntl(spawn->terminal, F_SETFD, FD_CLOEXEC) == 0 &&
           fcntl(*theirs, F_SETFD, FD_CLOEXEC) == 0 &&
           fcntl(spawn->terminal, F_SETFL, O_RDWR | O_NONBLOCK) == 0 &&
           daemon_user_own(&spawn->user, *theirs, NULL) == 0;
}

static bool make_descriptors(struct spawn *spawn, int fds[3], int *terminal)
{
    if (spawn->pty)
        return make_terminal(spawn, terminal);
    if (spawn->stdin_open) {
        if (!make_pipe(&spawn->in, &fds[0], false))
            return false;
    } else {
        fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (fds[0] < 0)
            return false;
    }
    return make_pipe(&spawn->out, &fds[1], true) && make_pipe(&spawn->err, &fds[2], true);
}

/* No handler of the daemon may run in the child: signals wait until it has its own. */
static pid_t fork_quietly(sigset_t *old)
{
    sigset_t all;
    pid_t pid;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, old);
    pid = fork();
    if (pid != 0)
        sigprocmask(SIG_SETMASK, old, NULL);
    return pid;
}

/* End of file means that exec has happened. */
static bool runs(int report_fd, struct report *ret)
{
    ssize_t n;

    do {
        n = read(report_fd, ret, sizeof(*ret));
    } while (n < 0 && errno == EINTR);
    return n != (ssize_t)sizeof(*ret);
}

static void say_report(const struct spawn *spawn, const struct report *report, char *why,
                       size_t why_size)
{
    const char *text = strerror(report->error);

    switch (report->step) {
    case STEP_USER:
        snprintf(why, why_size, "error starting process: becoming user %s: %s", spawn->user.name,
                 text);
        break;
    case STEP_CWD:
        snprintf(why, why_size, "error starting process: chdir %s: %s", spawn->cwd, text);
        break;
    case STEP_EXEC:
        snprintf(why, why_size, "error starting process: fork/exec /bin/sh: %s", text);
        break;
    }
}

static bool cwd_exists(const struct spawn *spawn)
{
    struct stat info;

    /* other trouble is told by the spawn itself */
    return stat(spawn->cwd, &info) == 0 || errno != ENOENT;
}

int spawn_process(struct spawn *spawn, const char **ret_code, char *why, size_t why_size)
{
    struct spawn_args args = {0};
    struct report report;
    int fds[3] = {-1, -1, -1};
    int report_fds[2] = {-1, -1};
    int terminal = -1;
    int result = -1;
    const char *wrong;
    sigset_t old;

    spawn->in = spawn->out = spawn->err = spawn->terminal = -1;
    *ret_code = "invalid_argument";
    if (!cwd_exists(spawn)) {
        snprintf(why, why_size, "cwd '%s' does not exist", spawn->cwd);
        goto out;
    }
    wrong = spawn_args_make(&args, spawn);
    if (wrong) {
        snprintf(why, why_size, "error starting process: %s", wrong);
        goto out;
    }
    *ret_code = "resource_exhausted";
    if (pipe2(report_fds, O_CLOEXEC) != 0 || !make_descriptors(spawn, fds, &terminal)) {
        snprintf(why, why_size, "error starting process: %s", strerror(errno));
        goto out;
    }
    spawn->pid = fork_quietly(&old);
    if (spawn->pid < 0) {
        snprintf(why, why_size, "error starting process: fork/exec /bin/sh: %s", strerror(errno));
        goto out;
    }
    if (spawn->pid == 0)
        run_child(spawn, &args, fds, terminal, report_fds[1]);
    close_fd(&report_fds[1]);
    if (runs(report_fds[0], &report)) {
        result = 0;
    } else {
        *ret_code = "invalid_argument";
        say_report(spawn, &report, why, why_size);
    }
out:
    spawn_args_free(&args);
    close_fd(&report_fds[0]);
    close_fd(&report_fds[1]);
    close_fd(&fds[0]);
    close_fd(&fds[1]);
    close_fd(&fds[2]);
    close_fd(&terminal);
    if (result != 0) {
        close_fd(&spawn->in);
        close_fd(&spawn->out);
        close_fd(&spawn->err);
        close_fd(&spawn->terminal);
    }
    return result;
}
