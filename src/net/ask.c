/* A whole answer in memory: he2b_http_ask(). */
#include "core/buf.h"
#include "net/http.h"

#include <stdlib.h>

struct ask {
    struct he2b_buf body;
    he2b_http_answer_fn done;
    void *user;
};

static size_t on_body(void *user, const char *data, size_t len)
{
    struct ask *ask = user;

    return he2b_buf_add(&ask->body, data, len) == HE2B_OK ? len : SIZE_MAX;
}

static void on_done(void *user, const struct he2b_http_result *result)
{
    struct ask *ask = user;

    ask->done(ask->user, result, he2b_buf_str(&ask->body), ask->body.len);
    he2b_buf_free(&ask->body);
    free(ask);
}

static void on_dropped(void *user)
{
    struct ask *ask = user;

    he2b_buf_free(&ask->body);
    free(ask);
}

int he2b_http_ask(he2b_http **ret, he2b_loop *loop, const struct he2b_http_request *request,
                  he2b_http_answer_fn done, void *user)
{
    static const struct he2b_http_events events = {
        .body = on_body,
        .done = on_done,
        .dropped = on_dropped,
    };
    struct ask *ask = calloc(1, sizeof(*ask));
    int error;

    if (!ask)
        return HE2B_ERR_NOMEM;
    he2b_buf_init(&ask->body, HE2B_HTTP_ANSWER_MAX);
    ask->done = done;
    ask->user = user;
    error = he2b_http_start(ret, loop, request, &events, ask);
    if (error)
        free(ask);
    return error;
}
