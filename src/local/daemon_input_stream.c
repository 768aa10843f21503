/* StreamInput: a start message that names the process, then inputs as they come, one answer. */
#include "core/buf.h"
#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_exchange.h"
#include "local/daemon_input.h"
#include "local/daemon_input_asker.h"
#include "local/daemon_process.h"
#include "local/daemon_rpc.h"
#include "machines/envelope.h"

#include <stdio.h>
#include <stdlib.h>

struct stream {
    struct input_asker asker; /* first */
    struct exchange *x;
    struct he2b_envelope envelope;
    struct he2b_buf message; /* the payload so far */
    pid_t pid;               /* of the process; 0: no start message yet */
    const char *code;        /* what went wrong; NULL: nothing */
    char why[256];
    bool complete; /* all messages are read */
};

static void stream_free(struct stream *stream)
{
    input_ask_no_more(&stream->asker);
    exchange_handle(stream->x, NULL, NULL);
    he2b_buf_free(&stream->message);
    free(stream);
}

static void answer(struct stream *stream)
{
    struct exchange *x = stream->x;

    if (stream->code) {
        rpc_stream_fail(x, stream->code, "%s", stream->why);
    } else {
        rpc_stream_head(x);
        rpc_stream_message(x, "{}", 2);
        rpc_stream_done(x);
    }
    stream_free(stream);
}

static void fail(struct stream *stream, const char *code, const char *why)
{
    stream->code = code;
    snprintf(stream->why, sizeof(stream->why), "%s", why);
}

static void on_written(struct input_asker *asker, bool good)
{
    struct stream *stream = (struct stream *)asker;

    if (!good)
        fail(stream, "internal", "error writing to stdin: broken pipe");
    if (!good || stream->complete)
        answer(stream);
    else
        exchange_read(stream->x, true);
}

/* By pid, since a process can end between two messages. */
static struct process *find(struct stream *stream, const he2b_json *start)
{
    struct process *process;

    if (start) {
        process = process_select(he2b_json_get(start, "process"), false, &stream->code, stream->why,
                                 sizeof(stream->why));
        stream->pid = process ? process->pid : 0;
        return process;
    }
    TAILQ_FOREACH(process, &process_live, link)
    {
        if (process->pid == stream->pid)
            return process;
    }
    fail(stream, "not_found", "the process has ended");
    return NULL;
}

static void take_message(struct stream *stream)
{
    he2b_json *json = NULL;
    const he2b_json *start;
    const he2b_json *data;
    struct process *process;
    const char *wrong;

    if (he2b_json_parse(&json, he2b_buf_str(&stream->message), stream->message.len) != HE2B_OK) {
        fail(stream, "invalid_argument", "unmarshal message: not JSON");
        return;
    }
    start = he2b_json_get(json, "start");
    data = he2b_json_get(json, "data");
    if (start ? stream->pid != 0 : stream->pid == 0) {
        fail(stream, "invalid_argument", "the first message, and no other, must be a start");
    } else if (start || data) {
        process = find(stream, start);
        if (process && data) {
            stream->code = input_add(&process->input, he2b_json_get(data, "input"), &wrong);
            if (stream->code)
                fail(stream, stream->code, wrong);
        }
    }
    he2b_json_del(json);
    he2b_buf_clear(&stream->message);
}

/* What is in the pipe's queue has to leave before more is read, or the answer is given. */
static void wait_for_input(struct stream *stream)
{
    struct process *process = stream->pid ? find(stream, NULL) : NULL;

    if (stream->code || !process) {
        if (!stream->code)
            fail(stream, "invalid_argument", "there was no start message");
        answer(stream);
        return;
    }
    exchange_read(stream->x, false);
    input_ask(&process->input, &stream->asker);
}

static void stream_body(struct exchange *x, const char *data, size_t len)
{
    struct stream *stream = exchange_state(x);
    const unsigned char *bytes = (const unsigned char *)data;
    bool added = false;

    while (!stream->code) {
        size_t payload = 0;
        size_t used = 0;
        enum he2b_envelope_found found =
            he2b_envelope_scan(&stream->envelope, bytes, len, &used, &payload);

        bytes += used;
        len -= used;
        if (found == HE2B_ENVELOPE_MORE)
            break;
        if (found == HE2B_ENVELOPE_BAD ||
            (found == HE2B_ENVELOPE_BEGIN && stream->envelope.flags != 0)) {
            fail(stream, "invalid_argument", "protocol error: invalid envelope flags");
        } else if (found == HE2B_ENVELOPE_PAYLOAD) {
            if (he2b_buf_add(&stream->message, bytes, payload) != HE2B_OK)
                fail(stream, "resource_exhausted", "a message is too large");
            he2b_envelope_took(&stream->envelope, payload);
            bytes += payload;
            len -= payload;
        } else if (found == HE2B_ENVELOPE_DONE) {
            take_message(stream);
            added = true;
        }
    }
    if (stream->code)
        answer(stream);
    else if (added)
        wait_for_input(stream);
}

static void stream_end(struct exchange *x)
{
    struct stream *stream = exchange_state(x);

    stream->complete = true;
    if (stream->message.len > 0)
        fail(stream, "invalid_argument", "protocol error: incomplete envelope");
    wait_for_input(stream);
}

static void stream_gone(struct exchange *x)
{
    stream_free(exchange_state(x));
}

static const struct exchange_ops stream_ops = {
    .body = stream_body,
    .end = stream_end,
    .gone = stream_gone,
};

void input_stream(struct exchange *x)
{
    struct stream *stream = calloc(1, sizeof(*stream));

    if (!stream) {
        exchange_cut(x);
        return;
    }
    stream->x = x;
    stream->asker.written = on_written;
    he2b_envelope_init(&stream->envelope);
    he2b_buf_init(&stream->message, DAEMON_MESSAGE_MAX);
    exchange_handle(x, &stream_ops, stream);
}
