#include "local/daemon_reader.h"

#include "core/base64.h"
#include "local/daemon.h"
#include "local/daemon_codec.h"
#include "local/daemon_exchange.h"
#include "local/daemon_process.h"
#include "local/daemon_rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    TAILQ_ENTRY(reader) link;
    struct process *process;
    struct exchange *x;
    bool binary;
    struct event *keepalive;
    struct timeval interval;
    struct event *deadline; /* NULL: none */
};

/* Leaves process and exchange to themselves. */
static void reader_free(struct reader *reader)
{
    TAILQ_REMOVE(&reader->process->readers, reader, link);
    if (reader->keepalive)
        event_free(reader->keepalive);
    if (reader->deadline)
        event_free(reader->deadline);
    exchange_handle(reader->x, NULL, NULL);
    free(reader);
}

static void reader_gone(struct exchange *x)
{
    struct reader *reader = exchange_state(x);
    struct process *process = reader->process;

    reader_free(reader);
    process_watch(process);
}

static void reader_drained(struct exchange *x)
{
    struct reader *reader = exchange_state(x);

    process_watch(reader->process);
}

static const struct exchange_ops reader_ops = {.drained = reader_drained, .gone = reader_gone};

static void on_keepalive(evutil_socket_t fd, short what, void *arg)
{
    static const char text[] = "{\"event\":{\"keepalive\":{}}}";
    struct reader *reader = arg;

    (void)fd;
    (void)what;
    /* who takes nothing gets no more */
    if (exchange_unread(reader->x) <= EXCHANGE_UNREAD_MAX)
        rpc_stream_message(reader->x, text, sizeof(text) - 1);
    event_add(reader->keepalive, &reader->interval);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct reader *reader = arg;
    struct process *process = reader->process;
    struct exchange *x = reader->x;

    (void)fd;
    (void)what;
    reader_free(reader);
    rpc_stream_fail(x, "deadline_exceeded", "context deadline exceeded");
    process_watch(process);
}

static void send_start(const struct reader *reader)
{
    char text[64];
    int n = snprintf(text, sizeof(text), "{\"event\":{\"start\":{\"pid\":%d}}}",
                     (int)reader->process->pid);

    rpc_stream_head(reader->x);
    rpc_stream_message(reader->x, text, (size_t)n);
}

static void send_end(struct reader *reader)
{
    const struct process *process = reader->process;
    struct exchange *x = reader->x;

    reader_free(reader);
    if (!process->end) {
        exchange_cut(x);
        return;
    }
    rpc_stream_message(x, process->end, strlen(process->end));
    rpc_stream_done(x);
}

void reader_add(struct process *process, struct exchange *x)
{
    struct reader *reader = calloc(1, sizeof(*reader));
    int64_t timeout = rpc_timeout_ms(x);
    struct timeval deadline = {.tv_sec = timeout / 1000, .tv_usec = timeout % 1000 * 1000};

    if (!reader) {
        exchange_cut(x);
        return;
    }
    reader->process = process;
    reader->x = x;
    reader->binary = rpc_is_binary(x);
    reader->interval.tv_sec = rpc_keepalive_s(x);
    TAILQ_INSERT_TAIL(&process->readers, reader, link);
    exchange_handle(x, &reader_ops, reader);
    reader->keepalive = event_new(daemon_globals.base, -1, 0, on_keepalive, reader);
    if (timeout != RPC_NO_TIMEOUT)
        reader->deadline = event_new(daemon_globals.base, -1, 0, on_deadline, reader);
    if (!reader->keepalive || event_add(reader->keepalive, &reader->interval) != 0 ||
        (timeout != RPC_NO_TIMEOUT &&
         (!reader->deadline || event_add(reader->deadline, &deadline) != 0))) {
        exchange_cut(x);
        return;
    }
    send_start(reader);
    if (process->end)
        send_end(reader);
}

bool reader_behind(const struct process *process)
{
    const struct reader *reader;

    TAILQ_FOREACH(reader, &process->readers, link)
    {
        if (exchange_unread(reader->x) > EXCHANGE_UNREAD_MAX)
            return true;
    }
    return false;
}

/* One event in the codec of one reader, made when the first one wants it. */
struct form {
    char data[READER_OUTPUT_MAX * 4 / 3 + 128];
    size_t len; /* 0: not made */
};

static void make_json(struct form *form, const char *name, const char *data, size_t len)
{
    form->len =
        (size_t)snprintf(form->data, sizeof(form->data), "{\"event\":{\"data\":{\"%s\":\"", name);
    he2b_base64_encode(form->data + form->len, data, len);
    form->len += he2b_base64_encoded_size(len);
    memcpy(form->data + form->len, "\"}}}", 4);
    form->len += 4;
}

void reader_output(struct process *process, const char *name, const char *data, size_t len)
{
    static struct form forms[2];
    struct reader *reader;

    forms[0].len = 0;
    forms[1].len = 0;
    TAILQ_FOREACH(reader, &process->readers, link)
    {
        struct form *form = &forms[reader->binary];

        if (!form->len && reader->binary)
            form->len = codec_output((unsigned char *)form->data, name, data, len);
        else if (!form->len)
            make_json(form, name, data, len);
        rpc_stream_bytes(reader->x, form->data, form->len);
        event_add(reader->keepalive, &reader->interval);
    }
}

void reader_end_all(struct process *process)
{
    while (!TAILQ_EMPTY(&process->readers))
        send_end(TAILQ_FIRST(&process->readers));
}

void reader_cut_all(struct process *process)
{
    while (!TAILQ_EMPTY(&process->readers)) {
        struct reader *reader = TAILQ_FIRST(&process->readers);
        struct exchange *x = reader->x;

        reader_free(reader);
        exchange_cut(x);
    }
}
