#include "core/buf.h"
#include "he2b.h"
#include "local/daemon.h"
#include "local/link_frame.h"

#include <ctype.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void exchange_free(struct exchange *x)
{
    if (x->ops && x->ops->gone)
        x->ops->gone(x);
    bufferevent_free(x->bev);
    event_free(x->over);
    he2b_json_del(x->headers);
    free(x);
}

/* ---- writing ---- */

void exchange_head(struct exchange *x, int status, he2b_json *headers, int64_t length)
{
    he2b_json *head = he2b_json_new_object();
    const char *text = NULL;
    size_t len = 0;

    if (head && he2b_json_add_int(head, "status", status) == HE2B_OK &&
        (length < 0 || he2b_json_add_int(head, "length", length) == HE2B_OK)) {
        if (headers) {
            (void)he2b_json_add(head, "headers", headers);
            headers = NULL;
        }
        text = he2b_json_text(head, &len);
    }
    if (text && len <= LINK_HEAD_MAX)
        (void)link_put(bufferevent_get_output(x->bev), LINK_HEAD, text, len);
    x->answered = true;
    he2b_json_del(headers);
    he2b_json_del(head);
}

void exchange_write(struct exchange *x, const void *data, size_t len)
{
    (void)link_put(bufferevent_get_output(x->bev), LINK_BODY, data, len);
}

void exchange_end(struct exchange *x)
{
    (void)link_put(bufferevent_get_output(x->bev), LINK_END, NULL, 0);
    x->ended = true;
}

size_t exchange_unread(const struct exchange *x)
{
    return evbuffer_get_length(bufferevent_get_output(x->bev));
}

void exchange_read(struct exchange *x, bool on)
{
    if (on)
        bufferevent_enable(x->bev, EV_READ);
    else
        bufferevent_disable(x->bev, EV_READ);
}

void exchange_cut(struct exchange *x)
{
    x->cut = true;
    event_active(x->over, EV_TIMEOUT, 0);
}

static void on_over(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    exchange_free(arg);
}

void exchange_answer(struct exchange *x, int status, const char *content_type, const char *body,
                     size_t len)
{
    he2b_json *headers = NULL;

    if (x->answered)
        return;
    if (content_type) {
        headers = he2b_json_new_object();
        if (headers)
            (void)he2b_json_add_string(headers, "Content-Type", content_type);
    }
    exchange_head(x, status, headers, (int64_t)len);
    exchange_write(x, body, len);
    exchange_end(x);
}

void exchange_error(struct exchange *x, int status, const char *format, ...)
{
    he2b_json *json = he2b_json_new_object();
    char message[1024];
    const char *text = NULL;
    size_t len = 0;
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (json && he2b_json_add_int(json, "code", status) == HE2B_OK &&
        he2b_json_add_string(json, "message", message) == HE2B_OK)
        text = he2b_json_text(json, &len);
    exchange_answer(x, status, "application/json; charset=utf-8", text ? text : "{}",
                    text ? len : 2);
    he2b_json_del(json);
}

/* ---- reading the head ---- */

