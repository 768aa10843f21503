/* What goes from a person to the terminal: what is typed, and its size. */
#include "session/terminal.h"

void he2b_terminal_drop_input(he2b_terminal *terminal)
{
    he2b_rpc_cancel(terminal->input);
    terminal->input = NULL;
    he2b_rpc_cancel(terminal->update);
    terminal->update = NULL;
}

/* ---- what is typed ---- */

static void on_sent(void *user, const struct he2b_rpc_result *result, const char *json, size_t len)
{
    he2b_terminal *terminal = user;

    (void)json;
    (void)len;
    terminal->input = NULL;
    /* The shell has ended, and its stream tells how: what was typed after that is nobody's. */
    if (result->code == HE2B_RPC_OK || (result->connect && result->code == HE2B_RPC_NOT_FOUND))
        terminal->sent(terminal->sent_user);
    else
        he2b_terminal_lost(terminal);
}

int he2b_terminal_send(he2b_terminal *terminal, const void *data, size_t length,
                       he2b_terminal_sent_fn sent, void *user)
{
    struct he2b_process_target target;

    if (terminal->state != HE2B_TERMINAL_RUNNING || terminal->input || terminal->look)
        return HE2B_ERR_STATE;
    if (length > HE2B_STDIN_PIECE)
        return HE2B_ERR_OVERFLOW;
    terminal->sent = sent;
    terminal->sent_user = user;
    he2b_terminal_target(terminal, &target);
    return he2b_process_send_typed(&terminal->input, &target, terminal->pid, data, length, on_sent,
                                   terminal);
}

/* ---- its size ---- */

static void on_resized(void *user, const struct he2b_rpc_result *result, const char *json,
                       size_t len)
{
    he2b_terminal *terminal = user;

    /* a wrong size is no reason to end: the next change is told again */
    (void)result;
    (void)json;
    (void)len;
    terminal->update = NULL;
    he2b_terminal_tell_size(terminal);
}

void he2b_terminal_tell_size(he2b_terminal *terminal)
{
    struct he2b_process_target target;

    if (terminal->update || terminal->look ||
        (terminal->size.cols == terminal->size_told.cols &&
         terminal->size.rows == terminal->size_told.rows))
        return;
    terminal->size_told = terminal->size;
    he2b_terminal_target(terminal, &target);
    if (he2b_process_resize(&terminal->update, &target, terminal->pid, terminal->size.cols,
                            terminal->size.rows, on_resized, terminal) != HE2B_OK)
        terminal->update = NULL;
}
