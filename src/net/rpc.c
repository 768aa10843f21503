#include "net/rpc.h"

#include "core/buf.h"
#include "core/json.h"
#include "core/text.h"
#include "machines/envelope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENVELOPE_PREFIX = 5,
    HEADERS_MAX = 16,
    TYPE_MAX = 32,
};

struct he2b_rpc {
    he2b_http *http;
    char type[TYPE_MAX]; /* content type of both sides */
    struct he2b_buf request;
    struct he2b_rpc_result result;
    he2b_rpc_answer_fn answer; /* unary */
    struct he2b_rpc_events events;
    void *user;

    /* stream */
    struct he2b_envelope envelope;
    struct he2b_buf message; /* the payload as far as it has come; or an error's whole body */
    bool whole;              /* message is complete and waits to be taken */
    struct he2b_buf rest;    /* what came behind a message that was not taken */
    bool plain;              /* the answer is no stream: its body is collected in message */
    bool broken;             /* no envelopes: the rest is thrown away */
    bool finished;           /* the transfer is over; done waits for the messages to be taken */
    he2b_task *task;         /* hands over what waits, after a resume */
};

/* ---- errors ---- */

static const struct {
    const char *name;
    enum he2b_rpc_code code;
} code_names[] = {
    {"canceled", HE2B_RPC_CANCELED},
    {"unknown", HE2B_RPC_UNKNOWN},
    {"invalid_argument", HE2B_RPC_INVALID_ARGUMENT},
    {"deadline_exceeded", HE2B_RPC_DEADLINE_EXCEEDED},
    {"not_found", HE2B_RPC_NOT_FOUND},
    {"already_exists", HE2B_RPC_ALREADY_EXISTS},
    {"permission_denied", HE2B_RPC_PERMISSION_DENIED},
    {"resource_exhausted", HE2B_RPC_RESOURCE_EXHAUSTED},
    {"failed_precondition", HE2B_RPC_FAILED_PRECONDITION},
    {"aborted", HE2B_RPC_ABORTED},
    {"out_of_range", HE2B_RPC_OUT_OF_RANGE},
    {"unimplemented", HE2B_RPC_UNIMPLEMENTED},
    {"internal", HE2B_RPC_INTERNAL},
    {"unavailable", HE2B_RPC_UNAVAILABLE},
    {"data_loss", HE2B_RPC_DATA_LOSS},
    {"unauthenticated", HE2B_RPC_UNAUTHENTICATED},
};

/* The SDK's table (wire C.3), deliberately not the Connect specification's. */
static enum he2b_rpc_code code_of_status(int64_t status)
{
    switch (status) {
    case 400:
        return HE2B_RPC_INVALID_ARGUMENT;
    case 401:
        return HE2B_RPC_UNAUTHENTICATED;
    case 403:
        return HE2B_RPC_PERMISSION_DENIED;
    case 404:
        return HE2B_RPC_NOT_FOUND;
    case 409:
        return HE2B_RPC_ALREADY_EXISTS;
    case 413:
    case 429:
        return HE2B_RPC_RESOURCE_EXHAUSTED;
    case 499:
        return HE2B_RPC_CANCELED;
    case 500:
        return HE2B_RPC_INTERNAL;
    case 501:
    case 505:
        return HE2B_RPC_UNIMPLEMENTED;
    case 502:
    case 503:
        return HE2B_RPC_UNAVAILABLE;
    case 504:
        return HE2B_RPC_DEADLINE_EXCEEDED;
    default:
        return HE2B_RPC_UNKNOWN;
    }
}

static void set_message(struct he2b_rpc_result *result, const char *text, size_t len)
{
    he2b_text_line(result->message, sizeof(result->message), text, len);
}

/* Reads a Connect error object into result; false if it is none. */
static bool read_error(struct he2b_rpc_result *result, const he2b_json *error)
{
    const char *code = he2b_json_get_string(error, "code");
    const char *message;
    size_t len = 0;
    size_t i;

    if (!code)
        return false;
    result->code = HE2B_RPC_UNKNOWN;
    for (i = 0; i < sizeof(code_names) / sizeof(code_names[0]); i++) {
        if (strcmp(code, code_names[i].name) == 0)
            result->code = code_names[i].code;
    }
    result->connect = true;
    message = he2b_json_string(he2b_json_get(error, "message"), &len);
    if (message && len)
        set_message(result, message, len);
    else
        set_message(result, code, strlen(code));
    return true;
}

/* An answer that is no success: from the daemon, from a proxy, or from something else altogether.
 */
