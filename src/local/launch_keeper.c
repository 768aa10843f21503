#include "local/launch_keeper.h"

#include "local/launch_child.h"
#include "local/launch_enter.h"
#include "local/launch_fd.h"
#include "local/launch_plain.h"
#include "local/launch_programs.h"
#include "local/launch_slirp.h"
#include "local/launch_tail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    /* bwrap's --info-fd: one JSON object with a few numbers */
    INFO_MAX = 1024,
    /* a killed pid namespace is gone in milliseconds; a hung file system must not hang us */
    GONE_MS = 10000,
};

struct keeper {
    const struct launch_keeper_spec *spec;
    struct launch_spec sandbox;
    enum launch_network network;
    int plane_fd;
    int procs_fd;
    int init_fd;
    int daemon_fd;

    /* bwrap, or the daemon itself without isolation */
    struct launch_child box;
    struct launch_slirp slirp;
    /* pid 1 inside: when this one is gone, the kernel has killed and collected all others */
    int first_pidfd;
    /* the other end of tail's pipe, kept until slirp4netns has it as well */
    int stderr_other_fd;
    /* the other sides of these are with the box */
    int sync_fd;
    int info_fd;

    struct launch_tail tail;
    struct timespec deadline;
    bool told_to_end;
    char why[LAUNCH_KEEPER_WHY_MAX];
};

static void set_why(struct keeper *keeper, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void set_why(struct keeper *keeper, const char *format, ...)
{
    if (keeper->why[0] != '\0' || keeper->told_to_end)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(keeper->why, sizeof keeper->why, format, args);
    va_end(args);
}

static int remaining_ms(const struct keeper *keeper)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long ms = (keeper->deadline.tv_sec - now.tv_sec) * 1000LL +
                   (keeper->deadline.tv_nsec - now.tv_nsec) / 1000000;
    return ms < 0 ? 0 : (int)ms;
}

static void set_deadline(struct keeper *keeper, int ms)
{
    clock_gettime(CLOCK_MONOTONIC, &keeper->deadline);
    keeper->deadline.tv_sec += ms / 1000;
}

static int hear_plane(struct keeper *keeper)
{
    keeper->told_to_end = true;
    keeper->why[0] = '\0';
    return -1;
}

/*
 * Waits till fd can be read, or, with fd -1, till child has ended. Meanwhile the plane is heard and
 * standard error read. Returns 0; or -1 if the plane said to end, the deadline passed or (with an
 * fd) the child ended, which is then the reason that finish() takes from its status.
 */
static int await(struct keeper *keeper, int fd, const struct launch_child *child, bool timed)
{
    for (;;) {
        struct pollfd fds[] = {
            {.fd = fd, .events = POLLIN},
            {.fd = child->pidfd, .events = POLLIN},
            {.fd = keeper->plane_fd, .events = POLLIN},
            {.fd = keeper->tail.fd, .events = POLLIN},
        };
        int n = poll(fds, 4, timed ? remaining_ms(keeper) : -1);
        if (n < 0 && errno != EINTR) {
            set_why(keeper, "waiting for the sandbox failed: %s", strerror(errno));
            return -1;
        }
        if (n < 0)
            continue;
        if (n == 0) {
            set_why(keeper, "the sandbox did not start within %d seconds%s%s",
                    LAUNCH_KEEPER_START_MS / 1000, keeper->tail.len > 0 ? ": " : "",
                    launch_tail_text(&keeper->tail));
            return -1;
        }
        if (fds[3].revents != 0)
            launch_tail_read(&keeper->tail);
        if (fds[2].revents != 0)
            return hear_plane(keeper);
        if (fds[0].revents != 0)
            return 0;
        if (fds[1].revents != 0)
            return fd < 0 ? 0 : -1;
    }
}

/* What the sandbox's side of each pair is while the child is being made. */
struct other_ends {
    int sync_fd;
    int info_fd;
};

