/* The process service's messages in binary protobuf: the same fields without base64 around them. */
#include "e2b/codec.h"
#include "e2b/exit_code.h"
#include "wire/process.pb-c.h"

#include <stdalign.h>
#include <string.h>

/* ---- requests ---- */

/* A buffer as protobuf-c wants one, that remembers if something did not fit. */
struct sink {
    ProtobufCBuffer base; /* first */
    struct he2b_buf *out;
    int error;
};

static void append(ProtobufCBuffer *buffer, size_t len, const uint8_t *data)
{
    struct sink *sink = (struct sink *)buffer;

    if (!sink->error)
        sink->error = he2b_buf_add(sink->out, data, len);
}

static int pack(struct he2b_buf *out, const ProtobufCMessage *message)
{
    struct sink sink = {.base = {.append = append}, .out = out};

    protobuf_c_message_pack_to_buffer(message, &sink.base);
    return sink.error;
}

/* protobuf-c's structs are for reading and writing alike, so they borrow without const. */
static char *borrow(const char *text)
{
    union {
        const char *in;
        char *out;
    } cast = {.in = text};

    return cast.out;
}

static char **borrow_all(const char *const *texts)
{
    union {
        const char *const *in;
        char **out;
    } cast = {.in = texts};

    return cast.out;
}

static ProtobufCBinaryData borrow_bytes(const void *data, size_t len)
{
    union {
        const void *in;
        uint8_t *out;
    } cast = {.in = data};

    return (ProtobufCBinaryData){.len = len, .data = cast.out};
}

static int start(struct he2b_buf *out, const struct he2b_process_spec *spec)
{
    He2bWire__StartRequest request = HE2B_WIRE__START_REQUEST__INIT;
    He2bWire__ProcessConfig config = HE2B_WIRE__PROCESS_CONFIG__INIT;
    He2bWire__EnvsEntry term = HE2B_WIRE__ENVS_ENTRY__INIT;
    He2bWire__EnvsEntry *envs[] = {&term};
    He2bWire__Pty pty = HE2B_WIRE__PTY__INIT;
    He2bWire__Size size = HE2B_WIRE__SIZE__INIT;

    config.cmd = borrow(spec->cmd);
    config.args = borrow_all(spec->args);
    while (spec->args[config.n_args])
        config.n_args++;
    config.cwd = borrow(spec->cwd);
    if (spec->term) {
        term.key = borrow("TERM");
        term.value = borrow(spec->term);
        config.envs = envs;
        config.n_envs = 1;
    }
    request.process = &config;
    if (spec->cols) {
        size.has_cols = true;
        size.cols = spec->cols;
        size.has_rows = true;
        size.rows = spec->rows;
        pty.size = &size;
        request.pty = &pty;
    }
    request.has_stdin = true;
    request.stdin = spec->stdin_open;
    return pack(out, &request.base);
}

static He2bWire__ProcessSelector selector(int64_t pid)
{
    He2bWire__ProcessSelector process = HE2B_WIRE__PROCESS_SELECTOR__INIT;

    process.selector_case = HE2B_WIRE__PROCESS_SELECTOR__SELECTOR_PID;
    process.pid = (uint32_t)pid;
    return process;
}

static int send_input(struct he2b_buf *out, int64_t pid, enum he2b_input where, const void *data,
                      size_t len)
{
    He2bWire__SendInputRequest request = HE2B_WIRE__SEND_INPUT_REQUEST__INIT;
    He2bWire__ProcessSelector process = selector(pid);
    He2bWire__ProcessInput input;

    /* the macro for it has too few braces for -Wmissing-braces */
    he2b_wire__process_input__init(&input);
    if (where == HE2B_INPUT_PTY) {
        input.input_case = HE2B_WIRE__PROCESS_INPUT__INPUT_PTY;
        input.pty = borrow_bytes(data, len);
    } else {
        input.input_case = HE2B_WIRE__PROCESS_INPUT__INPUT_STDIN;
        input.stdin = borrow_bytes(data, len);
    }
    request.process = &process;
    request.input = &input;
    return pack(out, &request.base);
}

