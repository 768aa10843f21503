/* One command: what he2b.h says of it, and the actions of the command chart. */
#include "session/command.h"

#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    /* After the marker the stream ends by itself unless a child holds it (B-42). */
    GRACE_MS = 250,
    /* A kill is answered within 5 s whatever happens (B-43). */
    KILL_BOUND_MS = 4500,
    EXIT_UNKNOWN = 255,
    EXIT_TIMEOUT = 124,
    EXIT_KILLED = 130,
};

/* ---- making ---- */

int he2b_command_new(he2b_command **ret, he2b_session *session)
{
    he2b_command *command;
    char word[HE2B_ATTEMPT_MAX];
    int error = session->deleted ? HE2B_ERR_CLOSED : he2b_attempt_token(word);

    if (error)
        return error;
    command = calloc(1, sizeof(*command));
    if (!command)
        return HE2B_ERR_NOMEM;
    command->session = session;
    word[HE2B_MARKER_WORD] = '\0';
    memcpy(command->word, word, HE2B_MARKER_WORD + 1);
    he2b_command_machine_init(&command->machine, &he2b_command_actions, command);
    he2b_output_init(&command->output, command->word, he2b_command_drained, command);
    command->next = session->commands;
    command->previous = &session->commands;
    if (command->next)
        command->next->previous = &command->next;
    session->commands = command;
    *ret = command;
    return HE2B_OK;
}

/* Everything that hangs on the session or its loop goes; what its owner may still ask stays. */
static void leave_session(he2b_command *command)
{
    if (!command->session)
        return;
    he2b_stream_cancel(command);
    he2b_output_close(&command->output);
    he2b_timer_del(command->limit);
    he2b_timer_del(command->bound);
    he2b_timer_del(command->grace);
    he2b_timer_del(command->ask_timer);
    he2b_timer_del(command->get_timer);
    he2b_session_cancel_quietly(command->session, command);
    *command->previous = command->next;
    if (command->next)
        command->next->previous = command->previous;
    command->session = NULL;
}

static void command_free(he2b_command *command)
{
    leave_session(command);
    free(command->text);
    free(command);
}

static bool idle(const he2b_command *command)
{
    return !command->session || !command->started || command->machine.state == HE2B_COMMAND_DONE;
}

void he2b_command_del(he2b_command *command)
{
    if (!command || command->orphan)
        return;
    if (idle(command) && !command->report_due) {
        command_free(command);
        return;
    }
    /* It goes on without its owner: to its kill, or to the end of its stream. */
    command->orphan = true;
    command->done = NULL;
    command->stdin_data = NULL;
    command->stdin_len = 0;
    he2b_command_post(command, CMD_KILL);
}

int he2b_command_set_text(he2b_command *command, const char *text, size_t length)
{
    char *copy;

    if (command->started)
        return HE2B_ERR_STATE;
    if (length > HE2B_COMMAND_TEXT_MAX)
        return HE2B_ERR_OVERFLOW;
    if (memchr(text, '\0', length))
        return HE2B_ERR_ARG;
    copy = malloc(length + 2);
    if (!copy)
        return HE2B_ERR_NOMEM;
    command->by_file = length >= HE2B_ARGUMENT_MAX || !he2b_text_is_utf8(text, length);
    memcpy(copy, text, length);
    copy[length] = command->by_file ? HE2B_WRAPPER_TEXT_END : '\0';
    copy[length + 1] = '\0';
    free(command->text);
    command->text = copy;
    command->text_len = length;
    return HE2B_OK;
}

void he2b_command_set_login(he2b_command *command, int yes)
{
    command->login = yes != 0;
}

void he2b_command_set_timeout(he2b_command *command, int64_t timeout_ms)
{
    command->timeout_ms = timeout_ms > 0 ? timeout_ms : 0;
}

int he2b_command_set_stdin(he2b_command *command, const void *data, size_t length)
{
    if (command->started)
        return HE2B_ERR_STATE;
    command->stdin_data = data;
    command->stdin_len = length;
    return HE2B_OK;
}

