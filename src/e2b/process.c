#include "e2b/process.h"

#include "core/base64.h"
#include "core/buf.h"
#include "core/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    UNARY_MS = 60000,
};

struct he2b_process {
    he2b_rpc *rpc;
    struct he2b_process_events events;
    void *user;
    struct he2b_buf decoded;
    he2b_task
        *fault; /* a message could not be read: the stream ends, since output may be missing */
    bool faulty;
};

/* ---- what every request needs ---- */

struct request {
    struct he2b_endpoint_texts texts;
    struct he2b_http_header headers[HE2B_ENDPOINT_HEADERS + 1];
    char url[HE2B_URL_MAX];
    char keepalive[16];
    struct he2b_rpc_call call;
};

static int fill(struct request *request, const struct he2b_process_target *target,
                const char *method, const char *user, he2b_json *message)
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
    request->call.json = he2b_json_text(message, &request->call.json_len);
    return request->call.json ? HE2B_OK : HE2B_ERR_NOMEM;
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

static int config(he2b_json **ret, const struct he2b_process_spec *spec)
{
    he2b_json *object = he2b_json_new_object();
    he2b_json *args = he2b_json_new_array();
    size_t i;
    int error = object && args ? HE2B_OK : HE2B_ERR_NOMEM;

    for (i = 0; !error && spec->args[i]; i++)
        error = he2b_json_append(args, he2b_json_new_string(spec->args[i], strlen(spec->args[i])));
    if (!error)
        error = he2b_json_add_string(object, "cmd", spec->cmd);
    if (error) {
        he2b_json_del(args);
        he2b_json_del(object);
        return error;
    }
    error = he2b_json_add(object, "args", args);
    if (!error && spec->cwd)
        error = he2b_json_add_string(object, "cwd", spec->cwd);
    if (error) {
        he2b_json_del(object);
        return error;
    }
    *ret = object;
    return HE2B_OK;
}

static int start_message(he2b_json **ret, const struct he2b_process_spec *spec)
{
    he2b_json *message = he2b_json_new_object();
    he2b_json *process = NULL;
    int error = message ? config(&process, spec) : HE2B_ERR_NOMEM;

    if (!error)
        error = he2b_json_add(message, "process", process);
    if (!error)
        error = he2b_json_add_bool(message, "stdin", spec->stdin_open);
    if (error) {
        he2b_json_del(message);
        return error;
    }
    *ret = message;
    return HE2B_OK;
}

/* The number of a signal by the name that Go's runtime prints (wire C.9); 0 if it is none. */
static int signal_number(const char *status)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {
        {"hangup", 1},
        {"interrupt", 2},
        {"quit", 3},
        {"illegal", 4},
        {"trace/breakpoint", 5},
        {"aborted", 6},
        {"bus error", 7},
        {"floating point", 8},
        {"killed", 9},
        {"user defined signal 1", 10},
        {"segmentation fault", 11},
        {"user defined signal 2", 12},
        {"broken pipe", 13},
        {"alarm clock", 14},
        {"terminated", 15},
        {"stack fault", 16},
        {"CPU time limit", 24},
        {"file size limit", 25},
    };
    const char *name;
    size_t i;

    if (!status || strncmp(status, "signal: ", 8) != 0)
        return 0;
    name = status + 8;
    if (strncmp(name, "signal ", 7) == 0)
        return atoi(name + 7);
    for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (strncasecmp(name, signals[i].name, strlen(signals[i].name)) == 0)
            return signals[i].number;
    }
    return 0;
}

/* FB-01: an absent code is 0, unless the status names a signal or an error is given. */
static int exit_code(const he2b_json *end)
{
    const char *status = he2b_json_get_string(end, "status");
    const char *error = he2b_json_get_string(end, "error");
    int64_t code = 0;
    int number = signal_number(status);
    bool given = he2b_json_int(he2b_json_get2(end, "exitCode", "exit_code"), &code);

    if (number == 0)
        number = signal_number(error);
    if (number > 0)
        return 128 + number;
    if (given && code >= 0)
        return (int)(code & 255);
    if (given)
        return 255;
    return error && error[0] ? 255 : 0;
}

static void note_fault(struct he2b_process *process)
{
    process->faulty = true;
    he2b_task_schedule(process->fault);
}

static bool on_output(struct he2b_process *process, const he2b_json *data)
{
    const he2b_json *bytes = he2b_json_get2(data, "stdout", "stderr");
    const char *text;
    size_t len = 0;
    size_t got = 0;
    bool taken = true;

    if (!bytes)
        bytes = he2b_json_get(data, "pty");
    text = he2b_json_string(bytes, &len);
    if (!text)
        return true;
    he2b_buf_clear(&process->decoded);
    if (he2b_buf_add(&process->decoded, text, len) != HE2B_OK ||
        he2b_base64_decode(process->decoded.data, &got, process->decoded.data, len) != HE2B_OK)
        note_fault(process);
    else if (got > 0)
        taken = process->events.data(process->user, process->decoded.data, got);
    return taken;
}

