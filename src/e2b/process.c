#include "e2b/process.h"

#include "core/buf.h"
#include "e2b/codec.h"
#include "e2b/servers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNARY_MS = 60000,
    HTTP_UNSUPPORTED_TYPE = 415,
    /* What a message becomes beside its bytes, while it is read. */
    SCRATCH_MAX = HE2B_RPC_MESSAGE_MAX + 64 * 1024,
};

/* ---- what every request needs ---- */

/* Valid while what it was filled from is. */
struct request {
    struct he2b_endpoint_texts texts;
    struct he2b_http_header headers[HE2B_ENDPOINT_HEADERS + 1];
    char url[HE2B_URL_MAX];
    char keepalive[16];
    struct he2b_rpc_call call;
};

static int fill(struct request *request, const struct he2b_process_target *target,
                const char *method, const char *user, const struct he2b_codec *codec,
                const struct he2b_buf *message)
{
    char path[64];
    int error;

    memset(request, 0, sizeof(*request));
    snprintf(path, sizeof(path), "/process.Process/%s", method);
    error = he2b_endpoint_url(request->url, sizeof(request->url), target->endpoint,
                              target->settings, path);
    if (error)
        return error;
    he2b_endpoint_headers(request->headers, &request->texts, target->endpoint, user);
    request->call.url = request->url;
    request->call.headers = request->headers;
    request->call.ca_file = target->settings->ca_file;
    request->call.plain_http_ok = he2b_endpoint_plain_ok(target->settings);
    request->call.codec = codec->name;
    request->call.message = he2b_buf_str(message);
    request->call.message_len = message->len;
    return HE2B_OK;
}

static void add_header(struct request *request, const char *name, const char *value)
{
    size_t n = 0;

    while (request->headers[n].name)
        n++;
    request->headers[n] = (struct he2b_http_header){name, value};
    request->headers[n + 1] = (struct he2b_http_header){NULL, NULL};
}

/* ---- Start ---- */

struct he2b_process {
    he2b_rpc *rpc;
    const struct he2b_codec *codec;
    struct he2b_process_events events;
    void *user;
    struct he2b_buf scratch; /* what a message becomes */
    he2b_task
        *fault; /* a message could not be read: the stream ends, since output may be missing */
    bool faulty;

    /* what it takes to send the Start again, in another codec */
    he2b_loop *loop;
    const struct he2b_settings *settings;
    struct he2b_endpoint endpoint;
    struct he2b_process_spec *spec; /* NULL once it is known that it was read, or in JSON already */
};

static struct he2b_process_target target_of(const struct he2b_process *process)
{
    return (struct he2b_process_target){
        .loop = process->loop,
        .settings = process->settings,
        .endpoint = &process->endpoint,
    };
}

static void note_fault(struct he2b_process *process)
{
    process->faulty = true;
    he2b_task_schedule(process->fault);
}

/* The server reads what was sent. */
static void note_read(struct he2b_process *process)
{
    struct he2b_process_target target = target_of(process);

    if (!process->spec)
        return;
    free(process->spec);
    process->spec = NULL;
    he2b_servers_note(&target, true);
}

static bool on_message(void *user, const char *message, size_t len)
{
    struct he2b_process *process = user;
    struct he2b_event event;

    if (process->faulty)
        return true;
    if (process->codec->event(&event, &process->scratch, message, len) != HE2B_OK) {
        note_fault(process);
        return true;
    }
    note_read(process);
    switch (event.kind) {
    case HE2B_EVENT_DATA:
        if (event.len == 0)
            return true;
        if (event.errors && process->events.errors)
            return process->events.errors(process->user, event.data, event.len);
        return process->events.data(process->user, event.data, event.len);
    case HE2B_EVENT_START:
        process->events.start(process->user, event.pid);
        break;
    case HE2B_EVENT_END:
        process->events.end(process->user, event.exit_code);
        break;
    case HE2B_EVENT_OTHER:
        break;
    }
    return true;
}

static void process_free(struct he2b_process *process)
{
    he2b_buf_free(&process->scratch);
    he2b_task_del(process->fault);
    free(process->spec);
    he2b_endpoint_wipe(&process->endpoint);
    free(process);
}

/* What can follow is of no use: as if the connection were lost, with the reason. */
static void read_fault(struct he2b_rpc_result *result)
{
    static const char why[] = "a message of the stream cannot be read; is that an E2B server?";

    memset(result, 0, sizeof(*result));
    result->code = HE2B_RPC_INTERNAL;
    result->http.end = HE2B_HTTP_LOST;
    memcpy(result->message, why, sizeof(why));
}

static void finish(struct he2b_process *process, const struct he2b_rpc_result *result)
{
    void (*done)(void *user, const struct he2b_rpc_result *result) = process->events.done;
    void *owner = process->user;
    struct he2b_rpc_result fault;

    if (process->faulty) {
        read_fault(&fault);
        result = &fault;
    }
    process_free(process);
    done(owner, result);
}

