#include "e2b/control.h"

#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    /* The server may work for 70 s and its balancer gives up at 80 (wire E). */
    ANSWER_MS = 85000,
    /* How long one call may go on repeating itself, and how often at most. */
    REPEAT_FOR_MS = 30000,
    REPEAT_MAX = 8,
    BACKOFF_FIRST_MS = 250,
    BACKOFF_MAX_MS = 5000,
    /* Nobody answers at that address: two quick looks more, then it is told. */
    UNREACHABLE_MAX = 2,
};

enum kind {
    CREATE,
    CONNECT,
    KILL,
};

struct he2b_control {
    he2b_loop *loop;
    const struct he2b_settings *settings;
    enum kind kind;
    he2b_control_fn done;
    void *user;
    char sandbox_id[HE2B_SANDBOX_ID_MAX];
    char attempt[HE2B_ATTEMPT_MAX];
    bool v2;       /* the server has no v1 route */
    bool unwanted; /* not to be sent again */
    he2b_json *body;
    he2b_http *http;
    he2b_timer *timer;
    int repeats;
    int unreachable;
    int64_t give_up_ms;
    int64_t backoff_ms;
    struct he2b_control_answer answer;
};

/* A create whose answer is not known: it may exist, and a second one would be nobody's (B-25). */
static const char create_lost[] = "a sandbox may have been made; its lease ends it";

static const char *const actions[] = {
    [CREATE] = "create sandbox",
    [CONNECT] = "connect to sandbox",
    [KILL] = "kill sandbox",
};

int he2b_attempt_token(char token[HE2B_ATTEMPT_MAX])
{
    unsigned char random[16];
    size_t i;

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return HE2B_ERR_SYSTEM;
    for (i = 0; i < sizeof(random); i++)
        snprintf(token + 2 * i, 3, "%02x", random[i]);
    return HE2B_OK;
}

static void control_free(he2b_control *control)
{
    he2b_timer_del(control->timer);
    he2b_json_del(control->body);
    explicit_bzero(&control->answer, sizeof(control->answer));
    free(control);
}

void he2b_control_cancel(he2b_control *control)
{
    if (!control)
        return;
    he2b_http_cancel(control->http);
    control_free(control);
}

void he2b_control_end(he2b_control *control)
{
    if (!control)
        return;
    control->unwanted = true;
    if (!control->http)
        (void)he2b_timer_arm(control->timer, 0);
}

static void finish(he2b_control *control)
{
    he2b_control_fn done = control->done;
    void *user = control->user;
    struct he2b_control_answer answer = control->answer;

    control_free(control);
    done(user, &answer);
    explicit_bzero(&answer, sizeof(answer));
}

static void fail(he2b_control *control, int code, int status, const char *hint, const char *cause,
                 size_t cause_len)
{
    const struct he2b_secrets secrets = {.api_key = control->settings->api_key};
    char line[HE2B_FAILURE_CAUSE_MAX];

    he2b_text_line(line, sizeof(line), cause, cause_len);
    control->answer.ok = false;
    he2b_failure_set(&control->answer.failure, &secrets, code, status, actions[control->kind], hint,
                     "%s", line);
    finish(control);
}

/* ---- sending ---- */

static void on_answer(void *user, const struct he2b_http_result *result, const char *body,
                      size_t len);

static int make_url(const he2b_control *control, char *out, size_t size)
{
    const char *base = control->settings->api_url;
    const char *version = control->v2 ? "/v2" : "";
    int n = 0;

    switch (control->kind) {
    case CREATE:
        n = snprintf(out, size, "%s%s/sandboxes", base, version);
        break;
    case CONNECT:
        n = snprintf(out, size, "%s%s/sandboxes/%s/connect", base, version, control->sandbox_id);
        break;
    case KILL:
        n = snprintf(out, size, "%s/sandboxes/%s", base, control->sandbox_id);
        break;
    }
    return n < 0 || (size_t)n >= size ? HE2B_ERR_OVERFLOW : HE2B_OK;
}

