/* Connect's forms (wire C.1 to C.5), and which handler a request gets. */
#include "core/buf.h"
#include "core/json.h"
#include "he2b.h"
#include "local/daemon.h"
#include "machines/envelope.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef void (*rpc_handler)(struct exchange *x, const he2b_json *request);

struct method {
    const char *path;
    bool stream;
    rpc_handler handler; /* NULL: known, and not served */
};

static const struct method methods[] = {
    {"/process.Process/Start", true, process_start},
    {"/process.Process/Connect", true, process_connect},
    {"/process.Process/List", false, process_list},
    {"/process.Process/SendInput", false, process_send_input},
    {"/process.Process/CloseStdin", false, process_close_stdin},
    {"/process.Process/SendSignal", false, process_send_signal},
    {"/process.Process/Update", false, process_update},
    {"/process.Process/StreamInput", true, NULL},
    {"/filesystem.Filesystem/Stat", false, filesystem_stat},
    {"/filesystem.Filesystem/MakeDir", false, filesystem_make_dir},
    {"/filesystem.Filesystem/Move", false, filesystem_move},
    {"/filesystem.Filesystem/Remove", false, filesystem_remove},
    {"/filesystem.Filesystem/ListDir", false, filesystem_list_dir},
    {"/filesystem.Filesystem/WatchDir", true, NULL},
    {"/filesystem.Filesystem/CreateWatcher", false, NULL},
    {"/filesystem.Filesystem/GetWatcherEvents", false, NULL},
    {"/filesystem.Filesystem/RemoveWatcher", false, NULL},
};

struct rpc {
    const struct method *method;
    struct he2b_buf body;
    bool too_large;
};

/* ---- answers ---- */

static int status_of(const char *code)
{
    static const struct {
        const char *code;
        int status;
    } rows[] = {
        {"canceled", 499},           {"invalid_argument", 400},    {"deadline_exceeded", 504},
        {"not_found", 404},          {"already_exists", 409},      {"permission_denied", 403},
        {"resource_exhausted", 429}, {"failed_precondition", 400}, {"aborted", 409},
        {"out_of_range", 400},       {"unimplemented", 501},       {"unavailable", 503},
        {"unauthenticated", 401},
    };
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(code, rows[i].code) == 0)
            return rows[i].status;
    }
    return 500;
}

static he2b_json *error_object(const char *code, const char *message)
{
    he2b_json *error = he2b_json_new_object();

    if (!error || he2b_json_add_string(error, "code", code) != HE2B_OK ||
        (message[0] && he2b_json_add_string(error, "message", message) != HE2B_OK)) {
        he2b_json_del(error);
        return NULL;
    }
    return error;
}

void rpc_error(struct exchange *x, const char *code, const char *format, ...)
{
    char message[2048];
    he2b_json *error;
    const char *text;
    size_t len = 0;
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    error = error_object(code, message);
    text = error ? he2b_json_text(error, &len) : NULL;
    exchange_answer(x, status_of(code), "application/json", text ? text : "{}", text ? len : 2);
    he2b_json_del(error);
}

void rpc_answer(struct exchange *x, he2b_json *message)
{
    size_t len = 0;
    const char *text = message ? he2b_json_text(message, &len) : NULL;

    if (text)
        exchange_answer(x, 200, "application/json", text, len);
    else
        rpc_error(x, "internal", "out of memory");
    he2b_json_del(message);
}

void rpc_stream_head(struct exchange *x)
{
    he2b_json *headers = he2b_json_new_object();

    if (headers)
        (void)he2b_json_add_string(headers, "Content-Type", "application/connect+json");
    exchange_head(x, 200, headers, -1);
}

static void envelope(struct exchange *x, unsigned char flags, const char *json, size_t len)
{
    const unsigned char prefix[5] = {flags, (unsigned char)(len >> 24), (unsigned char)(len >> 16),
                                     (unsigned char)(len >> 8), (unsigned char)len};

    exchange_write(x, prefix, sizeof(prefix));
    exchange_write(x, json, len);
}

void rpc_stream_message(struct exchange *x, const char *json, size_t len)
{
    envelope(x, 0, json, len);
}

void rpc_stream_end(struct exchange *x, const char *code, const char *message)
{
    he2b_json *end = he2b_json_new_object();
    const char *text = NULL;
    size_t len = 0;

    if (!x->answered)
        rpc_stream_head(x);
    if (end && (!code || he2b_json_add(end, "error", error_object(code, message)) == HE2B_OK))
        text = he2b_json_text(end, &len);
    envelope(x, HE2B_ENVELOPE_END, text ? text : "{}", text ? len : 2);
    he2b_json_del(end);
    exchange_end(x);
}