static int make_ends(struct keeper *keeper, struct other_ends *other)
{
    int pair[2];
    if (launch_fd_pipe(&keeper->tail.fd, &keeper->stderr_other_fd) < 0 ||
        launch_fd_pipe(&keeper->info_fd, &other->info_fd) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
        launch_fd_raise(&pair[0]) < 0 || launch_fd_raise(&pair[1]) < 0) {
        set_why(keeper, "descriptors for the sandbox cannot be made: %s", strerror(errno));
        return -1;
    }
    keeper->sync_fd = pair[0];
    other->sync_fd = pair[1];
    return 0;
}

static void close_others(struct other_ends *other)
{
    launch_fd_close(&other->sync_fd);
    launch_fd_close(&other->info_fd);
}

static int open_programs(struct keeper *keeper)
{
    keeper->init_fd = launch_programs_open(LAUNCH_PROGRAM_INIT);
    if (keeper->init_fd < 0) {
        set_why(keeper, "%s is not installed beside e2b-local or in %s", LAUNCH_PROGRAM_INIT,
                HE2B_PKGLIBEXECDIR);
        return -1;
    }
    if (!keeper->spec->trial) {
        keeper->daemon_fd = launch_programs_open(launch_programs_daemon());
        if (keeper->daemon_fd < 0) {
            set_why(keeper, "%s is not installed beside e2b-local or in %s",
                    launch_programs_daemon(), HE2B_PKGLIBEXECDIR);
            return -1;
        }
    }
    if (launch_fd_raise(&keeper->init_fd) < 0 || launch_fd_raise(&keeper->daemon_fd) < 0) {
        set_why(keeper, "descriptors for the sandbox cannot be made: %s", strerror(errno));
        return -1;
    }
    return 0;
}

static int fork_box(struct keeper *keeper, struct other_ends *other, const char *bwrap)
{
    pid_t self = getpid();
    int forked = launch_child_fork(&keeper->box);
    if (forked < 0) {
        set_why(keeper, "a process for the sandbox cannot be made: %s", strerror(errno));
        return -1;
    }
    if (forked == 0) {
        /* the keeper's ends would keep each other open */
        launch_fd_close(&keeper->sync_fd);
        launch_enter(&(struct launch_enter_spec){
            .ids = keeper->spec->ids,
            .network = keeper->network,
            .process_limit = keeper->sandbox.process_limit,
            .bwrap = bwrap,
            .parent = self,
            .sync_fd = other->sync_fd,
            .listen_fd = keeper->sandbox.listen_fd,
            .control_fd = keeper->sandbox.control_fd,
            .stderr_fd = keeper->stderr_other_fd,
            .folder_fd = keeper->sandbox.folder_fd,
            .init_fd = keeper->init_fd,
            .daemon_fd = keeper->daemon_fd,
            .info_fd = other->info_fd,
        });
    }
    close_others(other);
    /* the daemon's end is seen by the plane only if nobody else holds these two */
    launch_fd_close(&keeper->sandbox.listen_fd);
    launch_fd_close(&keeper->sandbox.control_fd);
    launch_fd_close(&keeper->sandbox.folder_fd);
    return 0;
}

static int let_box_in(struct keeper *keeper)
{
    char byte;
    if (await(keeper, keeper->sync_fd, &keeper->box, true) < 0)
        return -1;
    if (read(keeper->sync_fd, &byte, 1) != 1)
        return -1;
    char why[LAUNCH_KEEPER_WHY_MAX];
    if (launch_ids_write(keeper->spec->ids, LAUNCH_IDS_SANDBOX, keeper->box.pid, why, sizeof why) <
        0) {
        set_why(keeper, "%s", why);
        return -1;
    }
    if (keeper->procs_fd >= 0) {
        char pid[16];
        int len = snprintf(pid, sizeof pid, "%d", (int)keeper->box.pid);
        if (launch_fd_write(keeper->procs_fd, pid, (size_t)len) < 0) {
            set_why(keeper, "the sandbox cannot be put under its memory limit: %s",
                    strerror(errno));
            return -1;
        }
        launch_fd_close(&keeper->procs_fd);
    }
    if (send(keeper->sync_fd, "g", 1, MSG_NOSIGNAL) != 1)
        return -1;
    return 0;
}