static int send_request(he2b_control *control)
{
    const struct he2b_settings *settings = control->settings;
    struct he2b_http_header headers[6];
    struct he2b_http_request request = {0};
    char url[HE2B_URL_MAX];
    size_t n = 0;

    if (make_url(control, url, sizeof(url)) != HE2B_OK)
        return HE2B_ERR_OVERFLOW;
    headers[n++] = (struct he2b_http_header){"X-API-Key", settings->api_key};
    headers[n++] = (struct he2b_http_header){"Accept", "application/json"};
    if (control->body) {
        headers[n++] = (struct he2b_http_header){"Content-Type", "application/json"};
        headers[n++] = (struct he2b_http_header){"Expect", ""};
        request.body = he2b_json_text(control->body, &request.body_len);
        if (!request.body)
            return HE2B_ERR_NOMEM;
    }
    if (control->kind == CREATE)
        headers[n++] = (struct he2b_http_header){"Idempotency-Key", control->attempt};
    headers[n] = (struct he2b_http_header){NULL, NULL};
    request.method = control->kind == KILL ? "DELETE" : "POST";
    request.url = url;
    request.headers = headers;
    request.total_ms = ANSWER_MS;
    request.ca_file = settings->ca_file;
    request.plain_http_ok = true; /* api_url is https unless the user set it */
    control->answer.sent_ms = he2b_now_ms();
    return he2b_http_ask(&control->http, control->loop, &request, on_answer, control);
}

static void on_timer(void *arg)
{
    he2b_control *control = arg;
    int error = HE2B_OK;

    if (control->unwanted) {
        fail(control, HE2B_ERR_CANCELLED, 0, NULL, "not wanted any more", 19);
        return;
    }
    if (!control->settings->api_key) {
        fail(control, HE2B_ERR_KEY, 0,
             "set E2B_API_KEY; a key comes from https://e2b.dev/dashboard", "no API key", 10);
        return;
    }
    error = send_request(control);
    if (error)
        fail(control, error, 0, NULL, he2b_strerror(error), strlen(he2b_strerror(error)));
}

/* Sends again after a while; false if the bound is reached. */
static bool repeat(he2b_control *control, int64_t asked_ms)
{
    int64_t wait = asked_ms;

    if (control->unwanted)
        return false;
    if (wait < 0) {
        unsigned char random = 0;

        (void)!getrandom(&random, 1, 0);
        /* Jitter over half of it: clients that were refused together come back apart. */
        wait = control->backoff_ms / 2 + control->backoff_ms / 2 * random / 255;
        control->backoff_ms *= 2;
        if (control->backoff_ms > BACKOFF_MAX_MS)
            control->backoff_ms = BACKOFF_MAX_MS;
    }
    if (control->repeats++ >= REPEAT_MAX || he2b_now_ms() + wait > control->give_up_ms)
        return false;
    return he2b_timer_arm(control->timer, wait) == HE2B_OK;
}

/* ---- reading ---- */

static bool copy_text(char *out, size_t size, const he2b_json *json, const char *key)
{
    const char *text = he2b_json_get_string(json, key);

    if (!text) {
        out[0] = '\0';
        return true;
    }
    if (strlen(text) >= size)
        return false;
    memcpy(out, text, strlen(text) + 1);
    return true;
}

/* A header made of this must be a header: tokens are hex, domains are names. */
static bool printable(const char *text)
{
    for (; *text; text++) {
        if (*text <= ' ' || *text > '~')
            return false;
    }
    return true;
}

static bool read_endpoint(he2b_control *control, const he2b_json *json)
{
    struct he2b_endpoint *endpoint = &control->answer.endpoint;

    if (!copy_text(endpoint->sandbox_id, sizeof(endpoint->sandbox_id), json, "sandboxID") ||
        !copy_text(endpoint->access_token, sizeof(endpoint->access_token), json,
                   "envdAccessToken") ||
        !copy_text(endpoint->domain, sizeof(endpoint->domain), json, "domain"))
        return false;
    if (!he2b_sandbox_id_valid(endpoint->sandbox_id) || !printable(endpoint->access_token) ||
        !printable(endpoint->domain) || strpbrk(endpoint->domain, "/@?#"))
        return false;
    /* B-34: another id in the answer is an error. */
    return control->kind == CREATE || strcmp(endpoint->sandbox_id, control->sandbox_id) == 0;
}

static void succeed(he2b_control *control, const char *body, size_t len)
{
    he2b_json *json = NULL;

    control->answer.ok = true;
    if (control->kind != KILL &&
        (he2b_json_parse(&json, body, len) != HE2B_OK || !read_endpoint(control, json))) {
        he2b_json_del(json);
        fail(control, HE2B_ERR_PROTOCOL, control->answer.status, "check E2B_API_URL",
             "the answer does not describe a sandbox as E2B's API does", 56);
        return;
    }
    he2b_json_del(json);
    finish(control);
}

