/* What of a command goes over the wire: its stream, its input, its kill, the look after a loss. */
#include "e2b/unreached.h"
#include "session/command.h"

#include <stdio.h>
#include <string.h>

enum {
    /* No sandbox lives that long, and not each sleep can. */
    WATCH_MAX_S = 30 * 86400,
    /* Names of 64 records. */
    SETTLED_SIZE = 64 * (HE2B_MARKER_WORD + 1) + 1,
};

static void secrets_of(const he2b_command *command, struct he2b_secrets *ret)
{
    he2b_session_secrets(command->session, ret);
}

static void set_failure(he2b_command *command, int code, int status, const char *hint,
                        const char *cause)
{
    struct he2b_secrets secrets;

    secrets_of(command, &secrets);
    he2b_failure_set(&command->failure, &secrets, code, status, "run command", hint, "%s", cause);
}

/* ---- the end of a stream ---- */

/*
 * A working directory that is gone makes the daemon refuse each Start (wire C.6, FB-40). It says so
 * in prose only: so a refusal of that kind is tried once more from where there surely is one.
 */
static bool start_elsewhere(he2b_command *command)
{
    const struct he2b_rpc_result *result = &command->stream_result;
    he2b_session *session = command->session;

    if (!result->connect || result->code != HE2B_RPC_INVALID_ARGUMENT || command->elsewhere ||
        (command->machine.state != HE2B_COMMAND_STARTING &&
         command->machine.state != HE2B_COMMAND_REPEATING))
        return false;
    command->elsewhere = strcmp(session->cwd, session->home) == 0 ? "/" : session->home;
    he2b_stream_start(command, command->machine.state == HE2B_COMMAND_REPEATING);
    return true;
}

/* It started there: so that it was the directory, and each later command goes there at once. */
static void move_session(he2b_command *command)
{
    he2b_session *session = command->session;

    if (strcmp(session->cwd, command->elsewhere) == 0)
        return;
    he2b_session_log(session, HE2B_LOG_WARNING,
                     "the working directory %s is gone; commands start in %s", session->cwd,
                     command->elsewhere);
    snprintf(session->cwd, sizeof(session->cwd), "%s", command->elsewhere);
}

/* The stream is over and all its output is out: what does that say about the command? */
static void settle_stream(he2b_command *command)
{
    const struct he2b_rpc_result *result = &command->stream_result;
    char hint[HE2B_FAILURE_HINT_MAX];

    if (he2b_stream_denied(command))
        return; /* told already; the process that ended is not the command */
    if (command->process_ended || command->output.marker.found) {
        he2b_command_post(command, CMD_CLOSED);
        return;
    }
    if (command->pid) {
        he2b_command_post(command, CMD_LOST);
        return;
    }
    switch (he2b_start_outcome(result)) {
    case HE2B_START_REFUSED:
        if (start_elsewhere(command))
            break;
        if (result->connect || result->http.end == HE2B_HTTP_COMPLETE)
            set_failure(command, HE2B_ERR_REFUSED, result->http.status, NULL, result->message);
        else
            set_failure(command,
                        he2b_unreached(&result->http, "E2B_SANDBOX_URL", hint, sizeof(hint)), 0,
                        hint, result->message);
        he2b_command_post(command, CMD_REFUSED);
        break;
    case HE2B_START_NO_SANDBOX:
        /* Once: a server that says it runs and does not find it would be asked for ever (FB-18). */
        set_failure(command, HE2B_ERR_GONE, result->http.status, "try again", result->message);
        he2b_command_post(command, command->vanished_before ? CMD_REFUSED : CMD_VANISHED);
        command->vanished_before = true;
        break;
    case HE2B_START_NOT_YET:
    case HE2B_START_UNKNOWN:
        he2b_command_post(command, CMD_LOST);
        break;
    }
}

/* Posts what had to wait until all output before it was in the pipe. */
static void settle(he2b_command *command)
{
    if (!he2b_output_drained(&command->output))
        return;
    if (!command->end_told && (command->output.marker.found || command->process_ended)) {
        command->end_told = true;
        he2b_command_post(command, he2b_stream_denied(command)    ? CMD_DENIED
                                   : command->output.marker.found ? CMD_MARKER
                                                                  : CMD_ENDED);
    }
    if (command->stream_over)
        settle_stream(command);
}

void he2b_command_drained(void *user)
{
    he2b_command *command = user;

    settle(command);
    if (command->stream)
        he2b_process_resume(command->stream);
}

void he2b_stream_go_on(he2b_command *command)
{
    settle(command);
    if (command->stream)
        he2b_process_resume(command->stream);
}

static void on_start(void *user, int64_t pid)
{
    he2b_command *command = user;

    command->pid = pid;
    if (command->elsewhere)
        move_session(command);
    he2b_command_post(command, CMD_STARTED);
}