int he2b_command_set_output(he2b_command *command, int fd)
{
    if (command->started || command->output.outlet || !command->session)
        return HE2B_ERR_STATE;
    return he2b_output_open(&command->output, command->session->loop, fd);
}

/* ---- starting and ending, as the caller sees it ---- */

static void on_ready(void *user, const he2b_failure *failure)
{
    he2b_command *command = user;

    if (failure)
        command->failure = *failure;
    he2b_command_post(command, failure ? CMD_UNREADY : CMD_READY);
}

void he2b_command_set_prepared(he2b_command *command, unsigned generation)
{
    command->prepared = generation;
}

int he2b_command_start(he2b_command *command, he2b_command_fn done, void *user)
{
    he2b_session *session = command->session;
    int error;

    if (!session)
        return HE2B_ERR_CLOSED;
    if (he2b_loop_forked(session->loop))
        return HE2B_ERR_FORK;
    if (command->started || !command->text)
        return HE2B_ERR_STATE;
    if (session->closing)
        return HE2B_ERR_CLOSED;
    if (command->prepared &&
        he2b_session_is_prepared(session, command->prepared, command->timeout_ms))
        error = he2b_session_admit(session, on_ready, command);
    else
        error = he2b_session_wait(session, command->timeout_ms, on_ready, command);
    if (error)
        return error;
    command->started = true;
    command->done = done;
    command->user = user;
    return HE2B_OK;
}

void he2b_command_kill(he2b_command *command)
{
    if (command->started && !idle(command))
        he2b_command_post(command, CMD_KILL);
}

const char *he2b_command_state(const he2b_command *command)
{
    return he2b_command_state_name(command->session ? command->machine.state : HE2B_COMMAND_DONE);
}

/* ---- the pump's side ---- */

void he2b_command_post(he2b_command *command, enum he2b_command_event event)
{
    he2b_events_post(&command->events, (int)event);
    he2b_session_wake(command->session);
}

static void step(he2b_command *command, enum he2b_command_event event)
{
    enum he2b_command_state_id before = command->machine.state;
    unsigned refused = command->machine.refused;

    he2b_command_machine_step(&command->machine, event);
    he2b_session_log(command->session, HE2B_LOG_DEBUG, "command %.4s: %s, %s, %s", command->word,
                     he2b_command_state_name(before), he2b_command_event_name(event),
                     command->machine.refused != refused
                         ? "refused"
                         : he2b_command_state_name(command->machine.state));
}

bool he2b_commands_step(he2b_session *session)
{
    he2b_command *command;
    bool stepped = false;
    int event;

    for (command = session->commands; command; command = command->next) {
        while (he2b_events_take(&command->events, &event)) {
            step(command, (enum he2b_command_event)event);
            stepped = true;
        }
    }
    return stepped;
}

static he2b_command *next_due(he2b_session *session)
{
    he2b_command *command;

    for (command = session->commands; command; command = command->next) {
        if (command->report_due)
            return command;
    }
    return NULL;
}

void he2b_commands_deliver(he2b_session *session)
{
    he2b_command *command;
    he2b_command *next;

    while (!session->deleted && (command = next_due(session))) {
        he2b_command_fn done = command->done;
        struct he2b_result result = command->result;

        command->report_due = false;
        command->done = NULL;
        /* Anything may happen in here, the deletion of all of this too. */
        if (done)
            done(command->user, &result);
    }
    for (command = session->deleted ? NULL : session->commands; command; command = next) {
        next = command->next;
        if (command->orphan && idle(command) && !command->report_due)
            command_free(command);
    }
}

bool he2b_commands_live(const he2b_session *session)
{
    const he2b_command *command;

    for (command = session->commands; command; command = command->next) {
        if (command->started && !command->reported)
            return true;
    }
    return false;
}

bool he2b_commands_unlimited(const he2b_session *session)
{
    const he2b_command *command;

    for (command = session->commands; command; command = command->next) {
        if (command->started && !command->reported && !command->timeout_ms)
            return true;
    }
    return false;
}

int64_t he2b_commands_need_until(const he2b_session *session)
{
    const he2b_command *command;
    int64_t until_ms = 0;

    for (command = session->commands; command; command = command->next) {
        if (command->started && !command->reported && command->need_until_ms > until_ms)
            until_ms = command->need_until_ms;
    }
    return until_ms;
}