/* The settings that a refusal is about (B-27). */
static const char *refusal_hint(const he2b_control *control, int status)
{
    switch (status) {
    case 401:
        return "check E2B_API_KEY, and that it belongs to the server in E2B_API_URL";
    case 403:
        return control->kind == CREATE ? "check the setting template and the account"
                                       : "check the account";
    case 404:
        return control->kind == CREATE ? "check the setting template" : NULL;
    case 400:
        return control->kind == CREATE ? "check the settings template and lease_seconds"
                                       : "check the setting lease_seconds";
    default:
        return NULL;
    }
}

static int error_of_status(const he2b_control *control, int status)
{
    if (status == 401)
        return HE2B_ERR_KEY;
    if (status == 404 && control->kind != CREATE)
        return HE2B_ERR_GONE;
    if (status == 409 || status == 429)
        return HE2B_ERR_BUSY;
    if (status >= 500)
        return HE2B_ERR_SERVER;
    if (status >= 400)
        return HE2B_ERR_REFUSED;
    return HE2B_ERR_PROTOCOL;
}

/* The server did not do it and said so in a status. */
static void refused(he2b_control *control, const struct he2b_http_result *result, const char *body,
                    size_t len)
{
    int status = result->status;
    he2b_json *json = NULL;
    const char *message = NULL;
    size_t message_len = 0;
    int64_t code = 0;
    char text[64];
    bool e2b;

    e2b = he2b_json_parse(&json, body, len) == HE2B_OK &&
          he2b_json_int(he2b_json_get(json, "code"), &code);
    message = he2b_json_string(he2b_json_get(json, "message"), &message_len);
    if (control->kind == CREATE && (status == 502 || status == 504) && !e2b) {
        /* A balancer's word: the server behind it may have made one all the same (wire E). */
        he2b_json_del(json);
        snprintf(text, sizeof(text), "HTTP %d from a balancer or proxy", status);
        fail(control, HE2B_ERR_LOST, status, create_lost, text, strlen(text));
        return;
    }
    if ((status == 404 || status == 405) && !e2b && !control->v2 && control->kind != KILL) {
        /* not the sandbox or template is unknown, but the route: a server with v2 only (wire H) */
        he2b_json_del(json);
        control->v2 = true;
        if (repeat(control, 0))
            return;
        fail(control, HE2B_ERR_PROTOCOL, status, "check E2B_API_URL", "no such route", 13);
        return;
    }
    if ((status == 429 || status == 409 || status == 502 || status == 503 || status == 504 ||
         (status == 500 && control->kind != CREATE)) &&
        !result->should_retry_false && repeat(control, result->retry_after_ms)) {
        he2b_json_del(json);
        return;
    }
    if (message && message_len) {
        fail(control, error_of_status(control, status), status, refusal_hint(control, status),
             message, message_len);
    } else {
        snprintf(text, sizeof(text), "HTTP %d%s", status,
                 e2b ? "" : ", in a form that is not E2B's");
        fail(control, error_of_status(control, status), status,
             e2b || status >= 500 ? refusal_hint(control, status) : "check E2B_API_URL", text,
             strlen(text));
    }
    he2b_json_del(json);
}

/* No complete answer. */
static void unanswered(he2b_control *control, const struct he2b_http_result *result)
{
    const char *why = result->why[0] ? result->why : "the connection was lost";
    int code = HE2B_ERR_UNREACHABLE;
    const char *hint = "check the network and E2B_API_URL";

    if (result->end == HE2B_HTTP_UNTRUSTED) {
        code = HE2B_ERR_TLS;
        hint = "check the server's certificate and SSL_CERT_FILE";
    } else if (result->end == HE2B_HTTP_TOO_LARGE) {
        code = HE2B_ERR_PROTOCOL;
        hint = "check E2B_API_URL";
        why = "the answer is larger than any that E2B's API gives";
    } else if (result->end == HE2B_HTTP_LOST) {
        code = HE2B_ERR_LOST;
        if (control->kind == CREATE)
            hint = create_lost;
        else if (repeat(control, -1))
            return;
    } else if (control->unreachable++ < UNREACHABLE_MAX && repeat(control, -1)) {
        return;
    }
    fail(control, code, result->status, hint, why, strlen(why));
}

static void on_answer(void *user, const struct he2b_http_result *result, const char *body,
                      size_t len)
{
    he2b_control *control = user;
    int status = result->status;

    control->http = NULL;
    control->answer.status = status;
    if (result->end != HE2B_HTTP_COMPLETE)
        unanswered(control, result);
    else if (control->kind == KILL && (status == 204 || status == 200 || status == 404))
        succeed(control, body, len);
    else if (control->kind != KILL && (status == 200 || status == 201))
        succeed(control, body, len);
    else
        refused(control, result, body, len);
}

/* ---- the three calls ---- */