static void read_refusal(struct he2b_rpc_result *result, const char *body, size_t len)
{
    he2b_json *json = NULL;
    const char *message = NULL;
    size_t message_len = 0;
    int64_t code = result->http.status;

    if (strcmp(result->http.content_type, "application/json") == 0 &&
        he2b_json_parse(&json, body, len) == HE2B_OK && he2b_json_is_object(json)) {
        if (read_error(result, json)) {
            he2b_json_del(json);
            return;
        }
        (void)he2b_json_int(he2b_json_get(json, "code"), &code);
        message = he2b_json_string(he2b_json_get(json, "message"), &message_len);
        if (result->http.status == 502 && he2b_json_get_string(json, "sandboxId"))
            result->proxy =
                he2b_json_get(json, "port") ? HE2B_PROXY_PORT_CLOSED : HE2B_PROXY_NO_SANDBOX;
    }
    result->code = code_of_status(code);
    result->connect = false;
    if (message && message_len)
        set_message(result, message, message_len);
    else if (len && strncmp(result->http.content_type, "text/plain", 10) == 0)
        set_message(result, body, len);
    else
        snprintf(result->message, sizeof(result->message), "HTTP %d", result->http.status);
    he2b_json_del(json);
}

static void read_transport(struct he2b_rpc_result *result)
{
    result->code = HE2B_RPC_UNAVAILABLE;
    result->connect = false;
    snprintf(result->message, sizeof(result->message), "%s",
             result->http.why[0] ? result->http.why : "the connection was lost");
}

void he2b_rpc_read_plain(struct he2b_rpc_result *ret, const struct he2b_http_result *http,
                         const char *body, size_t len)
{
    memset(ret, 0, sizeof(*ret));
    ret->http = *http;
    if (http->end != HE2B_HTTP_COMPLETE)
        read_transport(ret);
    else if (http->status < 200 || http->status >= 300)
        read_refusal(ret, body, len);
}

static void protocol_error(struct he2b_rpc *rpc, const char *text)
{
    rpc->result.code = HE2B_RPC_INTERNAL;
    rpc->result.connect = false;
    set_message(&rpc->result, text, strlen(text));
    rpc->broken = true;
    if (rpc->task)
        he2b_task_schedule(rpc->task);
}

/* ---- both kinds ---- */

static void rpc_free(struct he2b_rpc *rpc)
{
    he2b_task_del(rpc->task);
    he2b_buf_free(&rpc->request);
    he2b_buf_free(&rpc->message);
    he2b_buf_free(&rpc->rest);
    free(rpc);
}

void he2b_rpc_cancel(he2b_rpc *rpc)
{
    if (!rpc)
        return;
    he2b_http_cancel(rpc->http);
    rpc_free(rpc);
}

void he2b_rpc_resume(he2b_rpc *rpc)
{
    he2b_task_schedule(rpc->task);
}

static int rpc_new(he2b_rpc **ret, const struct he2b_rpc_call *call, bool stream, void *user)
{
    static const unsigned char no_flags = 0;
    he2b_rpc *rpc = calloc(1, sizeof(*rpc));
    unsigned char prefix[ENVELOPE_PREFIX];
    int error = HE2B_OK;

    if (!rpc)
        return HE2B_ERR_NOMEM;
    rpc->user = user;
    snprintf(rpc->type, sizeof(rpc->type), "application/%s%s", stream ? "connect+" : "",
             call->codec);
    he2b_buf_init(&rpc->request, SIZE_MAX / 2);
    he2b_buf_init(&rpc->message, HE2B_RPC_MESSAGE_MAX);
    he2b_buf_init(&rpc->rest, HE2B_RPC_MESSAGE_MAX);
    he2b_envelope_init(&rpc->envelope);
    if (stream) {
        prefix[0] = no_flags;
        prefix[1] = (unsigned char)(call->message_len >> 24);
        prefix[2] = (unsigned char)(call->message_len >> 16);
        prefix[3] = (unsigned char)(call->message_len >> 8);
        prefix[4] = (unsigned char)call->message_len;
        error = call->message_len > UINT32_MAX
                    ? HE2B_ERR_OVERFLOW
                    : he2b_buf_add(&rpc->request, prefix, sizeof(prefix));
    }
    if (!error)
        error = he2b_buf_add(&rpc->request, call->message, call->message_len);
    if (error) {
        rpc_free(rpc);
        return error;
    }
    *ret = rpc;
    return HE2B_OK;
}