/* ---- headers ---- */

static bool digits(const char *text)
{
    return text[0] && strspn(text, "0123456789") == strlen(text);
}

int64_t rpc_timeout_ms(const struct exchange *x)
{
    const char *text = exchange_header(x, "connect-timeout-ms");
    bool negative;

    if (!text)
        return -1;
    negative = text[0] == '-';
    if (!digits(text + (negative ? 1 : 0)) || strlen(text) > 10)
        return -2;
    return negative ? 0 : strtoll(text, NULL, 10);
}

int rpc_keepalive_s(const struct exchange *x)
{
    enum {
        KEEPALIVE_DEFAULT_S = 90,
        KEEPALIVE_MAX_S = 86400,
    };
    const char *text = exchange_header(x, "keepalive-ping-interval");
    char *end;
    long value;

    if (!text)
        return KEEPALIVE_DEFAULT_S;
    value = strtol(text, &end, 10);
    if (end == text || *end)
        return KEEPALIVE_DEFAULT_S;
    if (value <= 0)
        return 0;
    return value > KEEPALIVE_MAX_S ? KEEPALIVE_MAX_S : (int)value;
}

/* ---- a request in memory ---- */

static void rpc_body(struct exchange *x, const char *data, size_t len)
{
    struct rpc *rpc = x->state;

    if (!rpc->too_large && he2b_buf_add(&rpc->body, data, len) != HE2B_OK)
        rpc->too_large = true;
}

static void fail(struct exchange *x, bool stream, const char *code, const char *message)
{
    if (stream)
        rpc_stream_end(x, code, message);
    else
        rpc_error(x, code, "%s", message);
}

/* The message inside a stream's request: exactly one envelope; NULL and a message if it is not. */
static const char *only_envelope(const struct rpc *rpc, size_t *ret_len, const char **why)
{
    struct he2b_envelope envelope;
    const unsigned char *data = (const unsigned char *)he2b_buf_str(&rpc->body);
    size_t used;
    size_t payload;

    he2b_envelope_init(&envelope);
    *why = "protocol error: incomplete envelope";
    switch (he2b_envelope_scan(&envelope, data, rpc->body.len, &used, &payload)) {
    case HE2B_ENVELOPE_BEGIN:
        break;
    case HE2B_ENVELOPE_BAD:
        *why = "protocol error: invalid envelope flags";
        return NULL;
    default:
        return NULL;
    }
    if (envelope.flags & HE2B_ENVELOPE_COMPRESSED) {
        *why = "protocol error: sent compressed message without compression support";
        return NULL;
    }
    if (envelope.flags & HE2B_ENVELOPE_END) {
        *why = "protocol error: invalid envelope flags 2";
        return NULL;
    }
    if (envelope.length > rpc->body.len - used)
        return NULL;
    if (envelope.length < rpc->body.len - used) {
        *why = "unary request has multiple messages";
        return NULL;
    }
    *ret_len = envelope.length;
    return he2b_buf_str(&rpc->body) + used;
}

static void rpc_end(struct exchange *x)
{
    struct rpc *rpc = x->state;
    const struct method *method = rpc->method;
    const char *version = exchange_header(x, "connect-protocol-version");
    const char *text = he2b_buf_str(&rpc->body);
    const char *why = NULL;
    size_t len = rpc->body.len;
    he2b_json *request = NULL;
    char message[300];

    if (rpc->too_large) {
        fail(x, method->stream, "resource_exhausted", "the request is too large");
        return;
    }
    if (version && strcmp(version, "1") != 0) {
        snprintf(message, sizeof(message), "connect-protocol-version must be \"1\": got \"%.100s\"",
                 version);
        fail(x, method->stream, "invalid_argument", message);
        return;
    }
    if (rpc_timeout_ms(x) == -2) {
        fail(x, method->stream, "invalid_argument", "protocol error: invalid timeout");
        return;
    }
    if (method->stream) {
        text = only_envelope(rpc, &len, &why);
        if (!text) {
            rpc_stream_end(x, "invalid_argument", why);
            return;
        }
        if (len == 0) {
            text = "{}";
            len = 2;
        }
    }
    if (he2b_json_parse(&request, text, len) != HE2B_OK || !he2b_json_is_object(request)) {
        fail(x, method->stream, "invalid_argument", "unmarshal message: not a JSON object");
        he2b_json_del(request);
        return;
    }
    /* The handler takes over: what it needs of the request, it copies. */
    x->ops = NULL;
    x->state = NULL;
    method->handler(x, request);
    he2b_json_del(request);
    he2b_buf_free(&rpc->body);
    free(rpc);
}

