/* The actions of the teardown chart: the end of a session, in order (B-90 to B-96). */
#include "session/session.h"

#include <string.h>

enum {
    /* A transfer may take 300 s, with the margin of a lease (B-30). */
    TRANSFER_LEASE_S = 360,
};

static void rest(void *user)
{
    /* The pump closes the lifecycle once no command is left. */
    he2b_session_wake(user);
}

/* ---- bringing home ---- */

static void on_connected(void *user, const struct he2b_control_answer *answer)
{
    he2b_session *session = user;

    session->call = NULL;
    if (!answer->ok) {
        session->failure = answer->failure;
        he2b_teardown_post(session, END_FAILED);
        return;
    }
    he2b_attachment_take(session, answer);
    he2b_teardown_post(session, END_CONNECTED);
}

static void reconnect(void *user)
{
    he2b_session *session = user;
    int64_t lease_s = he2b_lease_ask(session, he2b_lease_need(session, 300 * 1000));
    int error;

    he2b_attachment_use_key(session);
    if (lease_s < TRANSFER_LEASE_S)
        lease_s = TRANSFER_LEASE_S;
    error = he2b_control_connect(&session->call, session->loop, &session->settings,
                                 session->endpoint.sandbox_id, lease_s, on_connected, session);
    if (error) {
        he2b_failure_set(&session->failure, NULL, error, 0, "connect to sandbox", NULL, "%s",
                         he2b_strerror(error));
        he2b_teardown_post(session, END_FAILED);
    }
}

static void want_pull(void *user)
{
    he2b_steps_want(user, HE2B_STEP_PULL, NULL);
}

static void cancel_call(void *user)
{
    he2b_session *session = user;

    he2b_control_cancel(session->call);
    session->call = NULL;
}

/* ---- the sandbox ---- */

static void clean(void *user)
{
    he2b_session *session = user;

    /* Nothing of a session is left in a sandbox yet; its own sandbox goes as a whole. */
    he2b_teardown_post(session, session->own ? END_KILL : END_KEEP);
}

static void on_killed(void *user, const struct he2b_control_answer *answer)
{
    he2b_session *session = user;

    session->call = NULL;
    if (answer->ok) {
        he2b_session_log(session, HE2B_LOG_INFO, "sandbox %s killed", session->endpoint.sandbox_id);
        session->own = false;
    } else {
        session->end_failure = answer->failure;
        he2b_session_log(session, HE2B_LOG_ERROR, "%s; sandbox %s is left to its lease",
                         answer->failure.text, session->endpoint.sandbox_id);
    }
    he2b_teardown_post(session, END_KILLED);
}

static void send_kill(void *user)
{
    he2b_session *session = user;
    int error;

    he2b_attachment_use_key(session);
    error = he2b_control_kill(&session->call, session->loop, &session->settings,
                              session->endpoint.sandbox_id, on_killed, session);

    if (error) {
        he2b_failure_set(&session->end_failure, NULL, error, 0, "kill sandbox", NULL, "%s",
                         he2b_strerror(error));
        he2b_teardown_post(session, END_KILLED);
    }
}

/* ---- the end ---- */

static void release(void *user)
{
    he2b_session *session = user;

    if (he2b_role_gates(session))
        he2b_writer_post(session, WRITER_DROP);
    else
        he2b_teardown_post(session, END_RELEASED);
}

static void report_closed(void *user)
{
    he2b_session *session = user;

    he2b_waiters_tell(session, &session->closers, false,
                      session->end_failure.code ? &session->end_failure : NULL);
}

static void note_given_up(he2b_session *session)
{
    he2b_failure_set(&session->failure, NULL, HE2B_ERR_CANCELLED, 0, "state download", NULL, "%s",
                     he2b_strerror(HE2B_ERR_CANCELLED));
}

static void report_unpulled(void *user)
{
    he2b_session *session = user;

    he2b_steps_forget_callers(session);
    if (session->teardown.state == HE2B_TEARDOWN_HURRIED)
        note_given_up(session);
    session->end_failure = session->failure;
    he2b_session_log(session, HE2B_LOG_ERROR,
                     "%s; what changed in sandbox %s since its last pull is not on this machine%s",
                     session->failure.text, session->endpoint.sandbox_id,
                     session->own ? " and is lost with it"
                                  : ", and is recovered when the scope is next used");
}

void he2b_session_abandon_pull(he2b_session *session)
{
    switch (session->teardown.state) {
    case HE2B_TEARDOWN_OPEN:
    case HE2B_TEARDOWN_DEFERRED:
        if (!session->closing)
            return;
        break;
    case HE2B_TEARDOWN_RECONNECTING:
    case HE2B_TEARDOWN_PULLING:
        note_given_up(session);
        break;
    default:
        return;
    }
    he2b_teardown_post(session, END_ABANDONED);
}

const struct he2b_teardown_actions he2b_teardown_actions = {
#define HE2B_X(name) .name = name,
    HE2B_TEARDOWN_ACTIONS(HE2B_X)
#undef HE2B_X
};