static void on_fault(void *arg)
{
    struct he2b_process *process = arg;

    he2b_rpc_cancel(process->rpc);
    finish(process, NULL);
}

static void on_done(void *user, const struct he2b_rpc_result *result);

/* Opens the stream that answers message, which is freed. */
static int open_stream(struct he2b_process *process, const char *method,
                       const struct he2b_process_spec *spec, struct he2b_buf *message)
{
    static const struct he2b_rpc_events rpc_events = {.message = on_message, .done = on_done};
    struct he2b_process_target target = target_of(process);
    struct request request;
    int error = fill(&request, &target, method, spec->user, process->codec, message);

    if (!error) {
        snprintf(request.keepalive, sizeof(request.keepalive), "%d",
                 spec->keepalive_s > 0 ? spec->keepalive_s : HE2B_KEEPALIVE_S);
        add_header(&request, "Keepalive-Ping-Interval", request.keepalive);
        request.call.silence_ms = spec->silence_ms ? spec->silence_ms : HE2B_SILENCE_MS;
        error = he2b_rpc_stream(&process->rpc, process->loop, &request.call, &rpc_events, process);
    }
    he2b_buf_free(message);
    return error;
}

static int send_start(struct he2b_process *process, const struct he2b_process_spec *spec)
{
    struct he2b_buf message;
    int error;

    he2b_buf_init(&message, SIZE_MAX / 2);
    error = process->codec->start(&message, spec);
    if (!error)
        return open_stream(process, "Start", spec, &message);
    he2b_buf_free(&message);
    return error;
}

/*
 * A server that does not know the codec says so by the content type alone, before it reads a
 * message that it could not read anyway: nothing has been started, so the same Start in JSON is its
 * first one (B-47). Only such an answer allows that: whole, with this status, to a stream that has
 * told nothing. From a proxy it would mean the same, since it names what the proxy did not pass on.
 */
static bool send_again_in_json(struct he2b_process *process, const struct he2b_rpc_result *result)
{
    struct he2b_process_target target = target_of(process);
    struct he2b_process_spec *spec = process->spec;
    int error;

    if (!spec || process->faulty || result->http.end != HE2B_HTTP_COMPLETE ||
        result->http.status != HTTP_UNSUPPORTED_TYPE)
        return false;
    he2b_servers_note(&target, false);
    process->spec = NULL;
    process->codec = &he2b_codec_json;
    error = send_start(process, spec);
    free(spec);
    return error == HE2B_OK;
}

static void on_done(void *user, const struct he2b_rpc_result *result)
{
    struct he2b_process *process = user;

    process->rpc = NULL;
    if (!send_again_in_json(process, result))
        finish(process, result);
}

static int process_new(struct he2b_process **ret, const struct he2b_process_target *target,
                       const struct he2b_process_events *events, void *user)
{
    struct he2b_process *process = calloc(1, sizeof(*process));
    int error;

    if (!process)
        return HE2B_ERR_NOMEM;
    process->events = *events;
    process->user = user;
    process->loop = target->loop;
    process->settings = target->settings;
    process->endpoint = *target->endpoint;
    he2b_buf_init(&process->scratch, SCRATCH_MAX);
    error = he2b_task_new(&process->fault, target->loop, on_fault, process);
    if (error) {
        process_free(process);
        return error;
    }
    *ret = process;
    return HE2B_OK;
}

int he2b_process_start(he2b_process **ret, const struct he2b_process_target *target,
                       const struct he2b_process_spec *spec,
                       const struct he2b_process_events *events, void *user)
{
    struct he2b_process *process = NULL;
    int error = process_new(&process, target, events, user);

    if (error)
        return error;
    process->codec = he2b_servers_start_codec(target);
    if (process->codec != &he2b_codec_json) {
        process->spec = he2b_process_spec_copy(spec);
        error = process->spec ? HE2B_OK : HE2B_ERR_NOMEM;
    }
    if (!error)
        error = send_start(process, spec);
    if (error) {
        process_free(process);
        return error;
    }
    *ret = process;
    return HE2B_OK;
}

int he2b_process_connect(he2b_process **ret, const struct he2b_process_target *target, int64_t pid,
                         const struct he2b_process_spec *spec,
                         const struct he2b_process_events *events, void *user)
{
    struct he2b_process *process = NULL;
    struct he2b_buf message;
    int error = process_new(&process, target, events, user);

    if (error)
        return error;
    process->codec = he2b_servers_call_codec(target);
    he2b_buf_init(&message, SIZE_MAX / 2);
    error = process->codec->select(&message, pid);
    if (!error)
        error = open_stream(process, "Connect", spec, &message);
    else
        he2b_buf_free(&message);
    if (error) {
        process_free(process);
        return error;
    }
    *ret = process;
    return HE2B_OK;
}

