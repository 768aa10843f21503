/* The record of a command in the sandbox (B-47): where it is, what it says, and which can go. */
#include "session/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Removing costs a process: so never one record alone. */
    TAKE_FROM = 8,
    /* More than any answer. */
    ANSWER_MAX = 256,
    ASK_SILENCE_MS = 10000,
    /* A record that is being written is soon complete. */
    UNCLEAR_MAX = 3,
    /* A path that loses each Start does not lose it less often. */
    REPEATS_MAX = 3,
    /* Streams that break off as soon as they are there; one that held so long begins the count
     * anew. */
    ATTACHED_MAX = 5,
    ATTACHED_HELD_MS = 2000,
    PAUSE_MAX_MS = 2000,
};

void he2b_record_choose(he2b_command *command)
{
    const he2b_session *session = command->session;

    snprintf(command->boot, sizeof(command->boot), "%s", session->boot);
    command->record[0] = '\0';
    if (session->records && session->folder[0] && session->boot[0])
        snprintf(command->record, sizeof(command->record), "%s/%s/%s", session->folder,
                 session->boot, command->word);
}

/* ---- the question ---- */

static void on_asker_start(void *user, int64_t pid)
{
    (void)user;
    (void)pid;
}

static bool on_asker_data(void *user, const char *data, size_t len)
{
    he2b_command *command = user;

    /* More than that is no answer, and reads as none. */
    (void)he2b_buf_add(&command->answer, data, len);
    return true;
}

static void on_asker_end(void *user, int exit_code)
{
    he2b_command *command = user;

    command->asker_code = exit_code;
}

static void again(he2b_command *command, int64_t ms)
{
    if (he2b_timer_arm(command->ask_timer, ms) != HE2B_OK)
        he2b_command_post(command, CMD_UNCLEAR);
}

/* The number behind word, alone on its line; -1: it is something else. */
static int64_t number_after(const char *line, const char *word)
{
    size_t len = strlen(word);
    char *end;
    long long number;

    if (strncmp(line, word, len) != 0 || line[len] < '0' || line[len] > '9')
        return -1;
    number = strtoll(line + len, &end, 10);
    return strcmp(end, "\n") == 0 && number <= INT32_MAX ? number : -1;
}

static void read_answer(he2b_command *command)
{
    const char *line = he2b_buf_str(&command->answer);
    int64_t pid = number_after(line, "runs ");
    int64_t code = number_after(line, "ended ");

    if (code >= 0) {
        command->recorded_code = (int)(code & 255);
        he2b_command_post(command, CMD_RECORDED);
    } else if (pid > 0 && (!command->pid || pid == command->pid) &&
               (command->forbid || command->attached < ATTACHED_MAX)) {
        command->pid = pid;
        he2b_command_post(command, CMD_RUNS);
    } else if (strcmp(line, "unbegun\n") == 0 && !command->pid &&
               (command->forbid || command->repeats < REPEATS_MAX)) {
        command->repeats++;
        he2b_command_post(command, CMD_UNBEGUN);
    } else if (strcmp(line, "begun\n") == 0 && ++command->unclear < UNCLEAR_MAX) {
        again(command, command->session->ask_again_ms);
    } else {
        he2b_command_post(command, CMD_UNCLEAR);
    }
}

static void on_asker_done(void *user, const struct he2b_rpc_result *result)
{
    he2b_command *command = user;
    enum he2b_start_outcome outcome;

    command->asker = NULL;
    if (result->code == HE2B_RPC_OK && result->ended && command->asker_code == 0) {
        read_answer(command);
        return;
    }
    /* Asking twice harms nobody: so every kind of trouble is worth another question, within the
     * bound. */
    outcome = he2b_start_outcome(result);
    if (outcome == HE2B_START_NO_SANDBOX || (outcome == HE2B_START_REFUSED && result->connect) ||
        he2b_now_ms() >= command->ask_until_ms)
        he2b_command_post(command, CMD_UNCLEAR);
    else
        again(command, command->session->ask_again_ms);
}

static void send_question(void *arg)
{
    static const struct he2b_process_events events = {
        .start = on_asker_start,
        .data = on_asker_data,
        .end = on_asker_end,
        .done = on_asker_done,
    };
    he2b_command *command = arg;
    struct he2b_process_target target;
    struct he2b_process_spec spec = {.silence_ms = ASK_SILENCE_MS};
    struct he2b_wrapper wrapper;

    he2b_buf_clear(&command->answer);
    command->asker_code = -1;
    he2b_wrapper_ask(&wrapper, command->record, command->boot, command->word, command->pid,
                     command->forbid);
    he2b_session_target(command->session, &target);
    spec.cmd = wrapper.cmd;
    spec.args = wrapper.args;
    if (he2b_process_start(&command->asker, &target, &spec, &events, command) != HE2B_OK)
        he2b_command_post(command, CMD_UNCLEAR);
}

/* Longer each time that what it said was of no use. */
static int64_t pause_ms(he2b_command *command)
{
    int64_t ms = command->session->ask_again_ms;
    unsigned tries;

    if (command->attached && he2b_now_ms() - command->attached_ms >= ATTACHED_HELD_MS)
        command->attached = 0;
    tries = command->repeats + command->attached;
    if (!tries)
        return 0;
    while (--tries && ms < PAUSE_MAX_MS)
        ms *= 2;
    return ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
}

void he2b_record_ask(he2b_command *command, bool forbid)
{
    he2b_session *session = command->session;
    int64_t ms = pause_ms(command);

    he2b_record_drop(command);
    he2b_stream_drop(command);
    /* what follows on another stream is read anew */
    if (he2b_stream_denied(command))
        he2b_marker_init(&command->output.marker, command->word);
    command->end_told = false;
    command->forbid = forbid;
    command->unclear = 0;
    command->ask_until_ms = he2b_now_ms() + session->ask_for_ms;
    if (!command->boot[0] || (!command->record[0] && !command->pid)) {
        he2b_command_post(command, CMD_UNCLEAR);
        return;
    }
    he2b_buf_init(&command->answer, ANSWER_MAX);
    if (!command->ask_timer &&
        he2b_timer_new(&command->ask_timer, session->loop, send_question, command) != HE2B_OK)
        he2b_command_post(command, CMD_UNCLEAR);
    else if (ms)
        again(command, ms);
    else
        send_question(command);
}

void he2b_record_drop(he2b_command *command)
{
    he2b_process_cancel(command->asker);
    command->asker = NULL;
    if (command->ask_timer)
        he2b_timer_disarm(command->ask_timer);
    he2b_buf_free(&command->answer);
}

/* ---- records that nobody needs ---- */

void he2b_record_settle(he2b_command *command)
{
    he2b_session *session = command->session;

    /*
     * One whose Start was never answered may arrive yet, and then only its record keeps it from
     * running; so does that of one which nobody knows the end of.
     */
    if (!command->pid || command->result.outcome == HE2B_UNKNOWN || !command->record[0] ||
        session->settled_count == HE2B_SETTLED_MAX)
        return;
    memcpy(session->settled[session->settled_count++], command->word, HE2B_MARKER_WORD + 1);
}

void he2b_record_take_settled(he2b_session *session, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    if (session->settled_count < TAKE_FROM)
        return;
    while (session->settled_count && used + HE2B_MARKER_WORD + 2 <= size)
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " " : "",
                                 session->settled[--session->settled_count]);
}
