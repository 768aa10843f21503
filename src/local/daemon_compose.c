/* POST /files/compose (wire D.4): pieces become one file, in a temporary one that replaces it. */
#include "core/buf.h"
#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_exchange.h"
#include "local/daemon_files.h"
#include "local/daemon_path.h"
#include "local/daemon_user.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BODY_MAX = 4 * 1024 * 1024, /* a request with some thousand long paths; guards the memory */
    SOURCES_MAX = 10000,        /* guards the time of one turn of the loop */
};

struct compose {
    struct exchange *x;
    struct he2b_buf body;
    bool too_large;
    struct daemon_user user;
    char **sources; /* ends in NULL */
    size_t next;    /* source to open */
    char destination[DAEMON_PATH_MAX];
    char temporary[DAEMON_PATH_MAX]; /* "": not there */
    int from;                        /* -1: none open */
    int to;
    struct event *turn;
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void gone(struct exchange *x)
{
    struct compose *compose = exchange_state(x);
    size_t i;

    if (compose->turn)
        event_free(compose->turn);
    close_fd(&compose->from);
    close_fd(&compose->to);
    if (compose->temporary[0])
        unlink(compose->temporary);
    for (i = 0; compose->sources && compose->sources[i]; i++)
        free(compose->sources[i]);
    free(compose->sources);
    he2b_buf_free(&compose->body);
    free(compose);
}

static void fail_errno(struct compose *compose, const char *doing, const char *path, int error)
{
    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        exchange_error(compose->x, 507, "not enough disk space available");
    else
        exchange_error(compose->x, 500, "error %s '%s': %s", doing, path, strerror(error));
}

/* ---- copying ---- */

static void finish(struct compose *compose)
{
    he2b_json *entry;
    const char *text;
    size_t len = 0;
    size_t i;
    int error = 0;

    if (close(compose->to) != 0)
        error = errno;
    compose->to = -1;
    if (!error && rename(compose->temporary, compose->destination) != 0)
        error = errno;
    if (error) {
        fail_errno(compose, "replacing file", compose->destination, error);
        return;
    }
    compose->temporary[0] = '\0';
    for (i = 0; compose->sources[i]; i++)
        unlink(compose->sources[i]);
    entry = files_entry(compose->destination, NULL);
    text = entry ? he2b_json_text(entry, &len) : NULL;
    if (text)
        exchange_answer(compose->x, 200, "application/json; charset=utf-8", text, len);
    else
        exchange_error(compose->x, 500, "out of memory");
    he2b_json_del(entry);
}

/* One piece; false after an answer. */
static bool copy_piece(struct compose *compose)
{
    static char piece[FILES_PIECE];
    const char *data = piece;
    ssize_t n = read(compose->from, piece, sizeof(piece));

    if (n < 0 && errno != EINTR) {
        fail_errno(compose, "reading file", compose->sources[compose->next - 1], errno);
        return false;
    }
    if (n == 0)
        close_fd(&compose->from);
    while (n > 0) {
        ssize_t written = write(compose->to, data, (size_t)n);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            fail_errno(compose, "writing file", compose->temporary, errno);
            return false;
        }
        data += written;
        n -= written;
    }
    return true;
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval at_once = {0};
    struct compose *compose = arg;

    (void)fd;
    (void)what;
    if (compose->from < 0) {
        if (!compose->sources[compose->next]) {
            finish(compose);
            return;
        }
        compose->from = open(compose->sources[compose->next], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (compose->from < 0) {
            fail_errno(compose, "opening file", compose->sources[compose->next], errno);
            return;
        }
        compose->next++;
    }
    if (copy_piece(compose))
        event_add(compose->turn, &at_once);
}

/* ---- the request ---- */

/* false after an answer */
static bool check_source(struct compose *compose, const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            exchange_error(compose->x, 404, "source file '%s' does not exist", path);
        else
            fail_errno(compose, "opening file", path, errno);
        return false;
    }
    if (!S_ISREG(info.st_mode)) {
        exchange_error(compose->x, 400, "source '%s' is not a regular file", path);
        return false;
    }
    if (strcmp(path, compose->destination) == 0) {
        exchange_error(compose->x, 400, "source '%s' is the destination", path);
        return false;
    }
    return true;
}