static bool on_message(void *user, const char *text, size_t len)
{
    struct he2b_process *process = user;
    he2b_json *json = NULL;
    const he2b_json *event;
    const he2b_json *part;
    int64_t pid = 0;
    bool taken = true;

    if (process->faulty)
        return true;
    if (he2b_json_parse(&json, text, len) != HE2B_OK) {
        note_fault(process);
        return true;
    }
    event = he2b_json_get(json, "event");
    if ((part = he2b_json_get(event, "data")))
        taken = on_output(process, part);
    else if ((part = he2b_json_get(event, "start")) &&
             he2b_json_int(he2b_json_get(part, "pid"), &pid))
        process->events.start(process->user, pid);
    else if ((part = he2b_json_get(event, "end")))
        process->events.end(process->user, exit_code(part));
    he2b_json_del(json);
    return taken;
}

static void process_free(struct he2b_process *process)
{
    he2b_buf_free(&process->decoded);
    he2b_task_del(process->fault);
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

static void on_done(void *user, const struct he2b_rpc_result *result)
{
    finish(user, result);
}

int he2b_process_start(he2b_process **ret, const struct he2b_process_target *target,
                       const struct he2b_process_spec *spec,
                       const struct he2b_process_events *events, void *user)
{
    static const struct he2b_rpc_events rpc_events = {.message = on_message, .done = on_done};
    struct he2b_process *process = calloc(1, sizeof(*process));
    struct request request;
    he2b_json *message = NULL;
    int error;

    if (!process)
        return HE2B_ERR_NOMEM;
    process->events = *events;
    process->user = user;
    he2b_buf_init(&process->decoded, HE2B_RPC_MESSAGE_MAX);
    error = he2b_task_new(&process->fault, target->loop, on_fault, process);
    if (!error)
        error = start_message(&message, spec);
    if (!error)
        error = fill(&request, target, "Start", spec->user, message);
    if (!error) {
        snprintf(request.keepalive, sizeof(request.keepalive), "%d",
                 spec->keepalive_s > 0 ? spec->keepalive_s : HE2B_KEEPALIVE_S);
        add_header(&request, "Keepalive-Ping-Interval", request.keepalive);
        request.call.silence_ms = spec->silence_ms ? spec->silence_ms : HE2B_SILENCE_MS;
        error = he2b_rpc_stream(&process->rpc, target->loop, &request.call, &rpc_events, process);
    }
    he2b_json_del(message);
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

static int selector(he2b_json **ret, int64_t pid)
{
    he2b_json *message = he2b_json_new_object();
    he2b_json *process = he2b_json_new_object();
    int error = message && process ? he2b_json_add_int(process, "pid", pid) : HE2B_ERR_NOMEM;

    if (error) {
        he2b_json_del(process);
        he2b_json_del(message);
        return error;
    }
    error = he2b_json_add(message, "process", process);
    if (error) {
        he2b_json_del(message);
        return error;
    }
    *ret = message;
    return HE2B_OK;
}

static int ask(he2b_rpc **ret, const struct he2b_process_target *target, const char *method,
               he2b_json *message, he2b_rpc_answer_fn done, void *user)
{
    struct request request;
    int error = fill(&request, target, method, NULL, message);

    if (error)
        return error;
    request.call.total_ms = UNARY_MS;
    return he2b_rpc_ask(ret, target->loop, &request.call, done, user);
}

static int add_input(he2b_json *message, const void *data, size_t len)
{
    size_t size = he2b_base64_encoded_size(len);
    char *text = malloc(size + 1);
    he2b_json *input = he2b_json_new_object();
    int error = HE2B_ERR_NOMEM;

    if (text && input) {
        he2b_base64_encode(text, data, len);
        error = he2b_json_add_string_len(input, "stdin", text, size);
    }
    free(text);
    if (error) {
        he2b_json_del(input);
        return error;
    }
    return he2b_json_add(message, "input", input);
}

int he2b_process_send_input(he2b_rpc **ret, const struct he2b_process_target *target, int64_t pid,
                            const void *data, size_t len, he2b_rpc_answer_fn done, void *user)
{
    he2b_json *message = NULL;
    int error = selector(&message, pid);

    if (!error)
        error = add_input(message, data, len);
    if (!error)
        error = ask(ret, target, "SendInput", message, done, user);
    he2b_json_del(message);
    return error;
}

int he2b_process_close_stdin(he2b_rpc **ret, const struct he2b_process_target *target, int64_t pid,
                             he2b_rpc_answer_fn done, void *user)
{
    he2b_json *message = NULL;
    int error = selector(&message, pid);

    if (!error)
        error = ask(ret, target, "CloseStdin", message, done, user);
    he2b_json_del(message);
    return error;
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
