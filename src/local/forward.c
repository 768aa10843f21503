#include "local/forward.h"

#include "local/data.h"
#include "local/forward_head.h"
#include "local/http.h"
#include "local/link_frame.h"
#include "local/log.h"
#include "local/plane.h"
#include "local/route.h"
#include "local/sandbox.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    /* frames of an answer that are held: one, and the beginning of the next */
    ANSWER_MAX = LINK_FRAME_MAX + 4096,
    /* of a request's body: above the first no more is taken, below the second again */
    BODY_MAX = 4 * LINK_FRAME_MAX,
    BODY_LOW = LINK_FRAME_MAX,
};

struct forward {
    struct sandbox_stream stream; /* first: what sandbox.c knows of it */
    struct sandbox *sandbox;      /* NULL once it stopped */
    struct http_request *request; /* NULL once it is over */
    struct bufferevent *bev;
    char sandbox_id[CREDENTIAL_ID_LEN + 1];
    size_t frame_left; /* of the BODY frame that is being handed on */
    bool head;         /* the answer's head has been handed on */
    bool end;          /* END has been seen */
    bool deaf;         /* the daemon takes no more of the body */
    bool closed;       /* the daemon's end is closed; what it sent before counts */
};

static void leave_sandbox(struct forward *forward)
{
    if (forward->sandbox)
        sandbox_drop_stream(forward->sandbox, &forward->stream);
    forward->sandbox = NULL;
}

static void release(struct forward *forward)
{
    leave_sandbox(forward);
    if (forward->bev)
        bufferevent_free(forward->bev);
    free(forward);
}

/* ---- the answer ---- */

/* The daemon will say no more: before its head that is an answer of ours, later a cut. */
static void break_off(struct forward *forward)
{
    forward->closed = true;
    if (!forward->request)
        return;
    if (!http_is_answered(forward->request))
        data_port_not_open(forward->request, forward->sandbox_id, ROUTE_PORT);
    else
        http_wake(forward->request);
}

static void take_head(struct forward *forward)
{
    struct evbuffer *in = bufferevent_get_input(forward->bev);
    struct link_view view;
    unsigned status;
    int64_t length;
    int found = link_first(in, &view);

    if (found == 0)
        return;
    if (found < 0 || view.type != LINK_HEAD ||
        !forward_head_read(forward->request, view.data, view.len, &status, &length)) {
        log_line(LOG_LEVEL_WARNING, "sandbox %s: its daemon's answer is no answer",
                 forward->sandbox_id);
        break_off(forward);
        return;
    }
    link_drop(in, &view);
    forward->head = true;
    if (length == 0)
        http_answer(forward->request, status, NULL, "", 0);
    else
        http_answer_stream(forward->request, status, length);
}

/* Takes the next frame's prefix; false if it is not there yet, or it is no BODY. */
static bool next_frame(struct forward *forward, struct evbuffer *in)
{
    unsigned char prefix[LINK_PREFIX_SIZE];
    size_t len;

    if (evbuffer_copyout(in, prefix, sizeof prefix) != (ev_ssize_t)sizeof prefix)
        return false;
    len = (size_t)prefix[1] << 24 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 8 | prefix[4];
    if (prefix[0] == LINK_END) {
        forward->end = true;
        return false;
    }
    if (prefix[0] != LINK_BODY || len > LINK_FRAME_MAX) {
        evbuffer_drain(in, evbuffer_get_length(in));
        forward->closed = true;
        return false;
    }
    evbuffer_drain(in, sizeof prefix);
    forward->frame_left = len;
    return true;
}

static ssize_t on_more(struct http_request *request, char *out, size_t size)
{
    struct forward *forward = http_user(request);
    struct evbuffer *in = bufferevent_get_input(forward->bev);
    size_t used = 0;

    /* what has come in several frames goes out at once, but nothing is waited for */
    while (used < size && !forward->end) {
        if (forward->frame_left == 0 && !next_frame(forward, in))
            break;
        size_t n = size - used < forward->frame_left ? size - used : forward->frame_left;
        ev_ssize_t got = n ? evbuffer_remove(in, out + used, n) : 0;
        if (got < 0 || (n > 0 && got == 0))
            break;
        used += (size_t)got;
        forward->frame_left -= (size_t)got;
    }
    if (used > 0)
        return (ssize_t)used;
    if (forward->end)
        return HTTP_END;
    /* with its buffer empty: all that came before the end has been handed on */
    return forward->closed ? HTTP_CUT : HTTP_WAIT;
}

