#include "local/daemon_rpc.h"

#include "core/buf.h"
#include "core/text.h"
#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_exchange.h"
#include "machines/envelope.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct rpc {
    const struct rpc_method *method;
    struct he2b_buf body;
    bool too_large;
};

static const char type_unary[] = "application/json";
static const char type_stream[] = "application/connect+json";
static const char type_unary_binary[] = "application/proto";
static const char type_stream_binary[] = "application/connect+proto";

bool rpc_is_binary(const struct exchange *x)
{
    return exchange_header_is(x, "content-type", type_unary_binary) ||
           exchange_header_is(x, "content-type", type_stream_binary);
}

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

__attribute__((format(printf, 2, 0))) static he2b_json *
error_object(const char *code, const char *format, va_list args)
{
    /* room for two paths */
    char raw[10000];
    char message[10000];
    he2b_json *error = he2b_json_new_object();

    vsnprintf(raw, sizeof(raw), format, args);
    he2b_text_utf8(message, sizeof(message), raw, strlen(raw));
    if (!error || he2b_json_add_string(error, "code", code) != HE2B_OK ||
        he2b_json_add_string(error, "message", message) != HE2B_OK) {
        he2b_json_del(error);
        return NULL;
    }
    return error;
}

void rpc_error(struct exchange *x, const char *code, const char *format, ...)
{
    const char *text = NULL;
    he2b_json *error;
    size_t len = 0;
    va_list args;

    va_start(args, format);
    error = error_object(code, format, args);
    va_end(args);
    if (error)
        text = he2b_json_text(error, &len);
    if (text)
        exchange_answer(x, status_of(code), type_unary, text, len);
    else
        exchange_cut(x);
    he2b_json_del(error);
}

/* The same in protobuf; false after a cut: no memory. */
static bool encode(struct exchange *x, struct he2b_buf *out, const he2b_json *message)
{
    he2b_buf_init(out, DAEMON_MESSAGE_MAX);
    if (codec_write(out, exchange_rpc(x)->answered, message) == HE2B_OK)
        return true;
    he2b_buf_free(out);
    exchange_cut(x);
    return false;
}

void rpc_answer_text(struct exchange *x, const char *json, size_t len)
{
    exchange_answer(x, 200, type_unary, json, len);
}

void rpc_answer(struct exchange *x, he2b_json *message)
{
    struct he2b_buf bytes;
    size_t len = 0;
    const char *text = message ? he2b_json_text(message, &len) : NULL;

    if (!text) {
        rpc_error(x, "internal", "out of memory");
    } else if (!rpc_is_binary(x)) {
        rpc_answer_text(x, text, len);
    } else if (encode(x, &bytes, message)) {
        exchange_answer(x, 200, type_unary_binary, he2b_buf_str(&bytes), bytes.len);
        he2b_buf_free(&bytes);
    }
    he2b_json_del(message);
}

void rpc_stream_head(struct exchange *x)
{
    const char *type = rpc_is_binary(x) ? type_stream_binary : type_stream;

    exchange_head(x, 200, exchange_one_header("Content-Type", type), -1);
}

static void envelope(struct exchange *x, unsigned char flags, const char *json, size_t len)
{
    const unsigned char prefix[5] = {flags, (unsigned char)(len >> 24), (unsigned char)(len >> 16),
                                     (unsigned char)(len >> 8), (unsigned char)len};

    exchange_write_prefixed(x, prefix, sizeof(prefix), json, len);
}

void rpc_stream_bytes(struct exchange *x, const void *data, size_t len)
{
    envelope(x, 0, data, len);
}

void rpc_stream_message(struct exchange *x, const char *json, size_t len)
{
    he2b_json *message = NULL;
    struct he2b_buf bytes;

    if (!rpc_is_binary(x)) {
        rpc_stream_bytes(x, json, len);
        return;
    }
    if (he2b_json_parse(&message, json, len) != HE2B_OK) {
        exchange_cut(x);
    } else if (encode(x, &bytes, message)) {
        rpc_stream_bytes(x, he2b_buf_str(&bytes), bytes.len);
        he2b_buf_free(&bytes);
    }
    he2b_json_del(message);
}

