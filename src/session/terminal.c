#include "session/terminal.h"

#include "e2b/unreached.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEASE_LEAST_S = 60,
    /* A sandbox that has just been woken refuses for a moment (wire B.4); guards against waiting
     * for one that never opens. */
    START_FOR_MS = 15000,
    START_EVERY_MS = 200,
    /* A person sees sooner than a command that nothing comes any more. */
    KEEPALIVE_S = 15,
    SILENCE_MS = 40000,
    DEFAULT_COLS = 80,
    DEFAULT_ROWS = 24,
    SIDE_MAX = 65535,
};

static const char action[] = "open a terminal";

/*
 * The end marker tells the shell's end and code, though a child of it in the background holds the
 * terminal open, and the daemon's end event does not come (B-42).
 */
static const char script[] = "if command -v bash >/dev/null 2>&1; then bash -l -i; else sh -l -i; "
                             "fi; he2b=$?; printf '\\001he2b-%s:%d\\002' \"$1\" \"$he2b\"; "
                             "exit \"$he2b\"";

void he2b_terminal_target(const he2b_terminal *terminal, struct he2b_process_target *ret)
{
    ret->loop = terminal->loop;
    ret->settings = &terminal->settings;
    ret->endpoint = &terminal->endpoint;
}

/* ---- the end ---- */

static void drop_all(he2b_terminal *terminal)
{
    he2b_control_cancel(terminal->connect);
    terminal->connect = NULL;
    he2b_process_cancel(terminal->stream);
    terminal->stream = NULL;
    he2b_health_cancel(terminal->look);
    terminal->look = NULL;
    he2b_terminal_drop_input(terminal);
    if (terminal->timer)
        he2b_timer_disarm(terminal->timer);
    he2b_output_close(&terminal->output);
}

/* ended may delete it: nothing of it is touched afterwards. */
static void finish(he2b_terminal *terminal, const struct he2b_failure *failure)
{
    terminal->state = HE2B_TERMINAL_OVER;
    drop_all(terminal);
    terminal->ended(terminal->user, terminal->exit_code, failure);
}

static void fail_with(he2b_terminal *terminal, int code, int status, const char *hint,
                      const char *cause)
{
    const struct he2b_secrets secrets = {
        .api_key = terminal->settings.api_key,
        .access_token = terminal->endpoint.access_token,
    };

    terminal->exit_code = 255;
    he2b_failure_set(&terminal->failure, &secrets, code, status, action, hint, "%s", cause);
    finish(terminal, &terminal->failure);
}

static void on_health(void *user, enum he2b_health health)
{
    he2b_terminal *terminal = user;

    terminal->look = NULL;
    if (health == HE2B_HEALTH_GONE)
        fail_with(
            terminal, HE2B_ERR_GONE, 0, NULL,
            "the connection was lost, the sandbox does not run any more: it was killed, paused "
            "or expired");
    else if (health == HE2B_HEALTH_ALIVE)
        fail_with(terminal, HE2B_ERR_LOST, 0, "the sandbox lives, and the shell may run on in it",
                  "the connection was lost");
    else
        fail_with(terminal, HE2B_ERR_LOST, 0, "check the network",
                  "the connection was lost, and the sandbox cannot be reached");
}

void he2b_terminal_lost(he2b_terminal *terminal)
{
    struct he2b_process_target target;

    /* its end is known, and is told when all output is out */
    if (terminal->output.marker.found || terminal->shell_ended || terminal->look)
        return;
    he2b_process_cancel(terminal->stream);
    terminal->stream = NULL;
    he2b_terminal_drop_input(terminal);
    he2b_terminal_target(terminal, &target);
    if (he2b_health_ask(&terminal->look, &target, on_health, terminal) != HE2B_OK)
        on_health(terminal, HE2B_HEALTH_UNKNOWN);
}

/* ---- the lease: extended while somebody looks, never shortened (B-31) ---- */

static int64_t lease_s(const he2b_terminal *terminal)
{
    return terminal->settings.lease_seconds < LEASE_LEAST_S ? LEASE_LEAST_S
                                                            : terminal->settings.lease_seconds;
}

static void watch_lease(he2b_terminal *terminal)
{
    (void)he2b_timer_arm(terminal->timer, lease_s(terminal) * 1000 / 3);
}

static void on_extended(void *user, const struct he2b_control_answer *answer)
{
    he2b_terminal *terminal = user;

    terminal->connect = NULL;
    /* of a failure the stream tells, if it matters; it is tried again in time */
    if (answer->ok)
        terminal->endpoint = answer->endpoint;
    watch_lease(terminal);
}

static void extend(he2b_terminal *terminal)
{
    if (he2b_control_connect(&terminal->connect, terminal->loop, &terminal->settings,
                             terminal->sandbox_id, lease_s(terminal), on_extended,
                             terminal) != HE2B_OK)
        watch_lease(terminal);
}

/* ---- the stream ---- */

static void start(he2b_terminal *terminal);

