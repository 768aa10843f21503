/* The actions of the lifecycle chart: each starts or notes something; the outcome is the next
 * event. */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

enum {
    RENEW_EVERY_MS = 30000,
};

static void fail(he2b_session *session, const struct he2b_failure *failure)
{
    session->failure = *failure;
    he2b_session_post(session, LIFE_FAILED);
}

static void fail_code(he2b_session *session, const char *action, int error)
{
    struct he2b_failure failure;

    he2b_failure_set(&failure, NULL, error, 0, action, NULL, "%s", he2b_strerror(error));
    fail(session, &failure);
}

/* ---- create ---- */

static void on_created(void *user, const struct he2b_control_answer *answer)
{
    he2b_session *session = user;

    session->call = NULL;
    if (!answer->ok) {
        fail(session, &answer->failure);
        return;
    }
    session->endpoint = answer->endpoint;
    session->own = true;
    session->probed = false;
    session->generation++;
    session->deadline_ms = 0;
    he2b_lease_set(session, answer->sent_ms, answer->lease_s);
    he2b_session_log(session, HE2B_LOG_INFO, "sandbox %s created from template %s, lease %lld s",
                     session->endpoint.sandbox_id, session->settings.template_id,
                     (long long)answer->lease_s);
    he2b_session_post(session, LIFE_CREATED);
}

static void send_create(void *user)
{
    he2b_session *session = user;
    char attempt[HE2B_ATTEMPT_MAX];
    int error = he2b_attempt_token(attempt);

    if (!error)
        error = he2b_control_create(&session->call, session->loop, &session->settings, attempt,
                                    NULL, session->lease_s, on_created, session);
    if (error)
        fail_code(session, "create sandbox", error);
}

static void end_create(void *user)
{
    he2b_session *session = user;

    he2b_control_end(session->call);
}

static void forget_sandbox(void *user)
{
    he2b_session *session = user;

    he2b_session_log(session, HE2B_LOG_WARNING,
                     "sandbox %s no longer exists; a new one is made, what was in it is lost",
                     session->endpoint.sandbox_id);
    memset(&session->endpoint, 0, sizeof(session->endpoint));
    session->own = false;
    session->probed = false;
    session->deadline_ms = 0;
}

/* ---- connect: before something is started ---- */

/* Trouble on the way, no word against us: the known lease still lets commands run (B-31). */
static bool only_trouble(const struct he2b_failure *failure)
{
    return (failure->code == HE2B_ERR_UNREACHABLE || failure->code == HE2B_ERR_LOST ||
            failure->code == HE2B_ERR_SERVER || failure->code == HE2B_ERR_BUSY) &&
           failure->status != 409;
}

static void on_connected(void *user, const struct he2b_control_answer *answer)
{
    he2b_session *session = user;

    session->call = NULL;
    if (answer->ok) {
        bool same_boot = answer->status == 200;

        session->endpoint = answer->endpoint;
        if (!same_boot)
            session->deadline_ms = 0;
        he2b_lease_set(session, answer->sent_ms, answer->lease_s);
        if (!session->generation)
            session->generation = 1;
        he2b_session_post(session, same_boot && session->probed ? LIFE_ATTACHED : LIFE_CONNECTED);
    } else if (answer->failure.code == HE2B_ERR_GONE && session->own) {
        he2b_session_post(session, LIFE_GONE);
    } else if (only_trouble(&answer->failure) && session->probed &&
               session->deadline_ms > he2b_now_ms()) {
        he2b_session_log(session, HE2B_LOG_WARNING, "%s", answer->failure.text);
        he2b_session_post(session, LIFE_ATTACHED);
    } else {
        fail(session, &answer->failure);
    }
}

static void send_connect(void *user)
{
    he2b_session *session = user;
    int error;

    if (session->lease_s < 1)
        session->lease_s = he2b_lease_ask(session, 0);
    error =
        he2b_control_connect(&session->call, session->loop, &session->settings,
                             session->endpoint.sandbox_id, session->lease_s, on_connected, session);
    if (error)
        fail_code(session, "connect to sandbox", error);
}

/* ---- renewal: beside commands ---- */