static int add_metadata(he2b_json *body, const struct he2b_settings *settings, const char *attempt)
{
    he2b_json *metadata = NULL;
    const char *text;
    size_t len;
    int error;

    /* the user's pairs first, so that ours win (B-4) */
    if (settings->metadata) {
        he2b_json *source = NULL;
        union {
            const he2b_json *in;
            he2b_json *out;
        } cast = {.in = settings->metadata};

        text = he2b_json_text(cast.out, &len);
        if (!text || he2b_json_parse(&source, text, len) != HE2B_OK)
            return HE2B_ERR_NOMEM;
        metadata = source;
    } else {
        metadata = he2b_json_new_object();
    }
    if (!metadata)
        return HE2B_ERR_NOMEM;
    error = he2b_json_add_string(metadata, "hermes_plugin", "e2b-terminal");
    if (!error)
        error = he2b_json_add_string(metadata, "hermes_attempt", attempt);
    if (error) {
        he2b_json_del(metadata);
        return error;
    }
    return he2b_json_add(body, "metadata", metadata);
}

static int create_body(he2b_json **ret, const struct he2b_settings *settings, const char *attempt,
                       int64_t lease_s)
{
    he2b_json *body = he2b_json_new_object();
    int error;

    if (!body)
        return HE2B_ERR_NOMEM;
    error = he2b_json_add_string(body, "templateID", settings->template_id);
    if (!error)
        error = he2b_json_add_int(body, "timeout", lease_s);
    if (!error)
        error = he2b_json_add_bool(body, "autoPause", false);
    if (!error)
        error = he2b_json_add_bool(body, "secure", settings->secure);
    if (!error)
        error = he2b_json_add_bool(body, "allow_internet_access", settings->allow_internet_access);
    if (!error)
        error = add_metadata(body, settings, attempt);
    if (error) {
        he2b_json_del(body);
        return error;
    }
    *ret = body;
    return HE2B_OK;
}

static int connect_body(he2b_json **ret, int64_t lease_s)
{
    he2b_json *body = he2b_json_new_object();

    if (!body)
        return HE2B_ERR_NOMEM;
    if (he2b_json_add_int(body, "timeout", lease_s) != HE2B_OK) {
        he2b_json_del(body);
        return HE2B_ERR_NOMEM;
    }
    *ret = body;
    return HE2B_OK;
}

static int control_new(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                       enum kind kind, const char *sandbox_id, he2b_control_fn done, void *user)
{
    he2b_control *control = calloc(1, sizeof(*control));
    int error;

    if (!control)
        return HE2B_ERR_NOMEM;
    control->loop = loop;
    control->settings = settings;
    control->kind = kind;
    control->done = done;
    control->user = user;
    control->give_up_ms = he2b_now_ms() + REPEAT_FOR_MS;
    control->backoff_ms = BACKOFF_FIRST_MS;
    snprintf(control->sandbox_id, sizeof(control->sandbox_id), "%s", sandbox_id);
    error = he2b_timer_new(&control->timer, loop, on_timer, control);
    if (error) {
        control_free(control);
        return error;
    }
    *ret = control;
    return HE2B_OK;
}

/* Sends from the loop, so that no outcome comes inside the call that started it. */
static int launch(he2b_control **ret, he2b_control *control, int error)
{
    if (!error)
        error = he2b_timer_arm(control->timer, 0);
    if (error) {
        control_free(control);
        return error;
    }
    *ret = control;
    return HE2B_OK;
}

int he2b_control_create(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                        const char *attempt, int64_t lease_s, he2b_control_fn done, void *user)
{
    he2b_control *control = NULL;
    int error = control_new(&control, loop, settings, CREATE, "", done, user);

    if (error)
        return error;
    snprintf(control->attempt, sizeof(control->attempt), "%s", attempt);
    control->answer.lease_s = lease_s;
    return launch(ret, control, create_body(&control->body, settings, attempt, lease_s));
}

int he2b_control_connect(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                         const char *sandbox_id, int64_t lease_s, he2b_control_fn done, void *user)
{
    he2b_control *control = NULL;
    int error = control_new(&control, loop, settings, CONNECT, sandbox_id, done, user);

    if (error)
        return error;
    control->answer.lease_s = lease_s;
    return launch(ret, control, connect_body(&control->body, lease_s));
}

int he2b_control_kill(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                      const char *sandbox_id, he2b_control_fn done, void *user)
{
    he2b_control *control = NULL;
    int error = control_new(&control, loop, settings, KILL, sandbox_id, done, user);

    if (error)
        return error;
    return launch(ret, control, HE2B_OK);
}
