/*
 * Requests and answers over libmicrohttpd, whose epoll descriptor the plane's loop watches. Bodies
 * are streamed both ways; whoever cannot pass bytes on stops the other side.
 */
#include "he2b.h"
#include "local/link_frame.h"
#include "local/plane.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    /* What one direction of one request may hold between two sockets. */
    IN_FLIGHT_MAX = 256 * 1024,
    CONNECTION_MEMORY = 96 * 1024,
    IDLE_S = 640,
};

struct header {
    struct header *next;
    char *name;
    char *value;
};

struct request {
    struct MHD_Connection *connection;
    char *target;
    char method[16];
    bool begun;
    bool control;
    bool complete; /* the request's body is here */
    bool suspended;
    bool queued; /* an answer was given to libmicrohttpd */
    bool gone;   /* the client went away */
    void *waiting;
    struct he2b_buf body; /* of a control-plane request */
    bool too_large;

    /* an answer in memory */
    bool answered;
    int status;
    struct header *headers;
    char *text;
    size_t text_len;

    /* an answer from a daemon */
    struct bufferevent *daemon;
    bool head_seen;
    bool end_seen;
    bool cut;
    int64_t length; /* -1: not known */
    struct evbuffer *out;

    struct event *watch; /* for the client's going away */
};

static struct MHD_Daemon *server;
static struct event *server_event;
static struct event *run_event;

/* ---- running libmicrohttpd ---- */

static void run(void)
{
    struct timeval tv;
    MHD_UNSIGNED_LONG_LONG ms;

    MHD_run(server);
    if (MHD_get_timeout(server, &ms) == MHD_YES) {
        tv.tv_sec = (time_t)(ms / 1000);
        tv.tv_usec = (suseconds_t)(ms % 1000 * 1000);
        event_add(run_event, &tv);
    } else {
        event_del(run_event);
    }
}

static void on_server(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    run();
}

static void run_soon(void)
{
    static const struct timeval now = {0, 0};

    event_add(run_event, &now);
}

static void suspend(struct request *r)
{
    if (r->suspended)
        return;
    r->suspended = true;
    MHD_suspend_connection(r->connection);
}

/* Never inside one of libmicrohttpd's callbacks; it looks at the connection in the next run. */
static void resume(struct request *r)
{
    if (!r->suspended)
        return;
    r->suspended = false;
    MHD_resume_connection(r->connection);
    run_soon();
}

/* A suspended connection is not watched by libmicrohttpd, so a client that leaves is noticed here.
 */
static void on_client(evutil_socket_t fd, short what, void *arg)
{
    struct request *r = arg;
    char byte;
    ssize_t n;

    (void)what;
    n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    r->gone = true;
    if (r->daemon) {
        bufferevent_free(r->daemon);
        r->daemon = NULL;
    }
    r->cut = true;
    resume(r);
}

static void watch_client(struct request *r)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    if (r->watch || !info)
        return;
    r->watch = event_new(plane.base, info->connect_fd, EV_READ | EV_CLOSED | EV_ET | EV_PERSIST,
                         on_client, r);
    if (r->watch)
        event_add(r->watch, NULL);
}

/* ---- what the routes see ---- */

const char *request_method(const struct request *r)
{
    return r->method;
}

const char *request_target(const struct request *r)
{
    return r->target;
}

