#include "local/sweep.h"

#include "local/launch.h"
#include "local/launch_child.h"
#include "local/log.h"
#include "local/stamp.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    WAIT_MS = 10000,
    WHY_MAX = 512,
};

/* One process that deletes; the end of its pipe tells that it has ended. */
struct broom {
    struct sweep *sweep;
    struct broom *next;
    struct event *readable;
    struct launch_child child;
    int fd;
    char name[64];
};

struct sweep {
    struct event_base *base;
    int folders_fd;
    struct broom *first;
};

struct sweep *sweep_new(struct event_base *base, int folders_fd)
{
    struct sweep *sweep = calloc(1, sizeof *sweep);

    if (sweep) {
        sweep->base = base;
        sweep->folders_fd = folders_fd;
    }
    return sweep;
}

static void complain(const char *name, const char *why)
{
    log_line(LOG_LEVEL_WARNING,
             "the folder of a deleted sandbox (%s) is not gone yet: %s; the next start tries again",
             name, why);
}

/* Nothing of the server may be held open here: a client's connection would not end. */
static _Noreturn void work(int folders_fd, int pipe_fd, const char *name)
{
    char why[WHY_MAX] = "";

    if (dup2(pipe_fd, STDOUT_FILENO) < 0 || dup2(folders_fd, STDIN_FILENO) < 0)
        _exit(1);
    close_range(3, ~0U, 0);
    if (launch_delete_folder(STDIN_FILENO, name, why, sizeof why) == 0)
        _exit(0);
    (void)!write(STDOUT_FILENO, why, strlen(why));
    _exit(1);
}

/* Takes the process's end and its last words. */
static void collect(struct broom *broom)
{
    struct broom **link = &broom->sweep->first;
    char why[WHY_MAX];
    ssize_t n;

    do {
        n = read(broom->fd, why, sizeof why - 1);
    } while (n < 0 && errno == EINTR);
    why[n > 0 ? n : 0] = '\0';
    if (launch_child_wait(&broom->child) != 0)
        complain(broom->name, *why ? why : "the process that deletes it was ended");
    while (*link != broom)
        link = &(*link)->next;
    *link = broom->next;
    if (broom->readable)
        event_free(broom->readable);
    close(broom->fd);
    free(broom);
}

static void on_readable(evutil_socket_t fd, short what, void *user)
{
    (void)fd;
    (void)what;
    collect(user);
}

void sweep_start(struct sweep *sweep, const char *name)
{
    struct broom *broom = calloc(1, sizeof *broom);
    int ends[2] = {-1, -1};

    if (!broom || pipe2(ends, O_CLOEXEC) < 0) {
        complain(name, broom ? strerror(errno) : "out of memory");
        free(broom);
        return;
    }
    snprintf(broom->name, sizeof broom->name, "%s", name);
    broom->sweep = sweep;
    int forked = launch_child_fork(&broom->child);
    if (forked == 0)
        work(sweep->folders_fd, ends[1], broom->name);
    close(ends[1]);
    broom->fd = ends[0];
    if (forked < 0) {
        complain(name, strerror(errno));
        close(ends[0]);
        free(broom);
        return;
    }
    broom->next = sweep->first;
    sweep->first = broom;
    broom->readable = event_new(sweep->base, broom->fd, EV_READ, on_readable, broom);
    if (!broom->readable || event_add(broom->readable, NULL) != 0)
        collect(broom);
}

void sweep_del(struct sweep *sweep)
{
    int64_t until = stamp_monotonic_ms() + WAIT_MS;

    if (!sweep)
        return;
    while (sweep->first) {
        struct pollfd ended = {.fd = sweep->first->fd, .events = POLLIN};
        int64_t left = until - stamp_monotonic_ms();
        int n = left > 0 ? poll(&ended, 1, (int)left) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            launch_child_kill(&sweep->first->child);
        collect(sweep->first);
    }
    free(sweep);
}