void he2b_commands_drop(he2b_session *session)
{
    while (session->commands) {
        he2b_command *command = session->commands;
        he2b_command_fn done = command->started ? command->done : NULL;
        struct he2b_result result;

        if (command->started && !command->reported) {
            command->result.outcome =
                command->machine.state == HE2B_COMMAND_WAITING ? HE2B_NOT_STARTED : HE2B_UNKNOWN;
            command->result.exit_code = EXIT_UNKNOWN;
            command->result.failed = true;
            he2b_failure_set(&command->result.failure, NULL, HE2B_ERR_CLOSED, 0, "run command",
                             NULL, "%s", he2b_strerror(HE2B_ERR_CLOSED));
        }
        command->reported = true;
        command->report_due = false;
        command->done = NULL;
        leave_session(command);
        result = command->result;
        if (command->orphan)
            command_free(command);
        else if (done)
            done(command->user, &result);
    }
}

/* ---- actions: notes ---- */

static void note_failure(he2b_command *command, enum he2b_outcome outcome)
{
    command->result.outcome = outcome;
    command->result.exit_code = EXIT_UNKNOWN;
    command->result.failed = true;
    command->result.failure = command->failure;
}

static void note_exit(void *user)
{
    he2b_command *command = user;

    if (command->output.incomplete) {
        /* Code 0 would say that all of it is there (B-41). */
        he2b_failure_set(&command->failure, NULL, HE2B_ERR_NOMEM, 0, "run command", NULL, "%s",
                         "out of memory; its output is incomplete");
        note_failure(command, HE2B_UNKNOWN);
        return;
    }
    command->result.outcome = HE2B_ENDED;
    command->result.exit_code =
        command->output.marker.found ? command->output.marker.code & 255 : command->end_code;
}

/* What was lost on the way is not known: no code but 255 may say that all of it is there (B-41). */
static void note_part(he2b_command *command, const char *how, int code)
{
    he2b_failure_set(
        &command->failure, NULL, HE2B_ERR_LOST, 0, "run command",
        "run it again if you need all of its output, and it does no harm",
        "the connection was lost on the way, and what it printed then is missing; %s %d", how,
        code);
    note_failure(command, HE2B_INCOMPLETE);
}

static void note_incomplete(void *user)
{
    he2b_command *command = user;
    const struct he2b_marker *marker = &command->output.marker;

    note_part(command, "its own exit code was",
              marker->found ? marker->code & 255 : command->end_code);
}

static void note_recorded(void *user)
{
    he2b_command *command = user;

    note_part(command, "its record in the sandbox says that it ended with", command->recorded_code);
}

static void note_not_started(void *user)
{
    note_failure(user, HE2B_NOT_STARTED);
}

static void note_unknown(void *user)
{
    note_failure(user, HE2B_UNKNOWN);
}

static void note_killed(void *user)
{
    he2b_command *command = user;

    command->result.outcome = HE2B_KILLED;
    command->result.exit_code = EXIT_KILLED;
}

static void note_timed_out(void *user)
{
    he2b_command *command = user;

    command->result.outcome = HE2B_TIMED_OUT;
    command->result.exit_code = EXIT_TIMEOUT;
}

static void note_unkilled(void *user)
{
    he2b_command *command = user;

    if (command->result.failed)
        return;
    command->result.failed = true;
    he2b_failure_set(&command->result.failure, NULL, HE2B_ERR_LOST, 0, "kill command",
                     "what it started may still run in the sandbox", "%s",
                     "the sandbox did not confirm the kill");
}

static void report(void *user)
{
    he2b_command *command = user;

    he2b_output_finish(&command->output);
    he2b_output_close(&command->output);
    if (command->limit)
        he2b_timer_disarm(command->limit);
    if (command->bound)
        he2b_timer_disarm(command->bound);
    he2b_record_settle(command);
    command->reported = true;
    command->report_due = true;
}

/* ---- actions: timers ---- */

/* Arms one of the command's timers, made at its first use; without memory for it there is no wait.
 */