static void on_read(struct bufferevent *bev, void *user)
{
    struct forward *forward = user;

    (void)bev;
    if (!forward->request)
        return;
    if (!forward->head)
        take_head(forward);
    else
        http_wake(forward->request);
}

/* ---- the request ---- */

static size_t on_body(struct http_request *request, const char *data, size_t len)
{
    struct forward *forward = http_user(request);
    struct evbuffer *out = bufferevent_get_output(forward->bev);

    if (forward->deaf || forward->closed)
        return len;
    if (evbuffer_get_length(out) >= BODY_MAX)
        return 0;
    if (link_put(out, LINK_BODY, data, len) != 0)
        http_cut(request, false);
    return len;
}

static void on_end(struct http_request *request)
{
    struct forward *forward = http_user(request);

    if (!forward->deaf && !forward->closed)
        (void)link_put(bufferevent_get_output(forward->bev), LINK_END, NULL, 0);
}

static void on_written(struct bufferevent *bev, void *user)
{
    struct forward *forward = user;

    if (forward->request) {
        http_wake(forward->request);
        return;
    }
    /* the client left during its upload: what it sent has now arrived */
    if (evbuffer_get_length(bufferevent_get_output(bev)) == 0)
        release(forward);
}

static void on_event(struct bufferevent *bev, short what, void *user)
{
    struct forward *forward = user;

    (void)bev;
    if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
        return;
    if (!forward->request) {
        release(forward);
        return;
    }
    if (what & BEV_EVENT_WRITING) {
        forward->deaf = true;
        http_wake(forward->request);
        return;
    }
    break_off(forward);
}

/* ---- ends ---- */

static void on_gone(struct http_request *request, bool whole)
{
    struct forward *forward = http_user(request);

    (void)whole;
    forward->request = NULL;
    /* An upload that breaks off leaves what came before (wire D.3), and a cut behind it. */
    if (!forward->head && forward->sandbox && !forward->deaf && !forward->closed &&
        evbuffer_get_length(bufferevent_get_output(forward->bev)) > 0)
        bufferevent_setwatermark(forward->bev, EV_WRITE, 0, 0);
    else
        release(forward);
}

/* The sandbox stops: as the service's proxy resets its connections (wire B.3). */
static void on_cut(struct sandbox_stream *stream)
{
    struct forward *forward = (struct forward *)stream;

    forward->sandbox = NULL;
    forward->closed = true;
    if (!forward->request) {
        release(forward);
        return;
    }
    bufferevent_disable(forward->bev, EV_READ | EV_WRITE);
    if (http_is_answered(forward->request))
        http_cut(forward->request, true);
    else
        break_off(forward);
}

void forward_begin(struct sandbox *sandbox, struct http_request *request)
{
    static const struct http_ops ops = {
        .body = on_body, .end = on_end, .more = on_more, .gone = on_gone};
    struct forward *forward = NULL;
    size_t len = 0;
    bool too_long = false;
    int fd = -1;
    char *head = forward_head_write(request, &len, &too_long);

    if (too_long) {
        http_answer(request, 431, NULL, "", 0);
        return;
    }
    forward = calloc(1, sizeof *forward);
    if (head && forward)
        fd = store_connect(&sandbox->plane->store, sandbox->id);
    if (fd >= 0)
        forward->bev = bufferevent_socket_new(sandbox->plane->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (!forward || !forward->bev) {
        log_line(LOG_LEVEL_WARNING, "sandbox %s: its daemon cannot be reached: %s", sandbox->id,
                 strerror(errno));
        if (fd >= 0)
            close(fd);
        data_port_not_open(request, sandbox->id, ROUTE_PORT);
        free(forward);
        free(head);
        return;
    }
    forward->request = request;
    forward->sandbox = sandbox;
    forward->stream.cut = on_cut;
    snprintf(forward->sandbox_id, sizeof forward->sandbox_id, "%s", sandbox->id);
    sandbox_add_stream(sandbox, &forward->stream);
    http_handle(request, &ops, forward);
    bufferevent_setcb(forward->bev, on_read, on_written, on_event, forward);
    bufferevent_setwatermark(forward->bev, EV_READ, 0, ANSWER_MAX);
    bufferevent_setwatermark(forward->bev, EV_WRITE, BODY_LOW, 0);
    bufferevent_set_max_single_read(forward->bev, ANSWER_MAX);
    bufferevent_set_max_single_write(forward->bev, BODY_MAX);
    (void)link_put(bufferevent_get_output(forward->bev), LINK_HEAD, head, len);
    bufferevent_enable(forward->bev, EV_READ | EV_WRITE);
    free(head);
}