void he2b_process_resume(he2b_process *process)
{
    he2b_rpc_resume(process->rpc);
}

void he2b_process_cancel(he2b_process *process)
{
    if (!process)
        return;
    he2b_rpc_cancel(process->rpc);
    process_free(process);
}

/* ---- unary ---- */

/* message is freed. */
static int ask(he2b_rpc **ret, const struct he2b_process_target *target, const char *method,
               const struct he2b_codec *codec, struct he2b_buf *message, he2b_rpc_answer_fn done,
               void *user)
{
    struct request request;
    int error = fill(&request, target, method, NULL, codec, message);

    request.call.total_ms = UNARY_MS;
    if (!error)
        error = he2b_rpc_ask(ret, target->loop, &request.call, done, user);
    he2b_buf_free(message);
    return error;
}

static int send_to(he2b_rpc **ret, const struct he2b_process_target *target, int64_t pid,
                   enum he2b_input where, const void *data, size_t len, he2b_rpc_answer_fn done,
                   void *user)
{
    const struct he2b_codec *codec = he2b_servers_call_codec(target);
    struct he2b_buf message;
    int error;

    he2b_buf_init(&message, SIZE_MAX / 2);
    error = codec->send_input(&message, pid, where, data, len);
    if (error) {
        he2b_buf_free(&message);
        return error;
    }
    return ask(ret, target, "SendInput", codec, &message, done, user);
}

int he2b_process_send_input(he2b_rpc **ret, const struct he2b_process_target *target, int64_t pid,
                            const void *data, size_t len, he2b_rpc_answer_fn done, void *user)
{
    return send_to(ret, target, pid, HE2B_INPUT_STDIN, data, len, done, user);
}

int he2b_process_send_typed(he2b_rpc **ret, const struct he2b_process_target *target, int64_t pid,
                            const void *data, size_t len, he2b_rpc_answer_fn done, void *user)
{
    return send_to(ret, target, pid, HE2B_INPUT_PTY, data, len, done, user);
}

int he2b_process_resize(he2b_rpc **ret, const struct he2b_process_target *target, int64_t pid,
                        unsigned cols, unsigned rows, he2b_rpc_answer_fn done, void *user)
{
    const struct he2b_codec *codec = he2b_servers_call_codec(target);
    struct he2b_buf message;
    int error;

    he2b_buf_init(&message, SIZE_MAX / 2);
    error = codec->resize(&message, pid, cols, rows);
    if (error) {
        he2b_buf_free(&message);
        return error;
    }
    return ask(ret, target, "Update", codec, &message, done, user);
}

int he2b_process_close_stdin(he2b_rpc **ret, const struct he2b_process_target *target, int64_t pid,
                             he2b_rpc_answer_fn done, void *user)
{
    const struct he2b_codec *codec = he2b_servers_call_codec(target);
    struct he2b_buf message;
    int error;

    he2b_buf_init(&message, SIZE_MAX / 2);
    error = codec->select(&message, pid);
    if (error) {
        he2b_buf_free(&message);
        return error;
    }
    return ask(ret, target, "CloseStdin", codec, &message, done, user);
}

/* ---- what a Start's end says ---- */

enum he2b_start_outcome he2b_start_outcome(const struct he2b_rpc_result *result)
{
    switch (result->http.end) {
    case HE2B_HTTP_NOT_SENT:
    case HE2B_HTTP_UNREACHABLE:
    case HE2B_HTTP_UNTRUSTED:
        return HE2B_START_REFUSED;
    case HE2B_HTTP_LOST:
    case HE2B_HTTP_TOO_LARGE:
        return HE2B_START_UNKNOWN;
    case HE2B_HTTP_COMPLETE:
        break;
    }
    if (result->connect) {
        /* The daemon's own word, in a stream without a start event (wire F.2). */
        switch (result->code) {
        case HE2B_RPC_INVALID_ARGUMENT:
        case HE2B_RPC_UNAUTHENTICATED:
        case HE2B_RPC_PERMISSION_DENIED:
        case HE2B_RPC_NOT_FOUND:
        case HE2B_RPC_UNIMPLEMENTED:
            return HE2B_START_REFUSED;
        default:
            return HE2B_START_UNKNOWN;
        }
    }
    if (result->proxy == HE2B_PROXY_NO_SANDBOX)
        return HE2B_START_NO_SANDBOX;
    if (result->proxy == HE2B_PROXY_PORT_CLOSED)
        return HE2B_START_NOT_YET;
    /* A balancer's 5xx may hide a Start that arrived; a 4xx never got as far. */
    return result->http.status >= 400 && result->http.status < 500 ? HE2B_START_REFUSED
                                                                   : HE2B_START_UNKNOWN;
}
