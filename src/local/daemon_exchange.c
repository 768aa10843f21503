#include "local/daemon_exchange.h"

#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_head.h"
#include "local/daemon_route.h"
#include "local/link_frame.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct exchange {
    struct bufferevent *bev;
    struct event *over; /* made active: the exchange ends on the loop */
    const struct exchange_ops *ops;
    void *state;
    const struct rpc_method *rpc;
    struct daemon_head head;
    bool have_head;
    bool answered; /* a head was written */
    bool ended;    /* and the end of it */
    bool cut;
};

void exchange_handle(struct exchange *x, const struct exchange_ops *ops, void *state)
{
    x->ops = ops;
    x->state = state;
}

void *exchange_state(const struct exchange *x)
{
    return x->state;
}

void exchange_set_rpc(struct exchange *x, const struct rpc_method *method)
{
    x->rpc = method;
}

const struct rpc_method *exchange_rpc(const struct exchange *x)
{
    return x->rpc;
}

/* ---- the request ---- */

const char *exchange_method(const struct exchange *x)
{
    return x->head.method;
}

const char *exchange_path(const struct exchange *x)
{
    return x->head.path;
}

const he2b_json *exchange_headers(const struct exchange *x)
{
    return he2b_json_get(x->head.json, "headers");
}

const char *exchange_header(const struct exchange *x, const char *name)
{
    return he2b_json_get_string(exchange_headers(x), name);
}

bool exchange_header_is(const struct exchange *x, const char *name, const char *wanted)
{
    const char *value = exchange_header(x, name);
    size_t len = value ? strcspn(value, "; \t") : 0;

    return len == strlen(wanted) && strncasecmp(value, wanted, len) == 0;
}

bool exchange_query(const struct exchange *x, const char *name, char *out, size_t size)
{
    return daemon_head_query(&x->head, name, out, size);
}

void exchange_read(struct exchange *x, bool on)
{
    if (!on) {
        bufferevent_disable(x->bev, EV_READ);
        return;
    }
    bufferevent_enable(x->bev, EV_READ);
    /* what had been read before it stopped brings no event of its own */
    bufferevent_trigger(x->bev, EV_READ, BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

/* ---- the answer ---- */

void exchange_cut(struct exchange *x)
{
    x->cut = true;
    event_active(x->over, EV_TIMEOUT, 0);
}

void exchange_head(struct exchange *x, int status, he2b_json *headers, int64_t length)
{
    char *text = daemon_head_write(status, headers, length);

    x->answered = true;
    if (!text || link_put(bufferevent_get_output(x->bev), LINK_HEAD, text, strlen(text)) != 0)
        exchange_cut(x);
    free(text);
}

void exchange_write_prefixed(struct exchange *x, const void *prefix, size_t prefix_len,
                             const void *data, size_t len)
{
    if (x->cut || x->ended)
        return;
    if (link_put_prefixed(bufferevent_get_output(x->bev), prefix, prefix_len, data, len) != 0)
        exchange_cut(x);
}

void exchange_write(struct exchange *x, const void *data, size_t len)
{
    exchange_write_prefixed(x, NULL, 0, data, len);
}

void exchange_end(struct exchange *x)
{
    if (x->cut || x->ended)
        return;
    if (link_put(bufferevent_get_output(x->bev), LINK_END, NULL, 0) != 0)
        exchange_cut(x);
    x->ended = true;
}

size_t exchange_unread(const struct exchange *x)
{
    return evbuffer_get_length(bufferevent_get_output(x->bev));
}

bool exchange_answered(const struct exchange *x)
{
    return x->answered;
}

/* ---- the connection ---- */

static void finish(struct exchange *x)
{
    if (x->ops && x->ops->gone)
        x->ops->gone(x);
    bufferevent_free(x->bev);
    event_free(x->over);
    daemon_head_free(&x->head);
    free(x);
}

static void on_over(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    finish(arg);
}

/* The rest of a request that is answered is not waited for: closing tells the plane. */
static bool complete(const struct exchange *x)
{
    return x->cut || (x->ended && exchange_unread(x) == 0);
}

/* One frame of the request. False: it is none that may come here. */
static bool take(struct exchange *x, const struct link_view *view)
{
    if (!x->have_head) {
        if (view->type != LINK_HEAD || !daemon_head_read(&x->head, view->data, view->len))
            return false;
        x->have_head = true;
        daemon_route(x);
        return true;
    }
    if (view->type != LINK_BODY && view->type != LINK_END)
        return false;
    if (x->ended)
        return true;
    if (view->type == LINK_END) {
        if (x->ops && x->ops->end)
            x->ops->end(x);
    } else if (x->ops && x->ops->body) {
        x->ops->body(x, view->data, view->len);
    }
    return true;
}

static void on_read(struct bufferevent *bev, void *arg)
{
    struct exchange *x = arg;
    struct evbuffer *in = bufferevent_get_input(bev);
    struct link_view view;
    int found = 0;

    while (!x->cut && (bufferevent_get_enabled(bev) & EV_READ) &&
           (found = link_first(in, &view)) > 0) {
        if (!take(x, &view)) {
            found = -1;
            break;
        }
        link_drop(in, &view);
    }
    if (found < 0)
        exchange_cut(x);
    else if (complete(x))
        event_active(x->over, EV_TIMEOUT, 0);
}

static void on_written(struct bufferevent *bev, void *arg)
{
    struct exchange *x = arg;

    (void)bev;
    if (complete(x))
        event_active(x->over, EV_TIMEOUT, 0);
    else if (!x->ended && x->ops && x->ops->drained)
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

    if (x) {
        x->over = event_new(daemon_globals.base, -1, 0, on_over, x);
        x->bev = bufferevent_socket_new(daemon_globals.base, fd, BEV_OPT_CLOSE_ON_FREE);
    }
    if (!x || !x->over || !x->bev) {
        if (x && x->over)
            event_free(x->over);
        if (x && x->bev)
            bufferevent_free(x->bev);
        else
            close(fd);
        free(x);
        return;
    }
    bufferevent_setcb(x->bev, on_read, on_written, on_event, x);
    /* Back-pressure to the plane: no more than a few frames of a request are held here. */
    bufferevent_setwatermark(x->bev, EV_READ, 0, 4 * LINK_FRAME_MAX);
    bufferevent_setwatermark(x->bev, EV_WRITE, EXCHANGE_UNREAD_MAX / 2, 0);
    bufferevent_enable(x->bev, EV_READ | EV_WRITE);
}
