#include "e2b/control_request.h"

#include "core/text.h"
#include "e2b/endpoint.h"
#include "e2b/unreached.h"
#include "net/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum {
    /* Nobody answers at that address: two quick looks more, then it is told. */
    UNREACHABLE_MAX = 2,
    /* Only the end of another sandbox changes this answer: asked so often in all (wire A.14). */
    CONCURRENCY_MAX = 3,
    /* A base URL and a filter with a page token, percent-encoded. */
    URL_MAX = HE2B_URL_MAX + 3 * HE2B_HTTP_CAPTURED_MAX + 1024,
};

static const struct he2b_control_times real_times = {
    /* The server may work for 70 s and its balancer gives up at 80 (wire E). */
    .answer = 85000,     .repeat_for = 30000, .backoff_first = 250,
    .backoff_max = 5000, .look_every = 2000,  .look_until = 80000,
};

struct he2b_request {
    he2b_loop *loop;
    const struct he2b_settings *settings;
    const struct he2b_request_kind *kind;
    const struct he2b_control_times *times;
    he2b_request_fn done;
    void *user;
    char *path;
    char *attempt;
    bool v2;       /* the server has no v1 route */
    bool unwanted; /* not to be sent again */
    he2b_json *body;
    he2b_http *http;
    he2b_timer *timer;
    int unreachable;
    int concurrency;
    int64_t give_up_ms;
    int64_t backoff_ms;
    struct he2b_request_answer answer;
};

const struct he2b_control_times *he2b_control_times(const struct he2b_settings *settings)
{
    return settings->control_times ? settings->control_times : &real_times;
}

static void request_free(he2b_request *request)
{
    he2b_timer_del(request->timer);
    he2b_json_del(request->body);
    free(request->path);
    free(request->attempt);
    free(request);
}

void he2b_request_cancel(he2b_request *request)
{
    if (!request)
        return;
    he2b_http_cancel(request->http);
    request_free(request);
}

void he2b_request_end(he2b_request *request)
{
    if (!request)
        return;
    request->unwanted = true;
    if (!request->http)
        (void)he2b_timer_arm(request->timer, 0);
}

static void finish(he2b_request *request)
{
    he2b_request_fn done = request->done;
    void *user = request->user;
    struct he2b_request_answer answer = request->answer;

    request_free(request);
    done(user, &answer);
}

void he2b_request_failure(struct he2b_failure *ret, const struct he2b_settings *settings,
                          const struct he2b_request_kind *kind, int code, int status,
                          const char *hint, const char *cause, size_t cause_len)
{
    const struct he2b_secrets secrets = {.api_key = settings->api_key};
    char line[HE2B_FAILURE_CAUSE_MAX];

    he2b_text_line(line, sizeof(line), cause, cause_len);
    he2b_failure_set(ret, &secrets, code, status, kind->action, hint, "%s", line);
}

static void fail(he2b_request *request, int code, int status, const char *hint, const char *cause,
                 size_t cause_len)
{
    request->answer.ok = false;
    he2b_request_failure(&request->answer.failure, request->settings, request->kind, code, status,
                         hint, cause, cause_len);
    finish(request);
}

/* ---- sending ---- */

static void on_answer(void *user, const struct he2b_http_result *result, const char *body,
                      size_t len);

static int send_request(he2b_request *request)
{
    const struct he2b_settings *settings = request->settings;
    struct he2b_http_header headers[6];
    struct he2b_http_request http = {0};
    char url[URL_MAX];
    size_t n = 0;
    int len;

    len = snprintf(url, sizeof(url), "%s%s%s", settings->api_url, request->v2 ? "/v2" : "",
                   request->path);
    if (len < 0 || (size_t)len >= sizeof(url))
        return HE2B_ERR_OVERFLOW;
    headers[n++] = (struct he2b_http_header){"X-API-Key", settings->api_key};
    headers[n++] = (struct he2b_http_header){"Accept", "application/json"};
    if (request->body) {
        headers[n++] = (struct he2b_http_header){"Content-Type", "application/json"};
        headers[n++] = (struct he2b_http_header){"Expect", ""};
        http.body = he2b_json_text(request->body, &http.body_len);
        if (!http.body)
            return HE2B_ERR_NOMEM;
    }
    if (request->attempt)
        headers[n++] = (struct he2b_http_header){"Idempotency-Key", request->attempt};
    headers[n] = (struct he2b_http_header){NULL, NULL};
    http.method = request->kind->method;
    http.url = url;
    http.headers = headers;
    http.total_ms = request->times->answer;
    http.ca_file = settings->ca_file;
    http.capture = "x-next-token";
    http.plain_http_ok = true; /* api_url is https unless the user set it */
    request->answer.sent_ms = he2b_now_ms();
    return he2b_http_ask(&request->http, request->loop, &http, on_answer, request);
}