static bool on_data(void *user, const char *data, size_t len)
{
    he2b_command *command = user;

    if (command->output.marker.found)
        return true; /* a background child's; it belongs to nobody (B-42) */
    if (!he2b_output_add(&command->output, data, len))
        return false;
    if (command->output.marker.found)
        settle(command);
    return true;
}

static void on_end(void *user, int exit_code)
{
    he2b_command *command = user;

    command->process_ended = true;
    command->end_code = exit_code;
    he2b_output_finish(&command->output);
    settle(command);
}

static void on_done(void *user, const struct he2b_rpc_result *result)
{
    he2b_command *command = user;

    command->stream = NULL;
    command->stream_over = true;
    command->stream_result = *result;
    he2b_output_finish(&command->output);
    settle(command);
}

bool he2b_stream_denied(const he2b_command *command)
{
    const struct he2b_marker *marker = &command->output.marker;

    return marker->found && marker->code == HE2B_WRAPPER_DENIED;
}

/* ---- start ---- */

/* When the watchdog in the sandbox ends it, in seconds; 0: it has no limit, or one for ever. */
static int64_t watch_s(const he2b_command *command)
{
    int64_t s = (he2b_lease_need(command->session, command->timeout_ms) + 999) / 1000;

    return command->timeout_ms && s <= WATCH_MAX_S ? s : 0;
}

void he2b_stream_start(he2b_command *command, bool repeat)
{
    static const struct he2b_process_events events = {
        .start = on_start,
        .data = on_data,
        .end = on_end,
        .done = on_done,
    };
    he2b_session *session = command->session;
    struct he2b_process_target target;
    struct he2b_process_spec spec = {0};
    struct he2b_wrapper wrapper;
    char path[HE2B_URL_MAX];
    char settled[SETTLED_SIZE];
    struct he2b_job job = {
        .text = command->text,
        .by_file = command->by_file,
        .word = command->word,
        .login = command->login,
        .stdin_len = command->stdin_len,
        .record = command->record,
        .repeat_of = repeat ? command->boot : "",
        .watch_s = watch_s(command),
        .settled = settled,
    };
    int error;

    command->stream_over = false;
    if (command->by_file) {
        he2b_text_path(command, path);
        job.text = path;
    }
    if (!repeat)
        he2b_record_choose(command);
    settled[0] = '\0';
    if (command->record[0])
        he2b_record_take_settled(session, settled, sizeof(settled));
    he2b_wrapper_command(&wrapper, &session->tools, &job);
    he2b_session_target(session, &target);
    spec.cmd = wrapper.cmd;
    spec.args = wrapper.args;
    spec.cwd = command->elsewhere ? command->elsewhere : session->cwd;
    spec.stdin_open = command->stdin_len > 0;
    spec.keepalive_s = session->keepalive_s;
    spec.silence_ms = session->silence_ms;
    error = he2b_process_start(&command->stream, &target, &spec, &events, command);
    if (error) {
        set_failure(command, error, 0, NULL, he2b_strerror(error));
        he2b_command_post(command, CMD_REFUSED);
    }
}

static void on_attached(void *user, int64_t pid)
{
    (void)user;
    (void)pid;
}

void he2b_stream_attach(he2b_command *command)
{
    static const struct he2b_process_events events = {
        .start = on_attached,
        .data = on_data,
        .end = on_end,
        .done = on_done,
    };
    he2b_session *session = command->session;
    const struct he2b_process_spec spec = {
        .keepalive_s = session->keepalive_s,
        .silence_ms = session->silence_ms,
    };
    struct he2b_process_target target;

    command->attached++;
    command->attached_ms = he2b_now_ms();
    command->stream_over = false;
    he2b_session_target(session, &target);
    if (he2b_process_connect(&command->stream, &target, command->pid, &spec, &events, command) !=
        HE2B_OK)
        he2b_command_post(command, CMD_LOST);
}

void he2b_stream_forget(he2b_command *command)
{
    he2b_stream_drop(command);
    he2b_process_cancel(command->killer);
    command->killer = NULL;
    command->kill_as_default = false;
    command->pid = 0;
    command->process_ended = false;
    he2b_rpc_cancel(command->input);
    command->input = NULL;
    command->stdin_sent = 0;
    command->stdin_closed = false;
}

void he2b_stream_drop(he2b_command *command)
{
    he2b_process_cancel(command->stream);
    command->stream = NULL;
}

/* ---- input ---- */

static void note_stdin_failure(he2b_command *command, int code, int status, const char *cause)
{
    struct he2b_secrets secrets;

    if (command->result.stdin_failed || command->reported)
        return;
    secrets_of(command, &secrets);
    command->result.stdin_failed = true;
    he2b_failure_set(&command->result.stdin_failure, &secrets, code, status, "send standard input",
                     NULL, "%s (%zu of %zu bytes were taken)", cause, command->stdin_sent,
                     command->stdin_len);
}

