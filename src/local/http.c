#include "local/http_request.h"

#include "local/log.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- the loop ---- */

static void run(struct http *http)
{
    MHD_UNSIGNED_LONG_LONG ms = 0;

    MHD_run(http->daemon);
    if (MHD_get_timeout(http->daemon, &ms) == MHD_YES) {
        const struct timeval wait = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};
        event_add(http->timer, &wait);
    } else {
        event_del(http->timer);
    }
}

static void on_loop(evutil_socket_t fd, short what, void *user)
{
    (void)fd;
    (void)what;
    run(user);
}

/* ---- a request's life ---- */

static char *clean_target(const char *uri)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t used = 0;
    char *out;

    if (strncasecmp(uri, "http://", 7) == 0) {
        uri += 7 + strcspn(uri + 7, "/?");
        if (*uri != '/')
            return strdup("/");
    }
    out = malloc(3 * strlen(uri) + 1);
    if (!out)
        return NULL;
    for (; *uri; uri++) {
        unsigned char c = (unsigned char)*uri;
        if (c < 0x80) {
            out[used++] = (char)c;
            continue;
        }
        out[used++] = '%';
        out[used++] = digits[c >> 4];
        out[used++] = digits[c & 15];
    }
    out[used] = '\0';
    return out;
}

/* The library's first call about a request: the only place that shows the target as it came. */
static void *on_uri(void *user, const char *uri, struct MHD_Connection *connection)
{
    struct http *http = user;
    struct http_request *request = calloc(1, sizeof *request);

    if (!request)
        return NULL;
    request->target = clean_target(uri);
    if (!request->target) {
        free(request);
        return NULL;
    }
    request->http = http;
    request->connection = connection;
    request->on = http_client_of(connection);
    if (request->on)
        request->on->request = request;
    request->next = http->first;
    if (http->first)
        http->first->previous = request;
    http->first = request;
    return request;
}

static void on_completed(void *user, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    struct http *http = user;
    struct http_request *request = *state;

    (void)connection;
    *state = NULL;
    if (!request)
        return;
    http_unwatch(request);
    if (request->on)
        request->on->request = NULL;
    if (request->ops && request->ops->gone)
        request->ops->gone(request, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    http_drop_answer(request);
    if (request->previous)
        request->previous->next = request->next;
    else
        http->first = request->next;
    if (request->next)
        request->next->previous = request->previous;
    free(request->method);
    free(request->target);
    free(request);
}

static enum MHD_Result begin(struct http_request *request, const char *method, const char *version)
{
    const char *why = "";
    unsigned status;

    request->begun = true;
    request->method = strdup(method);
    if (!request->method)
        return MHD_NO;
    status = http_strict(request, version, &why);
    if (status) {
        http_answer(request, status, "text/plain; charset=utf-8", why, strlen(why));
        return http_queue(request, true);
    }
    request->http->handler(request->http->user, request);
    /* A client that asks first need not send its body for nothing. */
    if (request->answered && http_expects_continue(request))
        return http_queue(request, true);
    return MHD_YES;
}

static void offer_body(struct http_request *request, const char *data, size_t *len)
{
    size_t taken = *len;

    if (!request->answered && request->ops && request->ops->body)
        taken = request->ops->body(request, data, *len);
    if (request->answered)
        taken = *len;
    *len -= taken;
    if (*len > 0)
        http_suspend(request);
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *len, void **state)
{
    struct http_request *request = *state;

    (void)user;
    (void)connection;
    (void)url;
    if (!request)
        return MHD_NO;
    if (!request->begun)
        return begin(request, method, version);
    if (request->cut) {
        if (request->reset)
            http_reset(request);
        return MHD_NO;
    }
    if (*len > 0) {
        offer_body(request, data, len);
        return MHD_YES;
    }
    if (!request->complete) {
        request->complete = true;
        if (!request->answered && request->ops && request->ops->end)
            request->ops->end(request);
    }
    if (request->answered)
        return http_queue(request, false);
    http_suspend(request);
    return MHD_YES;
}

void http_handle(struct http_request *request, const struct http_ops *ops, void *user)
{
    request->ops = ops;
    request->user = user;
}

void *http_user(const struct http_request *request)
{
    return request->user;
}

void http_wake(struct http_request *request)
{
    if (!request->suspended)
        return;
    request->suspended = false;
    MHD_resume_connection(request->connection);
    event_active(request->http->kick, EV_TIMEOUT, 0);
}

void http_cut(struct http_request *request, bool reset)
{
    request->cut = true;
    request->reset = request->reset || reset;
    http_client_hurry(request->http, request->connection);
    http_wake(request);
}

/* ---- the server ---- */

/* Targets are handed on as they came. */
static size_t keep_escapes(void *user, struct MHD_Connection *connection, char *text)
{
    (void)user;
    (void)connection;
    return strlen(text);
}

static void on_complaint(void *user, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void on_complaint(void *user, const char *format, va_list args)
{
    char text[512];

    (void)user;
    vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = '\0';
    log_line(LOG_LEVEL_DEBUG, "http: %s", text);
}

static int start(struct http *http, int listen_fd, unsigned connections_max)
{
    const union MHD_DaemonInfo *info;

    /* No idle limit: every peer is on this machine, so a silent one is alive, and the end of one
     * is seen by http_client.c. */
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request,
        http, MHD_OPTION_EXTERNAL_LOGGER, on_complaint, http, MHD_OPTION_LISTEN_SOCKET, listen_fd,
        MHD_OPTION_URI_LOG_CALLBACK, on_uri, http, MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
        MHD_OPTION_NOTIFY_CONNECTION, http_client_notify, http, MHD_OPTION_UNESCAPE_CALLBACK,
        keep_escapes, NULL, MHD_OPTION_CONNECTION_LIMIT, connections_max,
        MHD_OPTION_CONNECTION_TIMEOUT, 0U, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
    if (!http->daemon) {
        close(listen_fd);
        return -1;
    }
    info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info)
        return -1;
    http->readable = event_new(http->base, info->epoll_fd, EV_READ | EV_PERSIST, on_loop, http);
    http->timer = evtimer_new(http->base, on_loop, http);
    http->kick = event_new(http->base, -1, 0, on_loop, http);
    if (!http->readable || !http->timer || !http->kick || event_add(http->readable, NULL) != 0)
        return -1;
    run(http);
    return 0;
}

int http_new(struct http **ret, struct event_base *base, int listen_fd, http_handler handler,
             void *user, unsigned connections_max, char *why, size_t why_size)
{
    struct http *http = calloc(1, sizeof *http);

    if (!http) {
        close(listen_fd);
        snprintf(why, why_size, "out of memory");
        return -1;
    }
    http->base = base;
    http->handler = handler;
    http->user = user;
    if (start(http, listen_fd, connections_max) != 0) {
        snprintf(why, why_size, "the HTTP server cannot start: %s", strerror(errno));
        http_del(http);
        return -1;
    }
    *ret = http;
    return 0;
}

void http_del(struct http *http)
{
    if (!http)
        return;
    for (struct http_request *request = http->first; request; request = request->next)
        http_cut(request, false);
    if (http->daemon) {
        /* once for those that were waiting; stopping ends the others */
        MHD_run(http->daemon);
        MHD_stop_daemon(http->daemon);
    }
    if (http->readable)
        event_free(http->readable);
    if (http->timer)
        event_free(http->timer);
    if (http->kick)
        event_free(http->kick);
    free(http);
}
