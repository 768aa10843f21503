#include "local/daemon_input.h"

#include "core/base64.h"
#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_exchange.h"
#include "local/daemon_input_asker.h"
#include "local/daemon_process.h"
#include "local/daemon_rpc.h"

#include <errno.h>
#include <event2/buffer.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- writing ---- */

static void tell_askers(struct input *input, bool good)
{
    struct input_asker *asker;

    while ((asker = TAILQ_FIRST(&input->askers)) && (!good || asker->end <= input->written)) {
        TAILQ_REMOVE(&input->askers, asker, link);
        asker->input = NULL;
        asker->written(asker, good);
    }
}

static void close_now(struct input *input)
{
    if (input->writable)
        event_free(input->writable);
    input->writable = NULL;
    if (input->fd >= 0)
        close(input->fd);
    input->fd = -1;
    if (input->queue)
        evbuffer_drain(input->queue, evbuffer_get_length(input->queue));
}

void input_shut(struct input *input)
{
    close_now(input);
    tell_askers(input, false);
}

static void write_queue(struct input *input)
{
    while (evbuffer_get_length(input->queue) > 0) {
        int n = evbuffer_write(input->queue, input->fd);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN && event_add(input->writable, NULL) == 0)
            break;
        if (n <= 0) {
            input_shut(input);
            return;
        }
        input->written += (uint64_t)n;
    }
    if (input->closing && evbuffer_get_length(input->queue) == 0)
        close_now(input);
    tell_askers(input, true);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    write_queue(arg);
}

bool input_init(struct input *input, int pipe, int terminal)
{
    TAILQ_INIT(&input->askers);
    input->terminal = terminal >= 0;
    /* a descriptor of its own: the terminal's other use ends at another time */
    input->fd = input->terminal ? fcntl(terminal, F_DUPFD_CLOEXEC, 3) : pipe;
    input->queue = evbuffer_new();
    if (!input->queue || (input->terminal && input->fd < 0))
        return false;
    if (input->fd < 0)
        return true;
    input->writable = event_new(daemon_globals.base, input->fd, EV_WRITE, on_writable, input);
    return input->writable != NULL;
}

void input_done(struct input *input)
{
    input_shut(input);
    if (input->queue)
        evbuffer_free(input->queue);
    input->queue = NULL;
}

/* ---- what requests ask for ---- */

static void free_bytes(const void *data, size_t len, void *arg)
{
    (void)data;
    (void)len;
    free(arg);
}

/* Queues the bytes of text, base64. NULL, or the Connect code of what is wrong. */
static const char *add_base64(struct input *input, const char *text, size_t len, const char **why)
{
    char *data = malloc(len + 3);
    size_t size = 0;

    *why = "out of memory";
    if (!data)
        return "internal";
    if (he2b_base64_decode(data, &size, text, len) != HE2B_OK) {
        free(data);
        *why = "the input is not base64";
        return "invalid_argument";
    }
    if (evbuffer_get_length(input->queue) + size > DAEMON_MESSAGE_MAX) {
        free(data);
        *why = "too much input waits to be read by the process";
        return "resource_exhausted";
    }
    if (size == 0) {
        free(data);
        return NULL;
    }
    if (evbuffer_add_reference(input->queue, data, size, free_bytes, data) != 0) {
        free(data);
        return "internal";
    }
    input->queued += size;
    return NULL;
}

const char *input_add(struct input *input, const he2b_json *message, const char **ret_why)
{
    const he2b_json *bytes = he2b_json_get(message, "stdin");
    bool terminal = !bytes && he2b_json_get(message, "pty");
    const char *text;
    size_t len = 0;

    if (terminal)
        bytes = he2b_json_get(message, "pty");
    text = he2b_json_string(bytes, &len);
    if (!text) {
        *ret_why = "invalid input type";
        return "unimplemented";
    }
    if (terminal && (!input->terminal || input->fd < 0)) {
        *ret_why = "error writing to tty: tty not assigned to process";
        return "internal";
    }
    if (!terminal && (input->terminal || input->fd < 0 || input->closing)) {
        *ret_why = "error writing to stdin: stdin not enabled or closed";
        return "internal";
    }
    return add_base64(input, text, len, ret_why);
}

void input_ask(struct input *input, struct input_asker *asker)
{
    asker->input = input;
    asker->end = input->queued;
    TAILQ_INSERT_TAIL(&input->askers, asker, link);
    write_queue(input);
}

void input_ask_no_more(struct input_asker *asker)
{
    if (asker->input)
        TAILQ_REMOVE(&asker->input->askers, asker, link);
    asker->input = NULL;
}

void input_close(struct exchange *x, const he2b_json *request)
{
    struct process *process;
    const char *code;
    char why[256];

    process = process_select(he2b_json_get(request, "process"), false, &code, why, sizeof(why));
    if (!process) {
        rpc_error(x, code, "%s", why);
        return;
    }
    if (process->input.terminal) {
        rpc_error(x, "internal", "error closing stdin: a terminal ends with byte 4, sent as pty");
        return;
    }
    /* none, or closed already: that is what was wanted */
    process->input.closing = true;
    if (process->input.fd >= 0)
        write_queue(&process->input);
    rpc_answer(x, he2b_json_new_object());
}