static void on_renewed(void *user, const struct he2b_control_answer *answer)
{
    he2b_session *session = user;

    session->renew = NULL;
    if (answer->ok) {
        session->endpoint = answer->endpoint;
        he2b_lease_set(session, answer->sent_ms, answer->lease_s);
    } else {
        he2b_session_log(session, HE2B_LOG_WARNING, "the lease could not be extended: %s",
                         answer->failure.text);
        /* The next command asks first: what it then hears decides. */
        if (answer->failure.code == HE2B_ERR_GONE)
            session->deadline_ms = 0;
    }
    he2b_session_post(session, LIFE_RENEWED);
}

static void send_renew(void *user)
{
    he2b_session *session = user;

    if (!he2b_lease_may_renew(session))
        return;
    session->renew_after_ms = he2b_now_ms() + RENEW_EVERY_MS;
    if (he2b_control_connect(&session->renew, session->loop, &session->settings,
                             session->endpoint.sandbox_id, session->lease_s, on_renewed,
                             session) != HE2B_OK)
        session->renew = NULL;
}

static void note_lease(void *user)
{
    he2b_session *session = user;

    he2b_session_log(session, HE2B_LOG_DEBUG, "lease: %lld s left",
                     (long long)(session->deadline_ms - he2b_now_ms()) / 1000);
}

static void cancel_renew(void *user)
{
    he2b_session *session = user;

    he2b_control_cancel(session->renew);
    session->renew = NULL;
}

/* ---- probe ---- */

static void send_probe(void *user)
{
    he2b_probe_send(user);
}

static void cancel_call(void *user)
{
    he2b_session *session = user;

    he2b_control_cancel(session->call);
    session->call = NULL;
    he2b_probe_cancel(session);
}

/* ---- those who wait ---- */

static void move_due(he2b_session *session, struct he2b_waiter **list, bool failed,
                     const struct he2b_failure *failure)
{
    struct he2b_waiter **end = &session->due;

    while (*end)
        end = &(*end)->next;
    while (*list) {
        struct he2b_waiter *waiter = *list;

        *list = waiter->next;
        waiter->next = NULL;
        waiter->failed = failed;
        if (failed)
            waiter->failure = *failure;
        *end = waiter;
        end = &waiter->next;
    }
}

static void admit(void *user)
{
    he2b_session *session = user;

    move_due(session, &session->waiters, false, NULL);
}

static void fail_waiters(void *user)
{
    he2b_session *session = user;

    move_due(session, &session->waiters, true, &session->failure);
}

/* ---- the end ---- */

static void on_killed(void *user, const struct he2b_control_answer *answer)
{
    he2b_session *session = user;

    session->call = NULL;
    if (answer->ok) {
        he2b_session_log(session, HE2B_LOG_INFO, "sandbox %s killed", session->endpoint.sandbox_id);
        session->own = false;
    } else {
        session->failure = answer->failure;
        he2b_session_log(session, HE2B_LOG_ERROR, "%s; sandbox %s is left to its lease",
                         answer->failure.text, session->endpoint.sandbox_id);
    }
    he2b_session_post(session, LIFE_KILLED);
}

static void send_kill(void *user)
{
    he2b_session *session = user;
    int error;

    memset(&session->failure, 0, sizeof(session->failure));
    if (!session->own || !session->endpoint.sandbox_id[0]) {
        he2b_session_post(session, LIFE_KILLED);
        return;
    }
    error = he2b_control_kill(&session->call, session->loop, &session->settings,
                              session->endpoint.sandbox_id, on_killed, session);
    if (error) {
        he2b_failure_set(&session->failure, NULL, error, 0, "kill sandbox", NULL, "%s",
                         he2b_strerror(error));
        he2b_session_post(session, LIFE_KILLED);
    }
}

static void report_closed(void *user)
{
    he2b_session *session = user;

    move_due(session, &session->closers, session->failure.code != 0, &session->failure);
}

void he2b_lifecycle_cancel(he2b_session *session)
{
    cancel_call(session);
    cancel_renew(session);
}

const struct he2b_lifecycle_actions he2b_lifecycle_actions = {
#define HE2B_X(name) .name = name,
    HE2B_LIFECYCLE_ACTIONS(HE2B_X)
#undef HE2B_X
};