static int resize(struct he2b_buf *out, int64_t pid, unsigned cols, unsigned rows)
{
    He2bWire__UpdateRequest request = HE2B_WIRE__UPDATE_REQUEST__INIT;
    He2bWire__ProcessSelector process = selector(pid);
    He2bWire__Pty pty = HE2B_WIRE__PTY__INIT;
    He2bWire__Size size = HE2B_WIRE__SIZE__INIT;

    size.has_cols = true;
    size.cols = cols;
    size.has_rows = true;
    size.rows = rows;
    pty.size = &size;
    request.process = &process;
    request.pty = &pty;
    return pack(out, &request.base);
}

static int select_process(struct he2b_buf *out, int64_t pid)
{
    He2bWire__SelectRequest request = HE2B_WIRE__SELECT_REQUEST__INIT;
    He2bWire__ProcessSelector process = selector(pid);

    request.process = &process;
    return pack(out, &request.base);
}

/* ---- events ---- */

enum {
    /* What a message becomes beside its bytes: some structs, and protobuf-c's notes on more than 16
     * fields. */
    ARENA_EXTRA = 4096,
};

/*
 * protobuf-c copies the bytes of a message. They go where the buffer already has room, instead of
 * to the heap and back for each message of a bulk output; and a peer that sends more fields than
 * one would believe runs out of this room instead of the process' memory.
 */
struct arena {
    ProtobufCAllocator base;
    char *at;
    size_t left;
};

static void *arena_take(void *arg, size_t size)
{
    struct arena *arena = arg;
    const size_t unit = alignof(max_align_t);
    size_t rounded = size + (unit - 1);
    char *at = arena->at;

    rounded -= rounded % unit;
    if (rounded < size || rounded > arena->left)
        return NULL;
    arena->at += rounded;
    arena->left -= rounded;
    return at;
}

static void arena_give(void *arg, void *data)
{
    (void)arg;
    (void)data;
}

static void read_data(struct he2b_event *ret, const He2bWire__DataEvent *data)
{
    const ProtobufCBinaryData *bytes;

    switch (data->output_case) {
    case HE2B_WIRE__DATA_EVENT__OUTPUT_STDOUT:
        bytes = &data->stdout;
        break;
    case HE2B_WIRE__DATA_EVENT__OUTPUT_STDERR:
        bytes = &data->stderr;
        break;
    case HE2B_WIRE__DATA_EVENT__OUTPUT_PTY:
        bytes = &data->pty;
        break;
    default:
        return;
    }
    ret->kind = HE2B_EVENT_DATA;
    ret->errors = data->output_case == HE2B_WIRE__DATA_EVENT__OUTPUT_STDERR;
    ret->data = bytes->len ? (const char *)bytes->data : "";
    ret->len = bytes->len;
}

static void read_parts(struct he2b_event *ret, const He2bWire__ProcessEvent *event)
{
    switch (event->event_case) {
    case HE2B_WIRE__PROCESS_EVENT__EVENT_START:
        if (!event->start->has_pid)
            break;
        ret->kind = HE2B_EVENT_START;
        ret->pid = event->start->pid;
        break;
    case HE2B_WIRE__PROCESS_EVENT__EVENT_DATA:
        read_data(ret, event->data);
        break;
    case HE2B_WIRE__PROCESS_EVENT__EVENT_END:
        ret->kind = HE2B_EVENT_END;
        ret->exit_code = he2b_exit_code(event->end->has_exit_code, event->end->exit_code,
                                        event->end->status, event->end->error);
        break;
    default:
        break;
    }
}

static int read_event(struct he2b_event *ret, struct he2b_buf *scratch, const char *message,
                      size_t len)
{
    struct arena arena = {.base = {.alloc = arena_take, .free = arena_give}};
    const He2bWire__StartResponse *response;
    int error;

    memset(ret, 0, sizeof(*ret));
    error = he2b_buf_reserve(scratch, len + ARENA_EXTRA);
    if (error)
        return error;
    arena.base.allocator_data = &arena;
    arena.at = scratch->data;
    arena.left = scratch->cap;
    response = he2b_wire__start_response__unpack(&arena.base, len, (const uint8_t *)message);
    if (!response)
        return HE2B_ERR_PROTOCOL;
    if (response->event)
        read_parts(ret, response->event);
    return HE2B_OK;
}

const struct he2b_codec he2b_codec_proto = {
    .name = "proto",
    .start = start,
    .send_input = send_input,
    .resize = resize,
    .select = select_process,
    .event = read_event,
};
