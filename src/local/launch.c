#include "local/launch.h"

#include "core/text.h"
#include "local/launch_child.h"
#include "local/launch_keeper.h"
#include "local/launch_memory.h"
#include "local/launch_setup.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ID_MAX = 64,
    /* longer than the keeper ever takes; then it is killed, and all below it dies with it */
    DEL_WAIT_MS = 15000,
};

struct launch {
    launch_exit_fn exited;
    void *user;
    struct launch_child keeper;
    /* the keeper's end is its plane_fd */
    int keeper_fd;
    struct event *readable;
    char sandbox_id[ID_MAX + 1];
    char why[LAUNCH_KEEPER_WHY_MAX];
};

/* After the keeper's end of file: takes its status and what it leaves. */
static void collect(struct launch *launch)
{
    if (launch->readable != NULL)
        event_free(launch->readable);
    launch->readable = NULL;
    if (launch->keeper_fd >= 0)
        close(launch->keeper_fd);
    launch->keeper_fd = -1;
    int status = launch_child_wait(&launch->keeper);
    if (WIFSIGNALED(status))
        snprintf(launch->why, sizeof launch->why,
                 "the process that keeps the sandbox was ended by signal %d", WTERMSIG(status));
    launch_memory_remove(launch->sandbox_id);
}

/* Returns true at the end of file. */
static bool hear_keeper(struct launch *launch)
{
    char text[LAUNCH_KEEPER_WHY_MAX];
    ssize_t n = recv(launch->keeper_fd, text, sizeof text, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    if (n > 0)
        he2b_text_line(launch->why, sizeof launch->why, text, (size_t)n);
    return n <= 0;
}

static void on_readable(evutil_socket_t fd, short what, void *user)
{
    (void)fd;
    (void)what;
    struct launch *launch = user;
    if (!hear_keeper(launch))
        return;
    collect(launch);
    launch->exited(launch->user, launch->why);
}

static int fork_keeper(struct launch *launch, const struct launch_spec *spec, int procs_fd)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    int forked = launch_child_fork(&launch->keeper);
    if (forked == 0)
        launch_keeper(&(struct launch_keeper_spec){
            .sandbox = spec, .ids = launch_setup_ids(), .procs_fd = procs_fd, .plane_fd = pair[1]});
    int error = errno;
    close(pair[1]);
    if (forked < 0)
        close(pair[0]);
    else
        launch->keeper_fd = pair[0];
    errno = error;
    return forked < 0 ? -1 : 0;
}

int launch_start(struct launch **ret, struct event_base *base, const struct launch_spec *spec,
                 launch_exit_fn exited, void *user, char *why, size_t why_size)
{
    int result = -1;
    int procs_fd = -1;
    struct launch *launch = calloc(1, sizeof *launch);
    if (launch == NULL) {
        snprintf(why, why_size, "out of memory");
        return -1;
    }
    launch->exited = exited;
    launch->user = user;
    launch->keeper = LAUNCH_CHILD_NONE;
    launch->keeper_fd = -1;
    snprintf(launch->sandbox_id, sizeof launch->sandbox_id, "%s", spec->sandbox_id);
    if (spec->memory_limit > 0 && !spec->without_isolation &&
        launch_memory_make(&procs_fd, launch->sandbox_id, spec->memory_limit, why, why_size) < 0)
        goto done;
    if (fork_keeper(launch, spec, procs_fd) < 0) {
        snprintf(why, why_size, "a process for the sandbox cannot be started: %s", strerror(errno));
        goto done;
    }
    launch->readable =
        event_new(base, launch->keeper_fd, EV_READ | EV_PERSIST, on_readable, launch);
    if (launch->readable == NULL || event_add(launch->readable, NULL) < 0) {
        snprintf(why, why_size, "the sandbox cannot be watched: out of memory");
        goto done;
    }
    *ret = launch;
    launch = NULL;
    result = 0;
done:
    if (procs_fd >= 0)
        close(procs_fd);
    launch_del(launch);
    return result;
}

void launch_kill(struct launch *launch)
{
    /* fails only when the keeper is at its end already */
    if (launch->keeper_fd >= 0)
        (void)send(launch->keeper_fd, "k", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void launch_del(struct launch *launch)
{
    if (launch == NULL)
        return;
    if (launch->keeper_fd >= 0) {
        launch_kill(launch);
        struct pollfd ended = {.fd = launch->keeper.pidfd, .events = POLLIN};
        int n;
        do {
            n = poll(&ended, 1, DEL_WAIT_MS);
        } while (n < 0 && errno == EINTR);
        if (n != 1)
            launch_child_kill(&launch->keeper);
    }
    collect(launch);
    free(launch);
}
