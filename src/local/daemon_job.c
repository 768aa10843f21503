#include "local/daemon_job.h"

#include "core/buf.h"
#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_exchange.h"
#include "local/daemon_rpc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * What comes through the pipe: 'M' and the message, or 'E', the code, NUL, and what is wrong. Less
 * than one byte behind it, '.', means that the child died on the way.
 */
static const char complete = '.';

struct job {
    struct exchange *x;
    int fd;
    struct event *readable;
    struct he2b_buf answer;
};

static void job_free(struct job *job)
{
    if (job->readable)
        event_free(job->readable);
    if (job->fd >= 0)
        close(job->fd);
    he2b_buf_free(&job->answer);
    exchange_handle(job->x, NULL, NULL);
    free(job);
}

static void job_gone(struct exchange *x)
{
    job_free(exchange_state(x));
}

static const struct exchange_ops job_ops = {.gone = job_gone};

/* ---- in the child ---- */

static void put(int fd, const void *data, size_t len)
{
    const char *bytes = data;

    while (len > 0) {
        ssize_t n = write(fd, bytes, len);

        if (n < 0 && errno == EINTR)
            continue;
        /* who asked is gone */
        if (n < 0)
            _exit(0);
        bytes += n;
        len -= (size_t)n;
    }
}

static _Noreturn void work_and_exit(int fd, void (*work)(struct job_result *, const void *),
                                    const void *arg)
{
    struct job_result result = {0};
    const char *text = NULL;
    size_t len = 0;

    /* whose input is closed meanwhile must see that */
    if (fd != STDERR_FILENO + 1)
        fd = dup2(fd, STDERR_FILENO + 1);
    (void)close_range(STDERR_FILENO + 2, ~0U, 0);
    work(&result, arg);
    if (!result.code) {
        text = result.message ? he2b_json_text(result.message, &len) : NULL;
        if (!text)
            _exit(1);
        put(fd, "M", 1);
        put(fd, text, len);
    } else {
        put(fd, "E", 1);
        put(fd, result.code, strlen(result.code) + 1);
        put(fd, result.why, strlen(result.why));
    }
    put(fd, &complete, 1);
    _exit(0);
}

/* ---- in the daemon ---- */

static void answer(struct job *job)
{
    const char *text = he2b_buf_str(&job->answer);
    struct exchange *x = job->x;
    size_t len = job->answer.len;

    exchange_handle(x, NULL, NULL);
    if (len < 2 || text[len - 1] != complete) {
        rpc_error(x, "internal", "the work was not completed");
    } else if (text[0] == 'M') {
        rpc_answer_text(x, text + 1, len - 2);
    } else {
        const char *why = text + 1 + strlen(text + 1) + 1;

        rpc_error(x, text + 1, "%.*s", (int)(text + len - 1 - why), why);
    }
    job_free(job);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    static char piece[65536];
    struct job *job = arg;
    ssize_t n = read(fd, piece, sizeof(piece));

    (void)what;
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n > 0 && he2b_buf_add(&job->answer, piece, (size_t)n) == HE2B_OK)
        return;
    if (n > 0)
        he2b_buf_clear(&job->answer);
    answer(job);
}

void job_run(struct exchange *x, void (*work)(struct job_result *ret, const void *arg),
             const void *arg)
{
    struct job *job = calloc(1, sizeof(*job));
    int fds[2] = {-1, -1};
    pid_t pid;

    if (!job || pipe2(fds, O_CLOEXEC) != 0) {
        rpc_error(x, "resource_exhausted", "the work cannot be started: %s", strerror(errno));
        free(job);
        return;
    }
    job->x = x;
    job->fd = fds[0];
    he2b_buf_init(&job->answer, DAEMON_MESSAGE_MAX);
    job->readable = event_new(daemon_globals.base, fds[0], EV_READ | EV_PERSIST, on_readable, job);
    pid = job->readable && event_add(job->readable, NULL) == 0 ? fork() : -1;
    if (pid == 0)
        work_and_exit(fds[1], work, arg);
    close(fds[1]);
    if (pid < 0) {
        job_free(job);
        rpc_error(x, "resource_exhausted", "the work cannot be started: %s", strerror(errno));
        return;
    }
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    exchange_handle(x, &job_ops, job);
}