static void on_timer(void *arg)
{
    he2b_request *request = arg;
    int error;

    if (request->unwanted) {
        fail(request, HE2B_ERR_CANCELLED, 0, NULL, "not wanted any more", 19);
        return;
    }
    if (!request->settings->api_key) {
        fail(request, HE2B_ERR_KEY, 0,
             "set E2B_API_KEY; a key comes from https://e2b.dev/dashboard", "no API key", 10);
        return;
    }
    error = send_request(request);
    if (error)
        fail(request, error, 0, NULL, he2b_strerror(error), strlen(he2b_strerror(error)));
}

/* Jitter over half of it: clients that were refused together come back apart. */
static int64_t backoff(he2b_request *request)
{
    unsigned char random = 0;
    int64_t wait;

    (void)!getrandom(&random, 1, 0);
    wait = request->backoff_ms / 2 + request->backoff_ms / 2 * random / 255;
    request->backoff_ms *= 2;
    if (request->backoff_ms > request->times->backoff_max)
        request->backoff_ms = request->times->backoff_max;
    return wait;
}

/* Sends again after a while, the time the server asked for at least (-1: none); false if the bound
 * is reached. */
static bool repeat(he2b_request *request, int64_t asked_ms)
{
    int64_t wait = backoff(request);

    if (request->unwanted)
        return false;
    if (wait < asked_ms)
        wait = asked_ms;
    if (he2b_now_ms() + wait > request->give_up_ms)
        return false;
    return he2b_timer_arm(request->timer, wait) == HE2B_OK;
}

/* ---- reading ---- */

/* e2b: in E2B's own form; somebody else's 404 does not say that a sandbox is gone. */
static int error_of_status(const he2b_request *request, int status, bool e2b)
{
    if (status == 401)
        return HE2B_ERR_KEY;
    if (status == 404 && request->kind->by_id && e2b)
        return HE2B_ERR_GONE;
    if (status == 409 || status == 429)
        return HE2B_ERR_BUSY;
    if (status >= 500)
        return HE2B_ERR_SERVER;
    if (status >= 400)
        return HE2B_ERR_REFUSED;
    return HE2B_ERR_PROTOCOL;
}

/* The status in which a server says: not now. */
static bool may_change(const he2b_request *request, int status)
{
    switch (status) {
    case 409:
    case 429:
    case 502:
    case 503:
    case 504:
        return true;
    case 500:
        return !request->kind->starts;
    default:
        return false;
    }
}

/* "… the maximum number of concurrent E2B sandboxes (20) …": true, and the number, 0 if none. */
static bool concurrency_limit(int status, const char *message, long *ret)
{
    static const char start[] = "you have reached the maximum number of concurrent E2B sandboxes";
    const char *number;

    if (status != 429 || strncasecmp(message, start, sizeof(start) - 1) != 0)
        return false;
    number = strchr(message, '(');
    *ret = number ? strtol(number + 1, NULL, 10) : 0;
    return true;
}

/* What to do about a refusal that is told. */
static const char *hint_of(const he2b_request *request, const struct he2b_http_result *result,
                           const char *message, char *out, size_t size)
{
    long limit = 0;

    if (concurrency_limit(result->status, message, &limit)) {
        if (limit > 0)
            snprintf(out, size,
                     "the account's limit is %ld sandboxes at a time; end one, or raise the limit",
                     limit);
        else
            snprintf(out, size, "end a sandbox, or raise the account's limit");
        return out;
    }
    if (may_change(request, result->status) && result->retry_after_ms > 0) {
        snprintf(out, size, "the server asks to wait %lld s; try again then",
                 (long long)result->retry_after_ms / 1000);
        return out;
    }
    if (result->status == 429 || result->status == 409)
        return "try again in a while";
    return request->kind->hint ? request->kind->hint(result->status) : NULL;
}

/* True if it is on its way once more. */
static bool again(he2b_request *request, const struct he2b_http_result *result, const char *message)
{
    long limit;

    if (!may_change(request, result->status) || result->should_retry_false)
        return false;
    if (concurrency_limit(result->status, message, &limit) &&
        ++request->concurrency >= CONCURRENCY_MAX)
        return false;
    return repeat(request, result->retry_after_ms);
}

/* The v1 route is not known there, rather than what was asked about; E2B's words have a code. */
static bool other_route(he2b_request *request, int status, bool e2b)
{
    if ((status != 404 && status != 405) || e2b || request->v2 || !request->kind->v2_twin)
        return false;
    request->v2 = true;
    return !request->unwanted && he2b_timer_arm(request->timer, 0) == HE2B_OK;
}