/* bwrap tells the process id of pid 1 inside. */
static int learn_first(struct keeper *keeper, pid_t *ret)
{
    char info[INFO_MAX] = "";
    size_t len = 0;
    for (;;) {
        if (await(keeper, keeper->info_fd, &keeper->box, true) < 0)
            return -1;
        ssize_t n = read(keeper->info_fd, info + len, sizeof info - 1 - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        len += (size_t)n;
        info[len] = '\0';
        if (strchr(info, '}') != NULL)
            break;
    }
    launch_fd_close(&keeper->info_fd);
    const char *at = strstr(info, "\"child-pid\":");
    long pid = at == NULL ? 0 : strtol(at + strlen("\"child-pid\":"), NULL, 10);
    /* it has ended or is about to, and its status says why */
    if (pid <= 1)
        return -1;
    keeper->first_pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    /* bwrap collects that process, and ends with it: while bwrap lives, the number is its own */
    if (poll(&(struct pollfd){.fd = keeper->box.pidfd, .events = POLLIN}, 1, 0) != 0)
        launch_fd_close(&keeper->first_pidfd);
    if (keeper->first_pidfd < 0) {
        set_why(keeper, "the sandbox's first process is gone");
        return -1;
    }
    *ret = (pid_t)pid;
    return 0;
}

/*
 * Till pid 1 is e2b-local-init and waits. Not sooner (bwrap's --block-fd): both bwrap and
 * slirp4netns bring lo up, and bwrap fails if it is the second.
 */
static int await_first(struct keeper *keeper)
{
    char byte;
    if (await(keeper, keeper->sync_fd, &keeper->box, true) < 0)
        return -1;
    return read(keeper->sync_fd, &byte, 1) == 1 ? 0 : -1;
}

static int start_slirp(struct keeper *keeper, pid_t first)
{
    char byte;
    if (launch_slirp_start(&keeper->slirp, first, keeper->stderr_other_fd) < 0) {
        set_why(keeper, "slirp4netns cannot be started: %s", strerror(errno));
        return -1;
    }
    if (await(keeper, keeper->slirp.ready_fd, &keeper->slirp.child, true) < 0 ||
        read(keeper->slirp.ready_fd, &byte, 1) != 1) {
        launch_tail_drain(&keeper->tail);
        set_why(keeper, "slirp4netns could not connect the sandbox: %s",
                launch_tail_text(&keeper->tail));
        return -1;
    }
    launch_fd_close(&keeper->slirp.ready_fd);
    /* what it said about its success is nobody's reason */
    launch_tail_drain(&keeper->tail);
    keeper->tail.len = 0;
    return 0;
}

static int start_box(struct keeper *keeper)
{
    struct other_ends other = {-1, -1};
    char bwrap[PATH_MAX];
    pid_t first;
    if (launch_programs_find(bwrap, "bwrap") < 0) {
        set_why(keeper, "bwrap is not installed");
        return -1;
    }
    if (open_programs(keeper) < 0 || make_ends(keeper, &other) < 0 ||
        fork_box(keeper, &other, bwrap) < 0 || let_box_in(keeper) < 0 ||
        learn_first(keeper, &first) < 0 || await_first(keeper) < 0)
        return -1;
    if (keeper->network == LAUNCH_NETWORK_SLIRP && start_slirp(keeper, first) < 0)
        return -1;
    launch_fd_close(&keeper->stderr_other_fd);
    if (send(keeper->sync_fd, "g", 1, MSG_NOSIGNAL) != 1)
        return -1;
    launch_fd_close(&keeper->sync_fd);
    return 0;
}

/* No namespaces: launch_plain.h. */
static int start_plain(struct keeper *keeper)
{
    if (launch_fd_pipe(&keeper->tail.fd, &keeper->stderr_other_fd) < 0 ||
        prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) {
        set_why(keeper, "the sandbox cannot be prepared: %s", strerror(errno));
        return -1;
    }
    int forked = launch_child_fork(&keeper->box);
    if (forked == 0)
        launch_plain(&keeper->sandbox, keeper->stderr_other_fd);
    launch_fd_close(&keeper->stderr_other_fd);
    launch_fd_close(&keeper->sandbox.listen_fd);
    launch_fd_close(&keeper->sandbox.control_fd);
    if (forked < 0) {
        set_why(keeper, "a process for the sandbox cannot be made: %s", strerror(errno));
        return -1;
    }
    return 0;
}

static void await_gone(int pidfd)
{
    struct pollfd gone = {.fd = pidfd, .events = POLLIN};
    while (pidfd >= 0 && poll(&gone, 1, GONE_MS) < 0 && errno == EINTR)
        continue;
}

/* Ends what still runs and waits for it; then tells the plane why. */
static _Noreturn void finish(struct keeper *keeper)
{
    bool had_box = keeper->box.pid > 0;
    if (keeper->first_pidfd >= 0)
        (void)syscall(SYS_pidfd_send_signal, keeper->first_pidfd, SIGKILL, NULL, 0);
    struct pollfd ended = {.fd = keeper->box.pidfd, .events = POLLIN};
    /* a failed start without a reason is one that the child is just about to end with */
    bool failing = keeper->why[0] == '\0' && !keeper->told_to_end;
    bool by_itself = had_box && poll(&ended, 1, failing ? GONE_MS : 0) == 1;
    if (!by_itself && failing)
        set_why(keeper, "the sandbox did not start");
    if (!by_itself)
        launch_child_kill(&keeper->box);
    await_gone(keeper->first_pidfd);
    int status = launch_child_wait(&keeper->box);
    if (keeper->sandbox.without_isolation)
        launch_plain_kill_rest();
    launch_child_kill(&keeper->slirp.child);
    launch_child_wait(&keeper->slirp.child);
    launch_tail_drain(&keeper->tail);

    const char *said = launch_tail_text(&keeper->tail);
    const char *colon = said[0] == '\0' ? "" : ": ";
    if (by_itself && WIFSIGNALED(status))
        set_why(keeper, "the sandbox was ended by signal %d%s%s", WTERMSIG(status), colon, said);
    else if (by_itself && WEXITSTATUS(status) != 0)
        set_why(keeper, "the sandbox ended with status %d%s%s", WEXITSTATUS(status), colon, said);
    const char *why = keeper->why[0] == '\0' ? "\n" : keeper->why;
    (void)send(keeper->plane_fd, why, strlen(why), MSG_NOSIGNAL);
    _exit(keeper->why[0] == '\0' ? 0 : 1);
}

static int take_descriptors(struct keeper *keeper)
{
    const struct launch_keeper_spec *spec = keeper->spec;
    keeper->sandbox = *spec->sandbox;
    keeper->plane_fd = spec->plane_fd;
    keeper->procs_fd = spec->procs_fd;
    int *all[] = {&keeper->sandbox.listen_fd, &keeper->sandbox.control_fd,
                  &keeper->sandbox.folder_fd, &keeper->plane_fd, &keeper->procs_fd};
    int keep[sizeof all / sizeof *all];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (launch_fd_raise(all[i]) < 0)
            return -1;
        keep[i] = *all[i];
    }
    return launch_fd_keep_only(keep, sizeof all / sizeof *all);
}

