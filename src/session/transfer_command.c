/* The one command of a transfer in the sandbox: internal, outside the queue of commands. */
#include "session/transfer.h"

#include "core/text.h"

#include <stdio.h>
#include <string.h>

enum {
    /* behaviour.md, constants: transfer command limit */
    LIMIT_MS = 300000,
};

static void on_limit(void *arg)
{
    he2b_transfer_fail(arg, HE2B_ERR_LOST, 0, "look at the network and at the sandbox's load",
                       "the sandbox's command has not ended within 300 s");
}

static void on_start(void *user, int64_t pid)
{
    he2b_transfer *transfer = user;

    transfer->process_pid = pid;
}

/* More than its bound is dropped: what it said first is what counts. */
static bool on_said(void *user, const char *data, size_t len)
{
    he2b_transfer *transfer = user;

    transfer->heard = true;
    (void)he2b_buf_add(&transfer->said, data, len);
    return true;
}

static void on_end(void *user, int exit_code)
{
    he2b_transfer *transfer = user;

    transfer->exit_code = exit_code;
}

static void on_done(void *user, const struct he2b_rpc_result *result)
{
    he2b_transfer *transfer = user;

    transfer->process = NULL;
    he2b_timer_disarm(transfer->limit);
    transfer->process_result = *result;
    transfer->command->over(transfer);
}

int he2b_transfer_start(he2b_transfer *transfer, const struct he2b_transfer_script *script,
                        const char *user, const struct he2b_transfer_command *command)
{
    const struct he2b_process_events events = {
        .start = on_start,
        .data = command->data ? command->data : on_said,
        .errors = on_said,
        .end = on_end,
        .done = on_done,
    };
    he2b_session *session = transfer->session;
    struct he2b_process_target target;
    const struct he2b_process_spec spec = {
        .cmd = script->cmd,
        .args = script->args,
        .user = user,
        .keepalive_s = session->keepalive_s,
        .silence_ms = session->silence_ms,
    };
    int error = HE2B_OK;

    transfer->command = command;
    transfer->exit_code = -1;
    transfer->process_pid = 0;
    transfer->heard = false;
    he2b_buf_clear(&transfer->said);
    if (!transfer->limit)
        error = he2b_timer_new(&transfer->limit, session->loop, on_limit, transfer);
    if (!error)
        error = he2b_timer_arm(transfer->limit, LIMIT_MS);
    he2b_session_target(session, &target);
    if (!error)
        error = he2b_process_start(&transfer->process, &target, &spec, &events, transfer);
    return error;
}

void he2b_transfer_fail_said(he2b_transfer *transfer, int code, const char *what, const char *hint)
{
    const char *said = he2b_buf_str(&transfer->said);
    char cause[HE2B_FAILURE_CAUSE_MAX];

    if (said[0])
        snprintf(cause, sizeof(cause), "%s: %.*s", what, (int)strcspn(said, "\n"), said);
    else
        snprintf(cause, sizeof(cause), "%s", what);
    he2b_transfer_fail(transfer, code, 0, hint, cause);
}