static void refuse(he2b_terminal *terminal)
{
    const struct he2b_rpc_result *result = &terminal->stream_result;
    enum he2b_start_outcome outcome = he2b_start_outcome(result);
    char hint[HE2B_FAILURE_HINT_MAX];

    /* A shell that was told nothing yet may be started twice. */
    if ((outcome == HE2B_START_NO_SANDBOX || outcome == HE2B_START_NOT_YET) &&
        he2b_now_ms() < terminal->start_until_ms &&
        he2b_timer_arm(terminal->timer, START_EVERY_MS) == HE2B_OK)
        return;
    if (outcome == HE2B_START_NO_SANDBOX)
        fail_with(terminal, HE2B_ERR_GONE, result->http.status, NULL, result->message);
    else if (outcome != HE2B_START_REFUSED)
        he2b_terminal_lost(terminal);
    else if (result->connect || result->http.end == HE2B_HTTP_COMPLETE)
        fail_with(terminal, HE2B_ERR_REFUSED, result->http.status, NULL, result->message);
    else
        fail_with(terminal, he2b_unreached(&result->http, "E2B_SANDBOX_URL", hint, sizeof(hint)), 0,
                  hint, result->message);
}

static void tell_start(he2b_terminal *terminal)
{
    terminal->told = true;
    terminal->state = HE2B_TERMINAL_RUNNING;
    watch_lease(terminal);
    he2b_terminal_tell_size(terminal);
    /* started may delete it: the rest comes in a turn of its own */
    he2b_task_schedule(terminal->look_on);
    if (terminal->stream)
        he2b_process_resume(terminal->stream);
    terminal->started(terminal->user);
}

/* What the stream's callbacks noted, once all output before it is in the pipe. */
static void settle(he2b_terminal *terminal)
{
    bool ended = terminal->output.marker.found || terminal->shell_ended;

    if (terminal->output.incomplete) {
        fail_with(terminal, HE2B_ERR_NOMEM, 0, NULL, he2b_strerror(HE2B_ERR_NOMEM));
        return;
    }
    if (!he2b_output_drained(&terminal->output))
        return;
    if (terminal->output.marker.found)
        terminal->exit_code = terminal->output.marker.code;
    if (ended) {
        finish(terminal, NULL);
    } else if (terminal->stream_over) {
        terminal->stream_over = false;
        if (terminal->pid)
            he2b_terminal_lost(terminal);
        else
            refuse(terminal);
    }
}

static void on_look(void *arg)
{
    he2b_terminal *terminal = arg;

    if (terminal->state == HE2B_TERMINAL_OVER)
        return;
    if (terminal->pid && !terminal->told)
        tell_start(terminal);
    else
        settle(terminal);
}

static void on_drained(void *user)
{
    he2b_terminal *terminal = user;

    he2b_task_schedule(terminal->look_on);
    if (terminal->stream)
        he2b_process_resume(terminal->stream);
}

static void on_start(void *user, int64_t pid)
{
    he2b_terminal *terminal = user;

    terminal->pid = pid;
    he2b_task_schedule(terminal->look_on);
}

static bool on_data(void *user, const char *data, size_t len)
{
    he2b_terminal *terminal = user;

    /* nothing is shown before its start was told, and nothing after its end (B-42) */
    if (!terminal->told)
        return false;
    if (terminal->output.marker.found)
        return true;
    if (!he2b_output_add(&terminal->output, data, len))
        return false;
    if (terminal->output.marker.found || terminal->output.incomplete)
        he2b_task_schedule(terminal->look_on);
    return true;
}

static void on_end(void *user, int exit_code)
{
    he2b_terminal *terminal = user;

    terminal->shell_ended = true;
    terminal->exit_code = exit_code;
    he2b_output_finish(&terminal->output);
    he2b_task_schedule(terminal->look_on);
}

static void on_done(void *user, const struct he2b_rpc_result *result)
{
    he2b_terminal *terminal = user;

    terminal->stream = NULL;
    terminal->stream_over = true;
    terminal->stream_result = *result;
    he2b_output_finish(&terminal->output);
    he2b_task_schedule(terminal->look_on);
}

static void start(he2b_terminal *terminal)
{
    static const struct he2b_process_events events = {
        .start = on_start,
        .data = on_data,
        .end = on_end,
        .done = on_done,
    };
    const char *const args[] = {"-c", script, "hermes-e2b-shell", terminal->word, NULL};
    struct he2b_process_target target;
    struct he2b_process_spec spec = {
        .cmd = "/bin/sh",
        .args = args,
        .stdin_open = true,
        .cols = terminal->size.cols,
        .rows = terminal->size.rows,
        .term = terminal->type ? terminal->type : "xterm-256color",
        .keepalive_s = KEEPALIVE_S,
        .silence_ms = SILENCE_MS,
    };
    int error;

    terminal->size_told = terminal->size;
    he2b_terminal_target(terminal, &target);
    error = he2b_process_start(&terminal->stream, &target, &spec, &events, terminal);
    if (error)
        fail_with(terminal, error, 0, NULL, he2b_strerror(error));
}

