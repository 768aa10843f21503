/* SendInput: one message, answered when it is written or its deadline has passed (wire C.4). */
#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_exchange.h"
#include "local/daemon_input.h"
#include "local/daemon_input_asker.h"
#include "local/daemon_process.h"
#include "local/daemon_rpc.h"

#include <stdlib.h>

struct send {
    struct input_asker asker; /* first */
    struct exchange *x;
    struct event *deadline; /* NULL: none */
};

static void send_free(struct send *send)
{
    input_ask_no_more(&send->asker);
    if (send->deadline)
        event_free(send->deadline);
    exchange_handle(send->x, NULL, NULL);
    free(send);
}

static void on_written(struct input_asker *asker, bool good)
{
    struct send *send = (struct send *)asker;
    struct exchange *x = send->x;

    send_free(send);
    if (good)
        rpc_answer(x, he2b_json_new_object());
    else
        rpc_error(x, "internal", "error writing to stdin: broken pipe");
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct send *send = arg;
    struct exchange *x = send->x;

    (void)fd;
    (void)what;
    send_free(send);
    rpc_error(x, "deadline_exceeded", "context deadline exceeded");
}

static void on_gone(struct exchange *x)
{
    send_free(exchange_state(x));
}

static const struct exchange_ops send_ops = {.gone = on_gone};

void input_send(struct exchange *x, const he2b_json *request)
{
    int64_t timeout = rpc_timeout_ms(x);
    struct timeval time = {.tv_sec = timeout / 1000, .tv_usec = timeout % 1000 * 1000};
    struct process *process;
    struct send *send;
    const char *wrong;
    const char *code;
    char why[256];

    process = process_select(he2b_json_get(request, "process"), false, &code, why, sizeof(why));
    if (!process) {
        rpc_error(x, code, "%s", why);
        return;
    }
    send = calloc(1, sizeof(*send));
    if (!send) {
        rpc_error(x, "internal", "out of memory");
        return;
    }
    send->x = x;
    send->asker.written = on_written;
    if (timeout != RPC_NO_TIMEOUT)
        send->deadline = event_new(daemon_globals.base, -1, 0, on_deadline, send);
    code = input_add(&process->input, he2b_json_get(request, "input"), &wrong);
    if (code) {
        send_free(send);
        rpc_error(x, code, "%s", wrong);
        return;
    }
    exchange_handle(x, &send_ops, send);
    if (send->deadline)
        event_add(send->deadline, &time);
    input_ask(&process->input, &send->asker);
}
