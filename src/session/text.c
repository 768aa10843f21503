/* A command's text that no argument can hold: into a file of the sandbox, before its Start. */
#include "e2b/unreached.h"
#include "session/command.h"

#include <stdio.h>

static void set_failure(he2b_command *command, int code, int status, const char *hint,
                        const char *cause)
{
    struct he2b_secrets secrets;

    he2b_session_secrets(command->session, &secrets);
    he2b_failure_set(&command->failure, &secrets, code, status, "send the command's text", hint,
                     "%s", cause);
}

void he2b_text_path(const he2b_command *command, char out[HE2B_URL_MAX])
{
    snprintf(out, HE2B_URL_MAX, "%s/text.%s", command->session->folder, command->word);
}

/* Whatever went wrong, the command did not begin. */
static void refuse(he2b_command *command, const struct he2b_rpc_result *result)
{
    char todo[HE2B_FAILURE_HINT_MAX];
    const char *hint = "try again";
    int code = HE2B_ERR_LOST;

    switch (he2b_start_outcome(result)) {
    case HE2B_START_NO_SANDBOX:
        set_failure(command, HE2B_ERR_GONE, result->http.status, hint, result->message);
        he2b_command_post(command, command->vanished_before ? CMD_REFUSED : CMD_VANISHED);
        command->vanished_before = true;
        return;
    case HE2B_START_REFUSED:
        code = he2b_unreached(&result->http, "E2B_SANDBOX_URL", todo, sizeof(todo));
        hint = todo;
        break;
    case HE2B_START_NOT_YET:
    case HE2B_START_UNKNOWN:
        break;
    }
    if (result->http.end == HE2B_HTTP_COMPLETE && result->proxy == HE2B_PROXY_NONE) {
        code = HE2B_ERR_REFUSED;
        hint = result->http.status == 507 ? "make room on the sandbox's disk" : NULL;
    }
    set_failure(command, code, result->http.status, hint, result->message);
    he2b_command_post(command, CMD_REFUSED);
}

static void on_uploaded(void *user, const struct he2b_rpc_result *result)
{
    he2b_command *command = user;
    enum he2b_start_outcome outcome;

    command->upload = NULL;
    if (result->code == HE2B_RPC_OK) {
        he2b_stream_start(command, false);
        return;
    }
    outcome = he2b_start_outcome(result);
    /* A file that is written twice harms nobody, and a kept connection may have been closed. */
    if (!command->upload_again &&
        (outcome == HE2B_START_NOT_YET || result->http.end == HE2B_HTTP_LOST)) {
        command->upload_again = true;
        he2b_text_upload(command);
        return;
    }
    refuse(command, result);
}

void he2b_text_upload(he2b_command *command)
{
    struct he2b_process_target target;
    char path[HE2B_URL_MAX];
    int error;

    if (!command->session->folder[0]) {
        set_failure(command, HE2B_ERR_REFUSED, 0, "is its disk full or read-only?",
                    "the sandbox has no place for a file: XDG_RUNTIME_DIR, /tmp and HOME cannot "
                    "be written");
        he2b_command_post(command, CMD_REFUSED);
        return;
    }
    he2b_text_path(command, path);
    he2b_session_target(command->session, &target);
    error = he2b_upload_start(&command->upload, &target, path, command->text, command->text_len + 1,
                              on_uploaded, command);
    if (error) {
        set_failure(command, error, 0, NULL, he2b_strerror(error));
        he2b_command_post(command, CMD_REFUSED);
    }
}

void he2b_text_abandon(he2b_command *command)
{
    if (!command->upload)
        return;
    he2b_upload_cancel(command->upload);
    command->upload = NULL;
    he2b_command_post(command, CMD_REFUSED);
}