const char *exchange_header(const struct exchange *x, const char *name)
{
    return he2b_json_get_string(x->headers, name);
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Percent-decodes n characters; false if it does not fit, is broken, or holds a NUL. */
static bool decode(char *out, size_t size, const char *text, size_t n, bool plus)
{
    size_t used = 0;
    size_t i;

    for (i = 0; i < n; i++) {
        char c = text[i];

        if (c == '%') {
            int value;

            if (i + 2 >= n || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0)
                return false;
            value = hex(text[i + 1]) * 16 + hex(text[i + 2]);
            if (value == 0)
                return false;
            c = (char)value;
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        if (used + 1 >= size)
            return false;
        out[used++] = c;
    }
    out[used] = '\0';
    return true;
}

bool exchange_query(const struct exchange *x, const char *name, char *out, size_t size)
{
    const char *at = strchr(x->target, '?');
    size_t name_len = strlen(name);

    out[0] = '\0';
    while (at && *at) {
        size_t len;

        at++;
        len = strcspn(at, "&");
        if (len > name_len && strncmp(at, name, name_len) == 0 && at[name_len] == '=')
            return decode(out, size, at + name_len + 1, len - name_len - 1, true);
        at += len;
    }
    return false;
}

static bool read_head(struct exchange *x, const struct link_view *view)
{
    he2b_json *json = NULL;
    const char *method;
    const char *target;
    bool good = false;

    if (he2b_json_parse(&json, view->data, view->len) != HE2B_OK)
        return false;
    method = he2b_json_get_string(json, "method");
    target = he2b_json_get_string(json, "target");
    if (method && target && strlen(method) < sizeof(x->method) &&
        strlen(target) < sizeof(x->target)) {
        snprintf(x->method, sizeof(x->method), "%s", method);
        snprintf(x->target, sizeof(x->target), "%s", target);
        good = decode(x->path, sizeof(x->path), target, strcspn(target, "?"), false);
        if (!good)
            snprintf(x->path, sizeof(x->path), "/?");
        good = true;
    }
    /* the headers stay, inside the whole: keep that and look them up through it */
    if (good && he2b_json_is_object(he2b_json_get(json, "headers"))) {
        size_t len = 0;
        union {
            const he2b_json *in;
            he2b_json *out;
        } headers = {.in = he2b_json_get(json, "headers")};
        const char *text = he2b_json_text(headers.out, &len);

        good = text && he2b_json_parse(&x->headers, text, len) == HE2B_OK;
    } else if (good) {
        x->headers = he2b_json_new_object();
    }
    he2b_json_del(json);
    return good;
}

/* ---- the connection ---- */

/* Once all is written the connection is closed, which frees the exchange. */
static bool finished(struct exchange *x)
{
    if (!x->cut && (!x->ended || exchange_unread(x) > 0))
        return false;
    exchange_cut(x);
    return true;
}

static void on_read(struct bufferevent *bev, void *arg)
{
    struct exchange *x = arg;
    struct evbuffer *in = bufferevent_get_input(bev);
    struct link_view view;
    int found;

    while ((found = link_first(in, &view)) > 0) {
        if (!x->have_head) {
            if (view.type != LINK_HEAD || !read_head(x, &view)) {
                exchange_cut(x);
                return;
            }
            x->have_head = true;
            link_drop(in, &view);
            daemon_route(x);
            if (x->cut)
                return;
            continue;
        }
        if (x->ended) {
            /* answered already: the rest of the request is thrown away */
            link_drop(in, &view);
            continue;
        }
        if (view.type == LINK_BODY && x->ops && x->ops->body) {
            x->ops->body(x, view.data, view.len);
            link_drop(in, &view);
        } else if (view.type == LINK_END) {
            link_drop(in, &view);
            if (x->ops && x->ops->end)
                x->ops->end(x);
        } else {
            link_drop(in, &view);
        }
        if (x->cut || !(bufferevent_get_enabled(bev) & EV_READ))
            break;
    }
    if (found < 0)
        exchange_cut(x);
    else
        (void)finished(x);
}

static void on_written(struct bufferevent *bev, void *arg)
{
    struct exchange *x = arg;

    (void)bev;
    if (finished(x))
        return;
    if (x->ops && x->ops->drained)
        x->ops->drained(x);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
    (void)bev;
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
        exchange_cut(arg);
}

void exchange_accept(int fd)
{
    struct exchange *x = calloc(1, sizeof(*x));

    if (!x) {
        evutil_closesocket(fd);
        return;
    }
    x->over = event_new(daemon_globals.base, -1, 0, on_over, x);
    x->bev =
        x->over ? bufferevent_socket_new(daemon_globals.base, fd, BEV_OPT_CLOSE_ON_FREE) : NULL;
    if (!x->bev) {
        evutil_closesocket(fd);
        if (x->over)
            event_free(x->over);
        free(x);
        return;
    }
    bufferevent_setcb(x->bev, on_read, on_written, on_event, x);
    /* Back-pressure to the plane: no more than a few frames of a request are held here. */
    bufferevent_setwatermark(x->bev, EV_READ, 0, 4 * LINK_FRAME_MAX);
    /* Told when half of what a process may be ahead has been taken. */
    bufferevent_setwatermark(x->bev, EV_WRITE, DAEMON_UNREAD_MAX / 2, 0);
    bufferevent_enable(x->bev, EV_READ | EV_WRITE);
}