const char *request_header(const struct request *r, const char *name)
{
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

const char *request_body(const struct request *r, size_t *ret_len)
{
    *ret_len = r->body.len;
    return he2b_buf_str(&r->body);
}

void **request_waiting(struct request *r)
{
    return &r->waiting;
}

void request_add_header(struct request *r, const char *name, const char *value)
{
    struct header *header = calloc(1, sizeof(*header));

    if (!header)
        return;
    header->name = strdup(name);
    header->value = strdup(value);
    header->next = r->headers;
    r->headers = header;
}

void request_answer(struct request *r, int status, const char *content_type, const char *body,
                    size_t len)
{
    if (r->answered || r->gone)
        return;
    if (content_type)
        request_add_header(r, "Content-Type", content_type);
    r->text = malloc(len + 1);
    if (r->text) {
        memcpy(r->text, body, len);
        r->text_len = len;
    }
    r->status = status;
    r->answered = true;
    resume(r);
}

void request_json(struct request *r, int status, he2b_json *value)
{
    size_t len = 0;
    const char *text = value ? he2b_json_text(value, &len) : NULL;

    if (text)
        request_answer(r, status, "application/json; charset=utf-8", text, len);
    else
        request_error(r, 500, "out of memory");
    he2b_json_del(value);
}

void request_error(struct request *r, int status, const char *format, ...)
{
    he2b_json *error = he2b_json_new_object();
    char message[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (error && he2b_json_add_int(error, "code", status) == HE2B_OK &&
        he2b_json_add_string(error, "message", message) == HE2B_OK) {
        request_json(r, status, error);
        return;
    }
    he2b_json_del(error);
    request_answer(r, 500, "application/json; charset=utf-8",
                   "{\"code\":500,\"message\":\"out of memory\"}", 38);
}

/* ---- the way to a daemon ---- */

static enum MHD_Result add_link_header(void *arg, enum MHD_ValueKind kind, const char *name,
                                       const char *value)
{
    static const char *const here[] = {
        "host",
        "connection",
        "keep-alive",
        "transfer-encoding",
        "te",
        "trailer",
        "upgrade",
        "expect",
        "x-access-token",
        "x-api-key",
        "proxy-authorization",
        "proxy-connection",
        "e2b-sandbox-id",
        "e2b-sandbox-port",
    };
    char lower[128];
    size_t i;

    (void)kind;
    for (i = 0; i < sizeof(here) / sizeof(here[0]); i++) {
        if (strcasecmp(name, here[i]) == 0)
            return MHD_YES;
    }
    for (i = 0; name[i] && i < sizeof(lower) - 1; i++)
        lower[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
    lower[i] = '\0';
    (void)he2b_json_add_string(arg, lower, value ? value : "");
    return MHD_YES;
}

he2b_json *request_link_headers(const struct request *r)
{
    he2b_json *headers = he2b_json_new_object();

    if (headers)
        MHD_get_connection_values(r->connection, MHD_HEADER_KIND, add_link_header, headers);
    return headers;
}

static void read_daemon_head(struct request *r, const struct link_view *view);

/* Takes over what the daemon sent, as long as the client keeps up. */
static void take_frames(struct request *r)
{
    struct evbuffer *in = bufferevent_get_input(r->daemon);
    struct link_view view;
    int found = 0;

    while (!r->end_seen && evbuffer_get_length(r->out) < IN_FLIGHT_MAX &&
           (found = link_first(in, &view)) > 0) {
        if (view.type == LINK_HEAD && !r->head_seen)
            read_daemon_head(r, &view);
        else if (view.type == LINK_BODY)
            evbuffer_add(r->out, view.data, view.len);
        else if (view.type == LINK_END)
            r->end_seen = true;
        link_drop(in, &view);
    }
    if (found < 0)
        r->cut = true;
    if (evbuffer_get_length(r->out) >= IN_FLIGHT_MAX)
        bufferevent_disable(r->daemon, EV_READ);
    resume(r);
}

static void on_daemon_read(struct bufferevent *bev, void *arg)
{
    (void)bev;
    take_frames(arg);
}

static void on_daemon_written(struct bufferevent *bev, void *arg)
{
    (void)bev;
    resume(arg); /* more of the request's body fits */
}

static void on_daemon_event(struct bufferevent *bev, short what, void *arg)
{
    struct request *r = arg;

    if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
        return;
    bufferevent_disable(bev, EV_READ | EV_WRITE);
    take_frames(r);
    if (!r->end_seen)
        r->cut = true;
    resume(r);
}

static bool add_answer_header(void *user, const char *key, const he2b_json *value)
{
    const char *text = he2b_json_string(value, NULL);

    if (text)
        request_add_header(user, key, text);
    return true;
}

static void read_daemon_head(struct request *r, const struct link_view *view)
{
    he2b_json *head = NULL;
    int64_t status = 502;

    r->length = -1;
    if (he2b_json_parse(&head, view->data, view->len) == HE2B_OK) {
        (void)he2b_json_int(he2b_json_get(head, "status"), &status);
        (void)he2b_json_int(he2b_json_get(head, "length"), &r->length);
        he2b_json_each(he2b_json_get(head, "headers"), add_answer_header, r);
    }
    he2b_json_del(head);
    r->status = (int)status;
    r->head_seen = true;
}

void request_forward(struct request *r, int fd, he2b_json *head)
{
    size_t len = 0;
    const char *text = head ? he2b_json_text(head, &len) : NULL;

    evutil_make_socket_nonblocking(fd);
    r->out = evbuffer_new();
    r->daemon = text && len <= LINK_HEAD_MAX && r->out
                    ? bufferevent_socket_new(plane.base, fd, BEV_OPT_CLOSE_ON_FREE)
                    : NULL;
    if (!r->daemon) {
        close(fd);
        he2b_json_del(head);
        if (text && len > LINK_HEAD_MAX)
            request_answer(r, 431, "text/plain", "headers are too large\n", 22);
        else
            request_error(r, 500, "out of memory");
        return;
    }
    bufferevent_setcb(r->daemon, on_daemon_read, on_daemon_written, on_daemon_event, r);
    bufferevent_setwatermark(r->daemon, EV_READ, 0, IN_FLIGHT_MAX);
    bufferevent_setwatermark(r->daemon, EV_WRITE, IN_FLIGHT_MAX / 2, 0);
    bufferevent_enable(r->daemon, EV_READ | EV_WRITE);
    link_put(bufferevent_get_output(r->daemon), LINK_HEAD, text, len);
    he2b_json_del(head);
}

/* ---- answers ---- */

static void add_headers(const struct request *r, struct MHD_Response *response)
{
    const struct header *header;

    for (header = r->headers; header; header = header->next)
        MHD_add_response_header(response, header->name, header->value);
}

static enum MHD_Result queue(struct request *r, struct MHD_Response *response)
{
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    add_headers(r, response);
    r->queued = true;
    result = MHD_queue_response(r->connection, (unsigned)r->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result queue_text(struct request *r)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        r->text_len, r->text ? r->text : r->method, MHD_RESPMEM_MUST_COPY);

    return queue(r, response);
}

static ssize_t read_out(void *arg, uint64_t at, char *out, size_t max)
{
    struct request *r = arg;
    int n;

    (void)at;
    n = evbuffer_remove(r->out, out, max);
    if (n > 0) {
        if (r->daemon && !r->end_seen && !r->cut &&
            evbuffer_get_length(r->out) < IN_FLIGHT_MAX / 2) {
            bufferevent_enable(r->daemon, EV_READ);
            /* Frames that were received already bring no event of their own. */
            bufferevent_trigger(r->daemon, EV_READ,
                                BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
        }
        return n;
    }
    if (r->end_seen)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (r->cut)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    suspend(r);
    return 0;
}

static enum MHD_Result queue_stream(struct request *r)
{
    uint64_t size = r->length < 0 ? MHD_SIZE_UNKNOWN : (uint64_t)r->length;

    if (size == 0)
        return queue(r, MHD_create_response_from_buffer(0, r->method, MHD_RESPMEM_PERSISTENT));
    return queue(r, MHD_create_response_from_callback(size, 32 * 1024, read_out, r, NULL));
}

/* Gives the answer if there is one; else waits for it. */
static enum MHD_Result answer_or_wait(struct request *r)
{
    if (r->gone)
        return MHD_NO;
    if (r->answered)
        return queue_text(r);
    if (r->daemon && r->head_seen)
        return queue_stream(r);
    if (r->cut) {
        char body[300];
        int n = snprintf(body, sizeof(body),
                         "{\"sandboxId\":\"\",\"message\":\"The sandbox is running but port is not "
                         "open\",\"port\":%d,\"code\":502}",
                         PLANE_SANDBOX_PORT);

        /* It broke before a head (wire B.4). */
        request_answer(r, 502, "application/json; charset=utf-8", body, (size_t)n);
        return queue_text(r);
    }
    watch_client(r);
    suspend(r);
    return MHD_YES;
}

/* ---- strictness that the library leaves to us ---- */

struct strict {
    int lengths;
    int hosts;
    const char *encoding;
    const char *expect;
};

static enum MHD_Result count_header(void *arg, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    struct strict *strict = arg;

    (void)kind;
    if (strcasecmp(name, "content-length") == 0)
        strict->lengths++;
    else if (strcasecmp(name, "host") == 0)
        strict->hosts++;
    else if (strcasecmp(name, "transfer-encoding") == 0)
        strict->encoding = value;
    else if (strcasecmp(name, "expect") == 0)
        strict->expect = value;
    return MHD_YES;
}

/* What a request that could be read in two ways is answered; NULL if it is fine. */
static const char *ambiguous(struct request *r, const char *version)
{
    struct strict strict = {0};

    MHD_get_connection_values(r->connection, MHD_HEADER_KIND, count_header, &strict);
    if (strict.lengths > 1 || (strict.lengths && strict.encoding))
        return "the length of the body is given twice\n";
    if (strict.encoding && strcasecmp(strict.encoding, "chunked") != 0)
        return "unsupported transfer encoding\n";
    if (strict.hosts != 1 && strcmp(version, "HTTP/1.1") == 0)
        return "missing Host header\n";
    if (strict.expect && strcasecmp(strict.expect, "100-continue") != 0)
        return "unsupported Expect header\n";
    if (r->target[0] != '/')
        return "the request target must be a path\n";
    return NULL;
}

/* ---- libmicrohttpd's callbacks ---- */

static void *on_target(void *arg, const char *target, struct MHD_Connection *connection)
{
    struct request *r = calloc(1, sizeof(*r));

    (void)arg;
    if (!r)
        return NULL;
    r->connection = connection;
    r->target = strdup(target);
    he2b_buf_init(&r->body, PLANE_BODY_MAX);
    if (!r->target) {
        free(r);
        return NULL;
    }
    return r;
}

static size_t no_unescape(void *arg, struct MHD_Connection *connection, char *text)
{
    (void)arg;
    (void)connection;
    return strlen(text);
}

static enum MHD_Result begin(struct request *r, const char *method, const char *version)
{
    const char *why;

    r->begun = true;
    snprintf(r->method, sizeof(r->method), "%s", method);
    why = ambiguous(r, version);
    if (why) {
        request_answer(r, 400, "text/plain; charset=utf-8", why, strlen(why));
        return queue_text(r);
    }
    r->control = control_claims(r);
    if (!r->control)
        route_serve(r);
    return MHD_YES;
}

static enum MHD_Result take_upload(struct request *r, const char *data, size_t *size)
{
    if (r->control) {
        if (he2b_buf_add(&r->body, data, *size) != HE2B_OK)
            r->too_large = true;
        *size = 0;
    } else if (!r->daemon || r->answered || r->cut) {
        *size = 0; /* answered already: the rest is thrown away */
    } else if (evbuffer_get_length(bufferevent_get_output(r->daemon)) > IN_FLIGHT_MAX) {
        watch_client(r);
        suspend(r);
    } else {
        link_put(bufferevent_get_output(r->daemon), LINK_BODY, data, *size);
        *size = 0;
    }
    return MHD_YES;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **state)
{
    struct request *r = *state;

    (void)arg;
    (void)connection;
    (void)url;
    if (!r || r->gone)
        return MHD_NO;
    if (!r->begun)
        return begin(r, method, version);
    if (*size)
        return take_upload(r, data, size);
    if (!r->complete) {
        r->complete = true;
        if (r->control && r->too_large)
            request_error(r, 400, "Error when parsing request: the body is too large");
        else if (r->control)
            control_serve(r);
        else if (r->daemon)
            link_put(bufferevent_get_output(r->daemon), LINK_END, NULL, 0);
    }
    return answer_or_wait(r);
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    struct request *r = *state;

    (void)arg;
    (void)connection;
    (void)code;
    if (!r)
        return;
    *state = NULL;
    if (r->watch)
        event_free(r->watch);
    if (r->waiting)
        sandbox_forget_waiter(r);
    if (r->daemon)
        bufferevent_free(r->daemon);
    if (r->out)
        evbuffer_free(r->out);
    while (r->headers) {
        struct header *header = r->headers;

        r->headers = header->next;
        free(header->name);
        free(header->value);
        free(header);
    }
    he2b_buf_free(&r->body);
    free(r->text);
    free(r->target);
    free(r);
}

/* Its complaints about TCP options on other sockets are no news. */
static void no_log(void *arg, const char *format, va_list args)
{
    (void)arg;
    (void)format;
    (void)args;
}

/* ---- listening ---- */

static int listen_on(const char *host, int port, int *ret_port, char *why, size_t why_size)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    bool is_v6 = strchr(host, ':') != NULL;
    socklen_t len = is_v6 ? sizeof(v6) : sizeof(v4);
    struct sockaddr *address = is_v6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
    int one = 1;
    int fd;

    if (inet_pton(is_v6 ? AF_INET6 : AF_INET, host,
                  is_v6 ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr) != 1) {
        snprintf(why, why_size, "%s is not an address", host);
        return -1;
    }
    fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
        bind(fd, address, len) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, address, &len) != 0) {
        snprintf(why, why_size, "%s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *ret_port = ntohs(is_v6 ? v6.sin6_port : v4.sin_port);
    return fd;
}

int http_listen(const char *host, int port, int *ret_port, char *why, size_t why_size)
{
    const union MHD_DaemonInfo *info;
    int fd = listen_on(host, port, ret_port, why, why_size);

    if (fd < 0)
        return -1;
    run_event = event_new(plane.base, -1, 0, on_server, NULL);
    server = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, NULL,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_URI_LOG_CALLBACK, on_target, NULL,
        MHD_OPTION_UNESCAPE_CALLBACK, no_unescape, NULL, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
        NULL, MHD_OPTION_EXTERNAL_LOGGER, no_log, NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_END);
    info = server ? MHD_get_daemon_info(server, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!info || !run_event) {
        snprintf(why, why_size, "the HTTP server does not start");
        return -1;
    }
    server_event = event_new(plane.base, info->epoll_fd, EV_READ | EV_PERSIST, on_server, NULL);
    if (!server_event || event_add(server_event, NULL) != 0) {
        snprintf(why, why_size, "out of memory");
        return -1;
    }
    return 0;
}

void http_close(void)
{
    if (server_event)
        event_free(server_event);
    if (run_event)
        event_del(run_event);
    server_event = NULL;
}
