/* The search for a persistent scope's sandbox (B-21 to B-23). */
#include "session/session.h"

#include <stdio.h>

void he2b_search_absent(he2b_session *session)
{
    if (session->listed > HE2B_CANDIDATES_MAX) {
        /* What was not tried may exist (B-22). */
        he2b_failure_set(&session->failure, NULL, HE2B_ERR_BUSY, 0, "find sandbox",
                         "try again; hermes-e2b list shows the sandboxes of all scopes",
                         "%zu sandboxes were listed for this scope, and the %d newest are gone",
                         session->listed, HE2B_CANDIDATES_MAX);
        he2b_session_post(session, LIFE_FAILED);
        return;
    }
    if (he2b_role_writes(session)) {
        he2b_session_post(session, LIFE_ABSENT);
        return;
    }
    he2b_failure_set(&session->failure, NULL, HE2B_ERR_ROLE, 0, "find sandbox",
                     "try again in a moment, or end the other session",
                     "there is none yet, and another live Hermes session holds the role that may "
                     "make it");
    he2b_session_post(session, LIFE_FAILED);
}

bool he2b_search_next(he2b_session *session)
{
    if (session->candidate == session->candidate_count)
        return false;
    snprintf(session->endpoint.sandbox_id, sizeof(session->endpoint.sandbox_id), "%s",
             session->candidates[session->candidate++]);
    return true;
}

static void on_listed(void *user, const struct he2b_list_answer *answer)
{
    he2b_session *session = user;
    size_t i;

    session->call = NULL;
    if (!answer->ok) {
        session->failure = answer->failure;
        he2b_session_post(session, LIFE_FAILED);
        return;
    }
    if (answer->count > 1)
        he2b_session_log(session, HE2B_LOG_WARNING,
                         "%zu sandboxes of this scope exist; the newest one, %s, is used",
                         answer->count, answer->items[0].sandbox_id);
    session->candidate = 0;
    session->candidate_count = 0;
    session->listed = answer->count;
    for (i = 0; i < answer->count && i < HE2B_CANDIDATES_MAX; i++)
        snprintf(session->candidates[session->candidate_count++], HE2B_SANDBOX_ID_MAX, "%s",
                 answer->items[i].sandbox_id);
    if (he2b_search_next(session))
        he2b_session_post(session, LIFE_FOUND);
    else
        he2b_search_absent(session);
}

void he2b_search_send(he2b_session *session)
{
    const struct he2b_list_filter filter = {.scope = session->scope};
    int error = he2b_control_list(&session->call, session->loop, &session->settings, &filter,
                                  on_listed, session);

    if (error) {
        he2b_failure_set(&session->failure, NULL, error, 0, "list sandboxes", NULL, "%s",
                         he2b_strerror(error));
        he2b_session_post(session, LIFE_FAILED);
    }
}
