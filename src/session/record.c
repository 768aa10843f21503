/* Where the record of a command is (B-47), and which records can go. */
#include "session/command.h"

#include <stdio.h>
#include <string.h>

enum {
    /* Removing costs a process: so never one record alone. */
    TAKE_FROM = 8,
};

void he2b_record_path(const he2b_command *command, char out[HE2B_RECORD_MAX])
{
    const he2b_session *session = command->session;

    out[0] = '\0';
    if (session->records && session->folder[0] && session->boot[0])
        snprintf(out, HE2B_RECORD_MAX, "%s/%s/%s", session->folder, session->boot, command->word);
}

void he2b_record_settle(he2b_command *command)
{
    he2b_session *session = command->session;

    /*
     * One whose Start was never answered may arrive yet, and then only its record keeps it from
     * running; so does that of one which nobody knows the end of.
     */
    if (!command->pid || command->result.outcome == HE2B_UNKNOWN || !session->records ||
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
