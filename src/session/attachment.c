/* What a session knows of the sandbox that it is attached to: how to reach it, until when, and with
 * which key (B-7, B-34). */
#include "session/session.h"

#include <string.h>

static bool same_key(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void drop_attached_key(he2b_session *session)
{
    he2b_key_free(session->attached_key);
    session->attached_key = NULL;
}

int he2b_session_set_api_key(he2b_session *session, const char *key)
{
    char *old = session->settings.api_key;
    int error;

    if (session->teardown.state > HE2B_TEARDOWN_HURRIED)
        return HE2B_OK;
    session->settings.api_key = NULL;
    error = he2b_settings_set_key(&session->settings, key);
    if (error || same_key(old, session->settings.api_key)) {
        he2b_key_free(session->settings.api_key);
        session->settings.api_key = old;
        return error;
    }
    if (session->attached_key)
        he2b_key_free(old); /* it has not reached the sandbox since that one did */
    else
        session->attached_key = old;
    session->key_set_ms = he2b_now_ms();
    return HE2B_OK;
}

void he2b_attachment_take(he2b_session *session, const struct he2b_control_answer *answer)
{
    session->endpoint = answer->endpoint;
    he2b_lease_set(session, answer->sent_ms, answer->lease_s);
    if (answer->sent_ms >= session->key_set_ms)
        drop_attached_key(session);
}

void he2b_attachment_use_key(he2b_session *session)
{
    if (!session->attached_key)
        return;
    he2b_key_free(session->settings.api_key);
    session->settings.api_key = session->attached_key;
    session->attached_key = NULL;
}

void he2b_attachment_done(he2b_session *session)
{
    drop_attached_key(session);
    he2b_endpoint_wipe(&session->endpoint);
}