static void on_timer(void *arg)
{
    he2b_terminal *terminal = arg;

    if (terminal->state == HE2B_TERMINAL_RUNNING)
        extend(terminal);
    else
        start(terminal);
}

static void on_connected(void *user, const struct he2b_control_answer *answer)
{
    he2b_terminal *terminal = user;

    terminal->connect = NULL;
    if (!answer->ok) {
        terminal->failure = answer->failure;
        terminal->exit_code = 255;
        finish(terminal, &terminal->failure);
        return;
    }
    terminal->endpoint = answer->endpoint;
    terminal->start_until_ms = he2b_now_ms() + START_FOR_MS;
    start(terminal);
}

/* ---- what is public ---- */

static int make_parts(he2b_terminal *terminal, const he2b_options *options)
{
    char word[HE2B_ATTEMPT_MAX];
    int error = he2b_attempt_token(word);

    if (error)
        return error;
    word[HE2B_MARKER_WORD] = '\0';
    memcpy(terminal->word, word, HE2B_MARKER_WORD + 1);
    he2b_output_init(&terminal->output, terminal->word, on_drained, terminal);
    error = he2b_settings_copy(&terminal->settings, options);
    if (!error)
        error = he2b_timer_new(&terminal->timer, terminal->loop, on_timer, terminal);
    if (!error)
        error = he2b_task_new(&terminal->look_on, terminal->loop, on_look, terminal);
    return error;
}

int he2b_terminal_new(he2b_terminal **ret, he2b_loop *loop, const he2b_options *options,
                      const char *sandbox_id)
{
    he2b_terminal *terminal;
    int error;

    if (he2b_loop_forked(loop))
        return HE2B_ERR_FORK;
    if (!sandbox_id || !he2b_sandbox_id_valid(sandbox_id) ||
        strlen(sandbox_id) >= sizeof(terminal->sandbox_id))
        return HE2B_ERR_ARG;
    terminal = calloc(1, sizeof(*terminal));
    if (!terminal)
        return HE2B_ERR_NOMEM;
    memcpy(terminal->sandbox_id, sandbox_id, strlen(sandbox_id) + 1);
    terminal->loop = loop;
    terminal->size = (struct he2b_terminal_size){DEFAULT_COLS, DEFAULT_ROWS};
    error = make_parts(terminal, options);
    if (error) {
        he2b_terminal_del(terminal);
        return error;
    }
    *ret = terminal;
    return HE2B_OK;
}

void he2b_terminal_del(he2b_terminal *terminal)
{
    if (!terminal)
        return;
    drop_all(terminal);
    he2b_timer_del(terminal->timer);
    he2b_task_del(terminal->look_on);
    he2b_endpoint_wipe(&terminal->endpoint);
    he2b_settings_done(&terminal->settings);
    free(terminal->type);
    free(terminal);
}

int he2b_terminal_set_type(he2b_terminal *terminal, const char *type)
{
    char *copy = NULL;
    const char *c;

    if (terminal->state != HE2B_TERMINAL_NEW)
        return HE2B_ERR_STATE;
    for (c = type ? type : ""; *c; c++) {
        if (*c <= ' ' || *c > '~')
            return HE2B_ERR_ARG;
    }
    if (type && type[0]) {
        copy = strdup(type);
        if (!copy)
            return HE2B_ERR_NOMEM;
    }
    free(terminal->type);
    terminal->type = copy;
    return HE2B_OK;
}

int he2b_terminal_set_output(he2b_terminal *terminal, int fd)
{
    if (terminal->state != HE2B_TERMINAL_NEW || terminal->output.outlet)
        return HE2B_ERR_STATE;
    return he2b_output_open(&terminal->output, terminal->loop, fd);
}

int he2b_terminal_resize(he2b_terminal *terminal, unsigned cols, unsigned rows)
{
    if (cols > SIDE_MAX || rows > SIDE_MAX)
        return HE2B_ERR_ARG;
    terminal->size.cols = cols ? cols : DEFAULT_COLS;
    terminal->size.rows = rows ? rows : DEFAULT_ROWS;
    if (terminal->state == HE2B_TERMINAL_RUNNING)
        he2b_terminal_tell_size(terminal);
    return HE2B_OK;
}

int he2b_terminal_start(he2b_terminal *terminal, he2b_terminal_started_fn started,
                        he2b_terminal_ended_fn ended, void *user)
{
    int error;

    if (he2b_loop_forked(terminal->loop))
        return HE2B_ERR_FORK;
    if (terminal->state != HE2B_TERMINAL_NEW)
        return HE2B_ERR_STATE;
    error = he2b_control_connect(&terminal->connect, terminal->loop, &terminal->settings,
                                 terminal->sandbox_id, lease_s(terminal), on_connected, terminal);
    if (error)
        return error;
    terminal->started = started;
    terminal->ended = ended;
    terminal->user = user;
    terminal->state = HE2B_TERMINAL_STARTING;
    return HE2B_OK;
}

int64_t he2b_terminal_pid(const he2b_terminal *terminal)
{
    return terminal->pid;
}