static void refused(he2b_request *request, const struct he2b_http_result *result,
                    const char *message, bool e2b)
{
    int status = result->status;
    char hint[HE2B_FAILURE_HINT_MAX];
    char text[64];

    if (other_route(request, status, e2b))
        return;
    if (request->kind->starts && (status == 502 || status == 504) && !e2b) {
        /* A balancer's word: the server behind it may have done it all the same (wire E). */
        snprintf(text, sizeof(text), "HTTP %d from a balancer or proxy", status);
        fail(request, HE2B_ERR_LOST, status, NULL, text, strlen(text));
        return;
    }
    if (again(request, result, message))
        return;
    if (message[0]) {
        fail(request, error_of_status(request, status, e2b), status,
             hint_of(request, result, message, hint, sizeof(hint)), message, strlen(message));
        return;
    }
    snprintf(text, sizeof(text), "HTTP %d%s", status, e2b ? "" : ", in a form that is not E2B's");
    fail(request, error_of_status(request, status, e2b), status,
         e2b || status >= 500 || status == 429
             ? hint_of(request, result, message, hint, sizeof(hint))
             : "check E2B_API_URL",
         text, strlen(text));
}

/* No complete answer. */
static void unanswered(he2b_request *request, const struct he2b_http_result *result)
{
    const char *why = result->why[0] ? result->why : "the connection was lost";
    char todo[HE2B_FAILURE_HINT_MAX];
    const char *hint = todo;
    int code = he2b_unreached(result, "E2B_API_URL", todo, sizeof(todo));

    if (result->end == HE2B_HTTP_TOO_LARGE) {
        code = HE2B_ERR_PROTOCOL;
        hint = "check E2B_API_URL";
        why = "the answer is larger than any that E2B's API gives";
    } else if (result->end == HE2B_HTTP_LOST) {
        code = HE2B_ERR_LOST;
        if (!request->kind->starts && repeat(request, -1))
            return;
    } else if (code != HE2B_ERR_TLS && request->unreachable++ < UNREACHABLE_MAX &&
               repeat(request, -1)) {
        return;
    }
    fail(request, code, result->status, hint, why, strlen(why));
}

static void on_answer(void *user, const struct he2b_http_result *result, const char *body,
                      size_t len)
{
    he2b_request *request = user;
    he2b_json *json = NULL;
    const char *message = NULL;
    int64_t code;
    bool e2b;

    request->http = NULL;
    request->answer.status = result->status;
    request->answer.date = result->date;
    if (result->end != HE2B_HTTP_COMPLETE) {
        unanswered(request, result);
        return;
    }
    if (request->kind->good(result->status, "")) {
        if (result->captured_cut) {
            fail(request, HE2B_ERR_PROTOCOL, result->status, "check E2B_API_URL",
                 "a page token longer than any that E2B's API gives", 49);
            return;
        }
        request->answer.ok = true;
        request->answer.body = body;
        request->answer.len = len;
        request->answer.next_token = result->captured;
        finish(request);
        return;
    }
    e2b = he2b_json_parse(&json, body, len) == HE2B_OK &&
          he2b_json_int(he2b_json_get(json, "code"), &code);
    message = he2b_json_get_string(json, "message");
    if (!message)
        message = "";
    if (request->kind->good(result->status, message)) {
        request->answer.ok = true;
        request->answer.body = body;
        request->answer.len = len;
        request->answer.next_token = "";
        finish(request);
    } else {
        refused(request, result, message, e2b);
    }
    he2b_json_del(json);
}

/* ---- the start ---- */

int he2b_request_start(he2b_request **ret, he2b_loop *loop, const struct he2b_settings *settings,
                       const struct he2b_request_kind *kind, const char *path, he2b_json *body,
                       const char *attempt, he2b_request_fn done, void *user)
{
    he2b_request *request = calloc(1, sizeof(*request));
    int error = HE2B_ERR_NOMEM;

    if (!request) {
        he2b_json_del(body);
        return HE2B_ERR_NOMEM;
    }
    request->body = body;
    request->loop = loop;
    request->settings = settings;
    request->kind = kind;
    request->times = he2b_control_times(settings);
    request->done = done;
    request->user = user;
    request->answer.date = -1;
    request->answer.next_token = "";
    request->give_up_ms = he2b_now_ms() + request->times->repeat_for;
    request->backoff_ms = request->times->backoff_first;
    request->path = strdup(path);
    request->attempt = attempt ? strdup(attempt) : NULL;
    if (request->path && (request->attempt || !attempt))
        error = he2b_timer_new(&request->timer, loop, on_timer, request);
    if (!error)
        error = he2b_timer_arm(request->timer, 0);
    if (error) {
        request_free(request);
        return error;
    }
    *ret = request;
    return HE2B_OK;
}