static void on_stdin_closed(void *user, const struct he2b_rpc_result *result, const char *json,
                            size_t len)
{
    he2b_command *command = user;

    (void)result;
    (void)json;
    (void)len;
    command->input = NULL;
}

static void close_stdin(he2b_command *command)
{
    struct he2b_process_target target;

    /* Told once: the end of the command comes here too, after a failure has told it. */
    if (command->stdin_closed)
        return;
    command->stdin_closed = true;
    he2b_session_target(command->session, &target);
    if (he2b_process_close_stdin(&command->input, &target, command->pid, on_stdin_closed,
                                 command) != HE2B_OK)
        command->input = NULL;
}

static void send_piece(he2b_command *command);

static void on_piece(void *user, const struct he2b_rpc_result *result, const char *json, size_t len)
{
    he2b_command *command = user;

    (void)json;
    (void)len;
    command->input = NULL;
    if (result->code == HE2B_RPC_OK) {
        command->stdin_sent += command->stdin_piece;
        if (command->reported || command->orphan) {
            if (command->stdin_sent < command->stdin_len)
                close_stdin(command);
        } else if (command->stdin_sent < command->stdin_len) {
            send_piece(command);
        }
        return;
    }
    /* A command that ends without reading all of it is no failure: its input is gone with it. */
    if (!(result->connect && result->code == HE2B_RPC_NOT_FOUND))
        note_stdin_failure(command, HE2B_ERR_LOST, result->http.status, result->message);
    close_stdin(command);
}

static void send_piece(he2b_command *command)
{
    struct he2b_process_target target;
    size_t left = command->stdin_len - command->stdin_sent;
    int error;

    command->stdin_piece = left < HE2B_STDIN_PIECE ? left : HE2B_STDIN_PIECE;
    he2b_session_target(command->session, &target);
    error = he2b_process_send_input(&command->input, &target, command->pid,
                                    command->stdin_data + command->stdin_sent, command->stdin_piece,
                                    on_piece, command);
    if (error) {
        command->input = NULL;
        note_stdin_failure(command, error, 0, he2b_strerror(error));
        close_stdin(command);
    }
}

void he2b_stream_send_stdin(he2b_command *command)
{
    if (command->stdin_len)
        send_piece(command);
}

void he2b_stream_end_stdin(he2b_command *command)
{
    /* A piece on its way is followed by the end when it is answered. */
    if (command->stdin_len && command->stdin_sent < command->stdin_len && !command->input)
        close_stdin(command);
}

/* ---- kill ---- */

static void on_killer_start(void *user, int64_t pid)
{
    (void)user;
    (void)pid;
}

static bool on_killer_data(void *user, const char *data, size_t len)
{
    (void)user;
    (void)data;
    (void)len;
    return true;
}

static void on_killer_end(void *user, int exit_code)
{
    (void)user;
    (void)exit_code;
}

static void on_killer_done(void *user, const struct he2b_rpc_result *result)
{
    he2b_command *command = user;

    command->killer = NULL;
    if (result->code == HE2B_RPC_OK && result->ended) {
        he2b_command_post(command, CMD_KILLED);
    } else if (he2b_start_outcome(result) == HE2B_START_NO_SANDBOX) {
        /* Where there is no sandbox, nothing of it runs. */
        he2b_command_post(command, CMD_KILLED);
    } else if (result->connect && !command->kill_as_default) {
        /* A daemon without root for us: as the user whose processes they are (B-43). */
        command->kill_as_default = true;
        he2b_stream_kill(command);
    } else {
        he2b_command_post(command, CMD_UNKILLED);
    }
}

void he2b_stream_kill(he2b_command *command)
{
    static const struct he2b_process_events events = {
        .start = on_killer_start,
        .data = on_killer_data,
        .end = on_killer_end,
        .done = on_killer_done,
    };
    struct he2b_process_target target;
    struct he2b_process_spec spec = {0};
    struct he2b_wrapper wrapper;

    he2b_record_drop(command);
    if (command->killer || !command->pid)
        return;
    he2b_wrapper_kill(&wrapper, &command->session->tools, command->pid, command->word);
    he2b_session_target(command->session, &target);
    spec.cmd = wrapper.cmd;
    spec.args = wrapper.args;
    spec.user = command->kill_as_default ? NULL : "root";
    if (he2b_process_start(&command->killer, &target, &spec, &events, command) != HE2B_OK)
        he2b_command_post(command, CMD_UNKILLED);
}

void he2b_stream_cancel(he2b_command *command)
{
    he2b_upload_cancel(command->upload);
    command->upload = NULL;
    he2b_stream_drop(command);
    he2b_rpc_cancel(command->input);
    command->input = NULL;
    he2b_process_cancel(command->killer);
    command->killer = NULL;
    he2b_record_drop(command);
    he2b_whereabouts_drop(command);
}