/* The request with our headers before the caller's; headers has room for HEADERS_MAX. */
static int fill_request(struct he2b_http_request *request, struct he2b_http_header *headers,
                        const struct he2b_rpc *rpc, const struct he2b_rpc_call *call, bool stream)
{
    size_t n = 0;
    size_t i;

    headers[n].name = "Content-Type";
    headers[n++].value = rpc->type;
    headers[n].name = "Connect-Protocol-Version";
    headers[n++].value = "1";
    /* libcurl would wait a second for "100 Continue" before a larger body. */
    headers[n].name = "Expect";
    headers[n++].value = "";
    for (i = 0; call->headers && call->headers[i].name; i++) {
        if (n == HEADERS_MAX - 1)
            return HE2B_ERR_ARG;
        headers[n++] = call->headers[i];
    }
    headers[n].name = NULL;
    headers[n].value = NULL;
    memset(request, 0, sizeof(*request));
    request->method = "POST";
    request->url = call->url;
    request->headers = headers;
    request->body = he2b_buf_str(&rpc->request);
    request->body_len = rpc->request.len;
    request->stream = stream;
    request->total_ms = call->total_ms;
    request->silence_ms = call->silence_ms;
    request->ca_file = call->ca_file;
    request->plain_http_ok = call->plain_http_ok;
    return HE2B_OK;
}

/* ---- unary ---- */

static void on_answer(void *user, const struct he2b_http_result *http, const char *body, size_t len)
{
    struct he2b_rpc *rpc = user;
    struct he2b_rpc_result *result = &rpc->result;

    result->http = *http;
    rpc->http = NULL;
    if (http->end != HE2B_HTTP_COMPLETE) {
        read_transport(result);
    } else if (http->status != 200) {
        read_refusal(result, body, len);
    } else if (strcmp(http->content_type, rpc->type) != 0) {
        protocol_error(rpc, "the answer is not what was asked for");
    } else {
        result->code = HE2B_RPC_OK;
        result->connect = true;
        result->ended = true;
    }
    if (result->code == HE2B_RPC_OK)
        rpc->answer(rpc->user, result, body, len);
    else
        rpc->answer(rpc->user, result, NULL, 0);
    rpc_free(rpc);
}

int he2b_rpc_ask(he2b_rpc **ret, he2b_loop *loop, const struct he2b_rpc_call *call,
                 he2b_rpc_answer_fn done, void *user)
{
    struct he2b_http_header headers[HEADERS_MAX];
    struct he2b_http_request request;
    he2b_rpc *rpc = NULL;
    int error;

    error = rpc_new(&rpc, call, false, user);
    if (error)
        return error;
    rpc->answer = done;
    error = fill_request(&request, headers, rpc, call, false);
    if (!error)
        error = he2b_http_ask(&rpc->http, loop, &request, on_answer, rpc);
    if (error) {
        rpc_free(rpc);
        return error;
    }
    *ret = rpc;
    return HE2B_OK;
}

/* ---- server stream ---- */

static void on_head(void *user, const struct he2b_http_result *so_far)
{
    struct he2b_rpc *rpc = user;

    rpc->plain = so_far->status != 200;
    if (!rpc->plain && strcmp(so_far->content_type, rpc->type) != 0)
        protocol_error(rpc, "the answer is not a Connect stream");
}

static void read_end(struct he2b_rpc *rpc)
{
    struct he2b_rpc_result *result = &rpc->result;
    he2b_json *json = NULL;
    const he2b_json *error;

    if (he2b_json_parse(&json, he2b_buf_str(&rpc->message), rpc->message.len) != HE2B_OK ||
        !he2b_json_is_object(json)) {
        protocol_error(rpc, "the end of the stream is not JSON");
        he2b_json_del(json);
        return;
    }
    result->ended = true;
    result->connect = true;
    error = he2b_json_get(json, "error");
    if (error && !read_error(result, error)) {
        result->code = HE2B_RPC_UNKNOWN;
        set_message(result, "an error without a code", 23);
    }
    he2b_json_del(json);
}

/* A payload is complete: false if its taker wants it later. */
static bool hand_over(struct he2b_rpc *rpc)
{
    if (rpc->envelope.flags & HE2B_ENVELOPE_COMPRESSED) {
        /* Nothing was advertised, so nothing may be compressed. */
        protocol_error(rpc, "a compressed message, which was not asked for");
    } else if (rpc->result.ended) {
        protocol_error(rpc, "a message behind the end of the stream");
    } else if (rpc->envelope.flags & HE2B_ENVELOPE_END) {
        read_end(rpc);
    } else if (rpc->message.len &&
               !rpc->events.message(rpc->user, he2b_buf_str(&rpc->message), rpc->message.len)) {
        rpc->whole = true;
        return false;
    }
    rpc->whole = false;
    he2b_buf_clear(&rpc->message);
    return true;
}