static bool read_sources(struct compose *compose, const he2b_json *list)
{
    size_t count = he2b_json_array_size(list);
    char path[DAEMON_PATH_MAX];
    size_t i;

    if (count == 0 || count > SOURCES_MAX) {
        exchange_error(compose->x, 400, "source_paths must name 1 to %d files", SOURCES_MAX);
        return false;
    }
    compose->sources = calloc(count + 1, sizeof(*compose->sources));
    for (i = 0; compose->sources && i < count; i++) {
        const char *text = he2b_json_string(he2b_json_at(list, i), NULL);
        const char *wrong =
            text && text[0] ? daemon_path(path, text, &compose->user) : "it is empty";

        if (wrong) {
            exchange_error(compose->x, 400, "error resolving path '%s': %s", text ? text : "",
                           wrong);
            return false;
        }
        if (!check_source(compose, path))
            return false;
        compose->sources[i] = strdup(path);
        if (!compose->sources[i])
            break;
    }
    if (compose->sources && i == count)
        return true;
    exchange_error(compose->x, 500, "out of memory");
    return false;
}

static bool read_request(struct compose *compose, const he2b_json *request)
{
    const char *destination = he2b_json_get_string(request, "destination");
    const char *wrong;

    if (!files_user(compose->x, &compose->user, he2b_json_get_string(request, "username")))
        return false;
    if (!destination || !destination[0]) {
        exchange_error(compose->x, 400, "destination is required");
        return false;
    }
    wrong = daemon_path(compose->destination, destination, &compose->user);
    if (wrong) {
        exchange_error(compose->x, 400, "error resolving path '%s': %s", destination, wrong);
        return false;
    }
    return read_sources(compose, he2b_json_get(request, "source_paths"));
}

static bool open_temporary(struct compose *compose)
{
    int error = daemon_path_make(compose->destination, false, &compose->user);
    int n =
        snprintf(compose->temporary, sizeof(compose->temporary), "%s.XXXXXX", compose->destination);

    if (!error && (size_t)n >= sizeof(compose->temporary))
        error = ENAMETOOLONG;
    if (!error) {
        compose->to = mkostemp(compose->temporary, O_CLOEXEC);
        error = compose->to < 0 ? errno : 0;
    }
    if (compose->to < 0)
        compose->temporary[0] = '\0';
    if (!error && fchmod(compose->to, 0644) != 0)
        error = errno;
    if (!error)
        error = daemon_user_own(&compose->user, compose->to, NULL);
    if (error)
        fail_errno(compose, "making file", compose->destination, error);
    return error == 0;
}

static void end(struct exchange *x)
{
    static const struct timeval at_once = {0};
    struct compose *compose = exchange_state(x);
    he2b_json *request = NULL;

    if (compose->too_large ||
        he2b_json_parse(&request, he2b_buf_str(&compose->body), compose->body.len) != HE2B_OK) {
        exchange_error(x, 400, "the body must be a JSON object of at most %d bytes", BODY_MAX);
        return;
    }
    if (read_request(compose, request) && open_temporary(compose)) {
        compose->turn = event_new(daemon_globals.base, -1, 0, on_turn, compose);
        if (!compose->turn || event_add(compose->turn, &at_once) != 0)
            exchange_error(x, 500, "out of memory");
    }
    he2b_json_del(request);
}

static void body(struct exchange *x, const char *data, size_t len)
{
    struct compose *compose = exchange_state(x);

    if (he2b_buf_add(&compose->body, data, len) != HE2B_OK)
        compose->too_large = true;
}

static const struct exchange_ops compose_ops = {.body = body, .end = end, .gone = gone};

void files_compose(struct exchange *x)
{
    struct compose *compose = calloc(1, sizeof(*compose));

    if (!compose) {
        exchange_error(x, 500, "out of memory");
        return;
    }
    compose->x = x;
    compose->from = -1;
    compose->to = -1;
    he2b_buf_init(&compose->body, BODY_MAX);
    exchange_handle(x, &compose_ops, compose);
}