void rpc_stream_done(struct exchange *x)
{
    envelope(x, HE2B_ENVELOPE_END, "{}", 2);
    exchange_end(x);
}

void rpc_stream_fail(struct exchange *x, const char *code, const char *format, ...)
{
    he2b_json *end = he2b_json_new_object();
    const char *text = NULL;
    he2b_json *error;
    size_t len = 0;
    va_list args;

    if (!exchange_answered(x))
        rpc_stream_head(x);
    va_start(args, format);
    error = error_object(code, format, args);
    va_end(args);
    if (!end)
        he2b_json_del(error);
    else if (he2b_json_add(end, "error", error) == HE2B_OK)
        text = he2b_json_text(end, &len);
    if (text) {
        envelope(x, HE2B_ENVELOPE_END, text, len);
        exchange_end(x);
    } else {
        exchange_cut(x);
    }
    he2b_json_del(end);
}

/* ---- headers ---- */

int64_t rpc_timeout_ms(const struct exchange *x)
{
    enum {
        DIGITS_MAX = 10,
    };
    const char *text = exchange_header(x, "connect-timeout-ms");
    const char *digits;

    if (!text)
        return RPC_NO_TIMEOUT;
    digits = text[0] == '-' ? text + 1 : text;
    if (!digits[0] || strspn(digits, "0123456789") != strlen(digits) || strlen(text) > DIGITS_MAX)
        return RPC_BAD_TIMEOUT;
    return digits != text ? 0 : strtoll(text, NULL, 10);
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

/* ---- requests ---- */

__attribute__((format(printf, 4, 5))) static void
fail(struct exchange *x, const struct rpc_method *method, const char *code, const char *format, ...)
{
    char message[512];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (method->kind == RPC_UNARY)
        rpc_error(x, code, "%s", message);
    else
        rpc_stream_fail(x, code, "%s", message);
}

static void rpc_body(struct exchange *x, const char *data, size_t len)
{
    struct rpc *rpc = exchange_state(x);

    if (!rpc->too_large && he2b_buf_add(&rpc->body, data, len) != HE2B_OK) {
        rpc->too_large = true;
        he2b_buf_free(&rpc->body);
    }
}

/* The message of a server stream's request: exactly one envelope; NULL and a reason if it is not.
 */
static const char *only_envelope(const struct rpc *rpc, size_t *ret_len, const char **ret_why)
{
    const unsigned char *data = (const unsigned char *)he2b_buf_str(&rpc->body);
    struct he2b_envelope envelope;
    size_t payload;
    size_t used = 0;

    he2b_envelope_init(&envelope);
    *ret_why = "protocol error: incomplete envelope";
    switch (he2b_envelope_scan(&envelope, data, rpc->body.len, &used, &payload)) {
    case HE2B_ENVELOPE_BEGIN:
        break;
    case HE2B_ENVELOPE_BAD:
        *ret_why = "protocol error: invalid envelope flags";
        return NULL;
    case HE2B_ENVELOPE_MORE:
    case HE2B_ENVELOPE_PAYLOAD:
    case HE2B_ENVELOPE_DONE:
        return NULL;
    }
    if (envelope.flags != 0) {
        *ret_why = envelope.flags & HE2B_ENVELOPE_COMPRESSED
                       ? "protocol error: sent compressed message without compression support"
                       : "protocol error: invalid envelope flags";
        return NULL;
    }
    if (envelope.length > rpc->body.len - used)
        return NULL;
    if (envelope.length < rpc->body.len - used) {
        *ret_why = "unary request has multiple messages";
        return NULL;
    }
    *ret_len = envelope.length;
    return he2b_buf_str(&rpc->body) + used;
}

/* The request's message, or NULL after an answer that says why there is none. */
static he2b_json *read_request(struct exchange *x, const struct rpc *rpc)
{
    const char *text = he2b_buf_str(&rpc->body);
    he2b_json *request = NULL;
    size_t len = rpc->body.len;
    const char *why;

    if (rpc->too_large) {
        fail(x, rpc->method, "resource_exhausted", "message is larger than %d bytes",
             DAEMON_MESSAGE_MAX);
        return NULL;
    }
    if (rpc->method->kind == RPC_SERVER_STREAM) {
        text = only_envelope(rpc, &len, &why);
        if (!text) {
            rpc_stream_fail(x, "invalid_argument", "%s", why);
            return NULL;
        }
        /* all defaults (wire C.2) */
        if (len == 0 && !rpc_is_binary(x)) {
            text = "{}";
            len = 2;
        }
    }
    if (rpc_is_binary(x))
        request = codec_read(rpc->method->asked, text, len);
    else
        (void)he2b_json_parse(&request, text, len);
    if (he2b_json_is_object(request))
        return request;
    he2b_json_del(request);
    fail(x, rpc->method, "invalid_argument", "unmarshal message: not a %s",
         rpc_is_binary(x) ? "message in protobuf" : "JSON object");
    return NULL;
}

static void rpc_gone(struct exchange *x)
{
    struct rpc *rpc = exchange_state(x);

    he2b_buf_free(&rpc->body);
    free(rpc);
}

static void rpc_end(struct exchange *x)
{
    struct rpc *rpc = exchange_state(x);
    const struct rpc_method *method = rpc->method;
    he2b_json *request = read_request(x, rpc);

    exchange_handle(x, NULL, NULL);
    he2b_buf_free(&rpc->body);
    free(rpc);
    if (!request)
        return;
    if (rpc_timeout_ms(x) == 0 && method->kind == RPC_UNARY)
        rpc_error(x, "deadline_exceeded", "context deadline exceeded");
    else
        method->handler(x, request);
    he2b_json_del(request);
}

static const struct exchange_ops rpc_ops = {.body = rpc_body, .end = rpc_end, .gone = rpc_gone};

static bool type_is_good(const struct exchange *x, const struct rpc_method *method)
{
    bool unary = method->kind == RPC_UNARY;

    return exchange_header_is(x, "content-type", unary ? type_unary : type_stream) ||
           (method->asked &&
            exchange_header_is(x, "content-type", unary ? type_unary_binary : type_stream_binary));
}

/* The types that a method takes. */
static const char *types(const struct rpc_method *method)
{
    if (method->kind == RPC_UNARY)
        return method->asked ? "application/json, application/proto" : type_unary;
    return method->asked ? "application/connect+json, application/connect+proto" : type_stream;
}

/* What can be told from the head alone; false after an answer. */
static bool head_is_good(struct exchange *x, const struct rpc_method *method)
{
    bool unary = method->kind == RPC_UNARY;
    const char *encoding =
        exchange_header(x, unary ? "content-encoding" : "connect-content-encoding");
    const char *version = exchange_header(x, "connect-protocol-version");

    if (strcmp(exchange_method(x), "POST") != 0) {
        exchange_text(x, 405, "", "Allow", "POST");
    } else if (!type_is_good(x, method)) {
        exchange_text(x, 415, "", "Accept-Post", types(method));
    } else if (encoding && strcasecmp(encoding, "identity") != 0) {
        fail(x, method, "unimplemented",
             "unknown compression \"%.64s\": supported encodings are identity", encoding);
    } else if (version && strcmp(version, "1") != 0) {
        fail(x, method, "invalid_argument", "connect-protocol-version must be \"1\": got \"%.64s\"",
             version);
    } else if (rpc_timeout_ms(x) == RPC_BAD_TIMEOUT) {
        fail(x, method, "invalid_argument", "protocol error: invalid timeout \"%.64s\"",
             exchange_header(x, "connect-timeout-ms"));
    } else if (!method->handler && !method->begin) {
        fail(x, method, "unimplemented", "e2b-local does not serve %s", method->path + 1);
    } else {
        return true;
    }
    return false;
}

void rpc_begin(struct exchange *x, const struct rpc_method *method)
{
    struct rpc *rpc;

    exchange_set_rpc(x, method);
    if (!head_is_good(x, method))
        return;
    if (method->begin) {
        method->begin(x);
        return;
    }
    rpc = calloc(1, sizeof(*rpc));
    if (!rpc) {
        fail(x, method, "internal", "out of memory");
        return;
    }
    rpc->method = method;
    he2b_buf_init(&rpc->body, DAEMON_MESSAGE_MAX);
    exchange_handle(x, &rpc_ops, rpc);
}