/* Reads envelopes from data; returns the bytes used, fewer than len if a message is not taken. */
static size_t scan(struct he2b_rpc *rpc, const char *data, size_t len)
{
    size_t at = 0;

    while (!rpc->broken) {
        size_t used = 0;
        size_t payload = 0;
        enum he2b_envelope_found found;

        found = he2b_envelope_scan(&rpc->envelope, (const unsigned char *)data + at, len - at,
                                   &used, &payload);
        at += used;
        switch (found) {
        case HE2B_ENVELOPE_MORE:
            return at;
        case HE2B_ENVELOPE_BEGIN:
            if (rpc->envelope.length > HE2B_RPC_MESSAGE_MAX)
                protocol_error(rpc, "a message above the bound of 4 MiB");
            else if (rpc->envelope.length == 0 && !hand_over(rpc))
                return at;
            break;
        case HE2B_ENVELOPE_PAYLOAD:
            if (he2b_buf_add(&rpc->message, data + at, payload) != HE2B_OK) {
                protocol_error(rpc, "out of memory");
                break;
            }
            at += payload;
            he2b_envelope_took(&rpc->envelope, payload);
            if (rpc->envelope.missing == 0 && !hand_over(rpc))
                return at;
            break;
        case HE2B_ENVELOPE_DONE:
            break;
        case HE2B_ENVELOPE_BAD:
            protocol_error(rpc, "an envelope with unknown flags");
            break;
        }
    }
    return len;
}

/* Hands over what waits; true if nothing waits any more. */
static bool drain(struct he2b_rpc *rpc)
{
    if (rpc->whole && !hand_over(rpc))
        return false;
    if (rpc->rest.len)
        he2b_buf_drain(&rpc->rest, scan(rpc, he2b_buf_str(&rpc->rest), rpc->rest.len));
    return !rpc->whole;
}

static size_t on_body(void *user, const char *data, size_t len)
{
    struct he2b_rpc *rpc = user;
    size_t used;

    if (rpc->plain) {
        /* an error's body: what is above the bound of the message is dropped */
        (void)he2b_buf_add(&rpc->message, data, len);
        return len;
    }
    /* A message that was refused is offered again after the resume, not before. */
    if (rpc->whole)
        return 0;
    used = scan(rpc, data, len);
    /* libcurl takes all or nothing: what could not be used waits here, at most one piece of it. */
    if (used < len && he2b_buf_add(&rpc->rest, data + used, len - used) != HE2B_OK)
        protocol_error(rpc, "out of memory");
    return len;
}

static void deliver(struct he2b_rpc *rpc)
{
    struct he2b_rpc_result *result = &rpc->result;

    if (rpc->plain && result->http.end == HE2B_HTTP_COMPLETE)
        read_refusal(result, he2b_buf_str(&rpc->message), rpc->message.len);
    else if (!result->ended && !rpc->broken)
        read_transport(result);
    rpc->events.done(rpc->user, result);
    rpc_free(rpc);
}

static void on_task(void *arg)
{
    struct he2b_rpc *rpc = arg;

    if (rpc->broken && !rpc->finished) {
        /* Nothing that follows can be read, however long it goes on. */
        he2b_http_cancel(rpc->http);
        rpc->http = NULL;
        rpc->result.http.end = HE2B_HTTP_COMPLETE;
        rpc->result.http.status = 200;
        rpc->finished = true;
        deliver(rpc);
        return;
    }
    /* What was received before the stop comes first: no further byte may ever arrive. */
    if (!drain(rpc))
        return;
    if (rpc->finished)
        deliver(rpc);
    else
        he2b_http_resume(rpc->http);
}

static void on_done(void *user, const struct he2b_http_result *http)
{
    struct he2b_rpc *rpc = user;

    rpc->http = NULL;
    rpc->result.http = *http;
    rpc->finished = true;
    if (!rpc->whole)
        deliver(rpc);
}

int he2b_rpc_stream(he2b_rpc **ret, he2b_loop *loop, const struct he2b_rpc_call *call,
                    const struct he2b_rpc_events *events, void *user)
{
    static const struct he2b_http_events http_events = {
        .head = on_head,
        .body = on_body,
        .done = on_done,
    };
    struct he2b_http_header headers[HEADERS_MAX];
    struct he2b_http_request request;
    he2b_rpc *rpc = NULL;
    int error;

    error = rpc_new(&rpc, call, true, user);
    if (error)
        return error;
    rpc->events = *events;
    error = he2b_task_new(&rpc->task, loop, on_task, rpc);
    if (!error)
        error = fill_request(&request, headers, rpc, call, true);
    if (!error)
        error = he2b_http_start(&rpc->http, loop, &request, &http_events, rpc);
    if (error) {
        rpc_free(rpc);
        return error;
    }
    *ret = rpc;
    return HE2B_OK;
}
