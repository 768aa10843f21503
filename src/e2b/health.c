#include "e2b/health.h"

#include "core/json.h"

#include <stdlib.h>

enum {
    LOOK_MS = 4000,
};

struct he2b_health_look {
    he2b_http *http;
    he2b_health_fn done;
    void *user;
};

static enum he2b_health read_answer(const struct he2b_http_result *result, const char *body,
                                    size_t len)
{
    he2b_json *json = NULL;
    enum he2b_health health = HE2B_HEALTH_UNKNOWN;

    if (result->end != HE2B_HTTP_COMPLETE)
        return HE2B_HEALTH_UNKNOWN;
    if (result->status >= 200 && result->status < 300)
        return HE2B_HEALTH_ALIVE;
    if (result->status == 502 && he2b_json_parse(&json, body, len) == HE2B_OK &&
        he2b_json_get_string(json, "sandboxId") && !he2b_json_get(json, "port"))
        health = HE2B_HEALTH_GONE;
    he2b_json_del(json);
    return health;
}

static void on_answer(void *user, const struct he2b_http_result *result, const char *body,
                      size_t len)
{
    struct he2b_health_look *look = user;
    he2b_health_fn done = look->done;
    void *owner = look->user;

    free(look);
    done(owner, read_answer(result, body, len));
}

int he2b_health_ask(he2b_health_look **ret, const struct he2b_process_target *target,
                    he2b_health_fn done, void *user)
{
    struct he2b_http_header headers[HE2B_ENDPOINT_HEADERS];
    struct he2b_endpoint_texts texts;
    struct he2b_http_request request = {0};
    struct he2b_health_look *look = calloc(1, sizeof(*look));
    char url[HE2B_URL_MAX];
    int error;

    if (!look)
        return HE2B_ERR_NOMEM;
    look->done = done;
    look->user = user;
    error = he2b_endpoint_url(url, sizeof(url), target->endpoint, target->settings, "/health");
    if (!error) {
        he2b_endpoint_headers(headers, &texts, target->endpoint, NULL);
        request.method = "GET";
        request.url = url;
        request.headers = headers;
        request.connect_ms = LOOK_MS;
        request.total_ms = LOOK_MS;
        request.ca_file = target->settings->ca_file;
        request.plain_http_ok = he2b_endpoint_plain_ok(target->settings);
        error = he2b_http_ask(&look->http, target->loop, &request, on_answer, look);
    }
    if (error) {
        free(look);
        return error;
    }
    *ret = look;
    return HE2B_OK;
}

void he2b_health_cancel(he2b_health_look *look)
{
    if (!look)
        return;
    he2b_http_cancel(look->http);
    free(look);
}