static void rpc_gone(struct exchange *x)
{
    struct rpc *rpc = x->state;

    he2b_buf_free(&rpc->body);
    free(rpc);
}

static const struct exchange_ops rpc_ops = {.body = rpc_body, .end = rpc_end, .gone = rpc_gone};

/* ---- routing ---- */

static void text_answer(struct exchange *x, int status, const char *text, const char *header,
                        const char *value)
{
    he2b_json *headers = he2b_json_new_object();

    if (headers && text[0])
        (void)he2b_json_add_string(headers, "Content-Type", "text/plain; charset=utf-8");
    if (headers && header)
        (void)he2b_json_add_string(headers, header, value);
    exchange_head(x, status, headers, (int64_t)strlen(text));
    exchange_write(x, text, strlen(text));
    exchange_end(x);
}

/* The type without parameters, lower case. */
static bool content_type_is(const struct exchange *x, const char *wanted)
{
    const char *type = exchange_header(x, "content-type");
    size_t len = type ? strcspn(type, "; ") : 0;

    return len == strlen(wanted) && strncasecmp(type, wanted, len) == 0;
}

static void route_rpc(struct exchange *x, const struct method *method)
{
    const char *encoding =
        exchange_header(x, method->stream ? "connect-content-encoding" : "content-encoding");
    struct rpc *rpc;

    if (strcmp(x->method, "POST") != 0) {
        text_answer(x, 405, "", "Allow", "POST");
        return;
    }
    if (!content_type_is(x, method->stream ? "application/connect+json" : "application/json")) {
        text_answer(x, 415, "", "Accept-Post",
                    method->stream ? "application/connect+json" : "application/json");
        return;
    }
    if (encoding && strcasecmp(encoding, "identity") != 0) {
        fail(x, method->stream, "unimplemented",
             "unknown compression: supported encodings are identity");
        return;
    }
    if (!method->handler) {
        fail(x, method->stream, "unimplemented", "e2b-local does not serve this call");
        return;
    }
    rpc = calloc(1, sizeof(*rpc));
    if (!rpc) {
        fail(x, method->stream, "internal", "out of memory");
        return;
    }
    rpc->method = method;
    he2b_buf_init(&rpc->body, DAEMON_REQUEST_MAX);
    x->state = rpc;
    x->ops = &rpc_ops;
}

static void route_envs(struct exchange *x)
{
    size_t len = 0;
    const char *text =
        daemon_globals.env_vars ? he2b_json_text(daemon_globals.env_vars, &len) : NULL;

    exchange_answer(x, 200, "application/json", text ? text : "{}", text ? len : 2);
}

/* A user who does not exist is refused before anything else is looked at (wire C.3). */
static bool user_is_known(struct exchange *x)
{
    struct daemon_user user;
    char message[128];
    char name[64];

    if (daemon_user_of_header(&user, exchange_header(x, "authorization"), name, sizeof(name)))
        return true;
    snprintf(message, sizeof(message), "invalid username: '%s'", name);
    fail(x, content_type_is(x, "application/connect+json"), "unauthenticated", message);
    return false;
}

void daemon_route(struct exchange *x)
{
    size_t i;

    if (!user_is_known(x))
        return;
    for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strcmp(x->path, methods[i].path) == 0) {
            route_rpc(x, &methods[i]);
            return;
        }
    }
    if (strcmp(x->path, "/health") == 0 && strcmp(x->method, "GET") == 0) {
        he2b_json *headers = he2b_json_new_object();

        if (headers)
            (void)he2b_json_add_string(headers, "Cache-Control", "no-store");
        exchange_head(x, 204, headers, 0);
        exchange_end(x);
    } else if (strcmp(x->path, "/files") == 0 && strcmp(x->method, "GET") == 0) {
        files_get(x);
    } else if (strcmp(x->path, "/files") == 0 && strcmp(x->method, "POST") == 0) {
        files_post(x);
    } else if (strcmp(x->path, "/metrics") == 0) {
        exchange_error(x, 501, "e2b-local does not measure sandboxes");
    } else if (strcmp(x->path, "/envs") == 0) {
        route_envs(x);
    } else {
        text_answer(x, 404, "404 page not found\n", NULL, NULL);
    }
}