_Noreturn void launch_keeper(const struct launch_keeper_spec *spec)
{
    struct keeper keeper = {
        .spec = spec,
        .init_fd = -1,
        .daemon_fd = -1,
        .box = LAUNCH_CHILD_NONE,
        .slirp = LAUNCH_SLIRP_NONE,
        .tail = {.fd = -1},
        .first_pidfd = -1,
        .stderr_other_fd = -1,
        .sync_fd = -1,
        .info_fd = -1,
    };
    /* a key pressed in the plane's terminal is the plane's to answer; and no terminal for the rest
     */
    (void)setsid();
    (void)prctl(PR_SET_NAME, "e2b-local-keep");
    (void)signal(SIGPIPE, SIG_IGN);
    if (take_descriptors(&keeper) < 0)
        _exit(1);
    if (keeper.sandbox.share_host_network)
        keeper.network = LAUNCH_NETWORK_HOST;
    else
        keeper.network = keeper.sandbox.internet ? LAUNCH_NETWORK_SLIRP : LAUNCH_NETWORK_NONE;
    set_deadline(&keeper, LAUNCH_KEEPER_START_MS);
    int started = keeper.sandbox.without_isolation ? start_plain(&keeper) : start_box(&keeper);
    if (started == 0)
        (void)await(&keeper, -1, &keeper.box, false);
    finish(&keeper);
}
