/* What became of a command's sandbox, when the command itself cannot be asked for any more (B-48).
 */
#include "session/command.h"

#include <stdio.h>

enum {
    /* The result does not wait longer for what the control plane says. */
    GET_MS = 5000,
};

static void set_failure(he2b_command *command, int code, const char *hint, const char *cause)
{
    struct he2b_secrets secrets;

    he2b_session_secrets(command->session, &secrets);
    he2b_failure_set(&command->failure, &secrets, code, 0, "run command", hint, "%s", cause);
}

static void settle(he2b_command *command, int code, const char *hint, const char *cause)
{
    he2b_whereabouts_drop(command);
    set_failure(command, code, hint, cause);
    he2b_command_post(command, CMD_SETTLED);
}

static void settle_gone(he2b_command *command, const char *says)
{
    char cause[320];

    snprintf(cause, sizeof(cause),
             "the sandbox is gone; how the command ended is not known; the control plane %s", says);
    settle(command, HE2B_ERR_GONE, "the next command wakes it or gets a new one", cause);
}

static void on_get(void *user, const struct he2b_control_answer *answer)
{
    he2b_command *command = user;
    char says[128];

    command->get = NULL;
    if (answer->ok)
        snprintf(says, sizeof(says), "says that it is %.32s", answer->info.state);
    else if (answer->failure.code == HE2B_ERR_GONE)
        snprintf(says, sizeof(says), "knows it no more: it was killed, or its lease was over");
    else
        snprintf(says, sizeof(says), "does not say more");
    settle_gone(command, says);
}

static void on_get_time(void *arg)
{
    settle_gone(arg, "does not answer");
}

static void on_health(void *user, enum he2b_health health)
{
    he2b_command *command = user;
    he2b_session *session = command->session;
    const struct he2b_rpc_result *result = &command->stream_result;
    const char *why = result->message[0] ? result->message : "the stream ended early";

    command->look = NULL;
    if (health == HE2B_HEALTH_ALIVE) {
        settle(command, HE2B_ERR_LOST, "look before you run it again; the sandbox lives", why);
    } else if (health == HE2B_HEALTH_UNKNOWN) {
        settle(command, HE2B_ERR_LOST,
               "look before you run it again; the sandbox cannot be reached", why);
    } else {
        session->deadline_ms = 0;
        if ((!command->get_timer &&
             he2b_timer_new(&command->get_timer, session->loop, on_get_time, command) != HE2B_OK) ||
            he2b_timer_arm(command->get_timer, GET_MS) != HE2B_OK ||
            he2b_control_get(&command->get, session->loop, &session->settings,
                             session->endpoint.sandbox_id, on_get, command) != HE2B_OK)
            settle_gone(command, "was not asked");
    }
}

void he2b_whereabouts_ask(he2b_command *command)
{
    struct he2b_process_target target;

    he2b_stream_drop(command);
    he2b_session_target(command->session, &target);
    /* for who does not wait for the answer */
    set_failure(command, HE2B_ERR_LOST, "look before you run it again", "the stream was lost");
    if (he2b_health_ask(&command->look, &target, on_health, command) != HE2B_OK)
        he2b_command_post(command, CMD_SETTLED);
}

void he2b_whereabouts_drop(he2b_command *command)
{
    he2b_health_cancel(command->look);
    command->look = NULL;
    he2b_control_cancel(command->get);
    command->get = NULL;
    if (command->get_timer)
        he2b_timer_disarm(command->get_timer);
}