static void arm(he2b_command *command, he2b_timer **timer, void (*fn)(void *arg), int64_t ms)
{
    if ((!*timer && he2b_timer_new(timer, command->session->loop, fn, command) != HE2B_OK) ||
        he2b_timer_arm(*timer, ms) != HE2B_OK)
        fn(command);
}

static void on_grace(void *arg)
{
    he2b_command_post(arg, CMD_GRACE);
}

static void on_bound(void *arg)
{
    he2b_command_post(arg, CMD_BOUND);
}

static void on_limit(void *arg)
{
    he2b_command_post(arg, CMD_TIMEOUT);
}

static void allow_grace(void *user)
{
    he2b_command *command = user;

    he2b_stream_end_stdin(command);
    arm(command, &command->grace, on_grace, GRACE_MS);
}

static void bound_kill(void *user)
{
    he2b_command *command = user;

    arm(command, &command->bound, on_bound, KILL_BOUND_MS);
}

/* ---- actions: the session and the stream ---- */

static void ask_session(void *user)
{
    he2b_command *command = user;

    he2b_session_post(command->session, LIFE_VANISHED);
    if (he2b_session_wait(command->session, command->timeout_ms, on_ready, command) != HE2B_OK) {
        he2b_failure_set(&command->failure, NULL, HE2B_ERR_NOMEM, 0, "run command", NULL, "%s",
                         he2b_strerror(HE2B_ERR_NOMEM));
        he2b_command_post(command, CMD_UNREADY);
    }
}

/* A limit that nobody watches is no limit: then nothing is begun. */
static bool watch_limit(he2b_command *command)
{
    return !command->timeout_ms || command->limit ||
           (he2b_timer_new(&command->limit, command->session->loop, on_limit, command) == HE2B_OK &&
            he2b_timer_arm(command->limit, command->timeout_ms) == HE2B_OK);
}

static void send_start(void *user)
{
    he2b_command *command = user;

    if (!watch_limit(command)) {
        he2b_failure_set(&command->failure, NULL, HE2B_ERR_NOMEM, 0, "run command", NULL, "%s",
                         he2b_strerror(HE2B_ERR_NOMEM));
        he2b_command_post(command, CMD_REFUSED);
        return;
    }
    if (command->timeout_ms)
        command->need_until_ms =
            he2b_now_ms() + he2b_lease_need(command->session, command->timeout_ms);
    if (command->by_file)
        he2b_text_upload(command);
    else
        he2b_stream_start(command, false);
}

static void send_repeat(void *user)
{
    he2b_stream_start(user, true);
}

static void send_stdin(void *user)
{
    he2b_stream_send_stdin(user);
}

static void send_kill(void *user)
{
    he2b_stream_kill(user);
}

static void ask_whereabouts(void *user)
{
    he2b_whereabouts_ask(user);
}

static void ask_record(void *user)
{
    he2b_record_ask(user, false);
}

static void ask_forbid(void *user)
{
    he2b_record_ask(user, true);
}

static void attach(void *user)
{
    he2b_stream_attach(user);
}

static void forget_start(void *user)
{
    he2b_stream_forget(user);
}

static void close_output(void *user)
{
    he2b_command *command = user;

    he2b_output_close(&command->output);
    he2b_text_abandon(command);
    he2b_stream_go_on(command);
}

static void drop_stream(void *user)
{
    he2b_stream_drop(user);
}

const struct he2b_command_actions he2b_command_actions = {
#define HE2B_X(name) .name = name,
    HE2B_COMMAND_ACTIONS(HE2B_X)
#undef HE2B_X
};

/* ---- the result ---- */

enum he2b_outcome he2b_result_outcome(const he2b_result *result)
{
    return result->outcome;
}

int he2b_result_exit_code(const he2b_result *result)
{
    return result->exit_code;
}

const he2b_failure *he2b_result_failure(const he2b_result *result)
{
    return result->failed ? &result->failure : NULL;
}

const he2b_failure *he2b_result_stdin_failure(const he2b_result *result)
{
    return result->stdin_failed ? &result->stdin_failure : NULL;
}
