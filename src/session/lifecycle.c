/* The actions of the lifecycle chart: each starts or notes something; the outcome is the next
 * event. */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

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

/* The sandbox is new to this session, or what ran in it is gone. */
static void begin_anew(he2b_session *session)
{
    session->probed = false;
    session->generation++;
    session->deadline_ms = 0;
    session->doubted = false;
    /* what it says is of the time before */
    he2b_control_cancel(session->deadline_look);
    session->deadline_look = NULL;
}

static void on_created(void *user, const struct he2b_control_answer *answer)
{
    he2b_session *session = user;
    bool scope = session->scope[0] != '\0';

    session->call = NULL;
    if (!answer->ok) {
        fail(session, &answer->failure);
        return;
    }
    session->own = !scope;
    session->attached = scope;
    begin_anew(session);
    he2b_attachment_take(session, answer);
    he2b_session_log(session, HE2B_LOG_INFO, "sandbox %s created from template %s, lease %lld s",
                     session->endpoint.sandbox_id, session->settings.template_id,
                     (long long)answer->lease_s);
    he2b_session_post(session, scope ? LIFE_MADE : LIFE_CREATED);
}

static void send_create(void *user)
{
    he2b_session *session = user;
    const char *scope = session->scope[0] ? session->scope : NULL;
    char attempt[HE2B_ATTEMPT_MAX];
    int error = he2b_attempt_token(attempt);

    if (!error)
        error = he2b_control_create(&session->call, session->loop, &session->settings, attempt,
                                    scope, session->lease_s, on_created, session);
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
                     "sandbox %s no longer exists; a new one is %s, what was in it is lost",
                     session->endpoint.sandbox_id, session->scope[0] ? "looked for" : "made");
    he2b_endpoint_wipe(&session->endpoint);
    session->own = false;
    session->attached = false;
    session->probed = false;
    session->pushed = false;
    session->deadline_ms = 0;
}

/* ---- connect: before anything is started ---- */

/* Trouble on the way, no word against us: the known lease still lets commands run (B-31). */
static bool only_trouble(const struct he2b_failure *failure)
{
    return (failure->code == HE2B_ERR_UNREACHABLE || failure->code == HE2B_ERR_LOST ||
            failure->code == HE2B_ERR_SERVER || failure->code == HE2B_ERR_BUSY) &&
           failure->status != 409;
}

/* The plan's maximum: no refusal, only no extension (B-32). Any other 400 is one, and only the
 * words tell (wire A.8). */
static bool at_maximum(const struct he2b_failure *failure)
{
    return failure->status == 400 && strcasestr(failure->cause, "max instance length");
}

static void on_deadline(void *user, const struct he2b_control_answer *answer)
{
    he2b_session *session = user;
    int64_t deadline_ms;

    session->deadline_look = NULL;
    if (answer->ok && session->scope[0] && answer->info.killed_at_end && !session->warned_killed) {
        session->warned_killed = true;
        he2b_session_log(session, HE2B_LOG_WARNING,
                         "sandbox %s of this scope is killed, not paused, at the end of its lease: "
                         "what is in it is lost then; kill it by hand to get one that is kept",
                         session->endpoint.sandbox_id);
    }
    if (!answer->ok || answer->info.remaining_ms == INT64_MIN)
        return;
    deadline_ms = answer->sent_ms + answer->info.remaining_ms;
    if (session->deadline_ms && deadline_ms < session->deadline_ms)
        session->deadline_ms = deadline_ms;
    he2b_session_wake(session);
}

/* Beside everything: the plan's maximum can cut a lease without a word (B-32), and who made the
 * sandbox may have wanted another end for it (FB-38). */
static void look_at_deadline(he2b_session *session)
{
    he2b_control_cancel(session->deadline_look);
    session->deadline_look = NULL;
    if (he2b_control_get(&session->deadline_look, session->loop, &session->settings,
                         session->endpoint.sandbox_id, on_deadline, session) != HE2B_OK)
        session->deadline_look = NULL;
}

/* The scope's sandbox, or the one of the list that is tried, exists no more. */
static void miss_scope(he2b_session *session)
{
    if (session->attached)
        he2b_session_post(session, LIFE_ASTRAY);
    else if (he2b_search_next(session))
        he2b_session_post(session, LIFE_NEXT);
    else
        he2b_search_absent(session);
}

/* It runs, and was looked into before. */
static enum he2b_lifecycle_event still(const he2b_session *session)
{
    return he2b_role_gates(session) ? LIFE_SAME : LIFE_ATTACHED;
}

static void on_connected(void *user, const struct he2b_control_answer *answer)
{
    he2b_session *session = user;
    bool scope = session->scope[0] != '\0';
    bool known = session->probed && (!scope || session->attached);

    session->call = NULL;
    session->doubted = false;
    if (answer->ok) {
        bool same_boot = answer->status == 200;
        bool joined = scope && !session->attached;

        if (!same_boot || !session->generation || joined)
            begin_anew(session);
        known = session->probed;
        he2b_attachment_take(session, answer);
        if (same_boot || joined)
            look_at_deadline(session);
        if (joined) {
            session->warned_killed = false;
            session->attached = true;
            he2b_session_log(session, HE2B_LOG_INFO, "sandbox %s found%s",
                             session->endpoint.sandbox_id, same_boot ? "" : " paused, and resumed");
            he2b_session_post(session, LIFE_JOINED);
        } else if (scope) {
            he2b_session_post(session, known ? LIFE_SAME : LIFE_REBOOTED);
        } else {
            he2b_session_post(session, known ? still(session) : LIFE_CONNECTED);
        }
    } else if (answer->failure.code == HE2B_ERR_GONE && scope) {
        miss_scope(session);
    } else if (answer->failure.code == HE2B_ERR_GONE && session->own) {
        he2b_session_post(session, LIFE_GONE);
    } else if ((only_trouble(&answer->failure) || at_maximum(&answer->failure)) && known &&
               session->deadline_ms > he2b_now_ms()) {
        he2b_session_log(session, HE2B_LOG_WARNING, "%s; the sandbox %s in %lld s",
                         answer->failure.text, session->own ? "ends" : "pauses",
                         (long long)(session->deadline_ms - he2b_now_ms()) / 1000);
        he2b_session_post(session, still(session));
    } else {
        fail(session, &answer->failure);
    }
}

static void doubt_sandbox(void *user)
{
    he2b_lease_doubt(user);
}

static void send_connect(void *user)
{
    he2b_session *session = user;
    int error;

    if (session->lease_s < 1)
        session->lease_s = he2b_lease_ask(session, 0);
    session->connect_sent_ms = he2b_now_ms();
    error =
        he2b_control_connect(&session->call, session->loop, &session->settings,
                             session->endpoint.sandbox_id, session->lease_s, on_connected, session);
    if (error)
        fail_code(session, "connect to sandbox", error);
}

/* ---- the scope: search and role ---- */

static void send_list(void *user)
{
    he2b_search_send(user);
}

static void seek_role(void *user)
{
    he2b_writer_post(user, WRITER_SEEK);
}

static void seek_again(void *user)
{
    he2b_writer_post(user, WRITER_ASTRAY);
}

static void gate_role(void *user)
{
    he2b_writer_post(user, WRITER_GATE);
}

static void prepare_own(void *user)
{
    he2b_writer_post(user, WRITER_OWN);
}

static void prepare_made(void *user)
{
    he2b_writer_post(user, WRITER_MADE);
}

static void prepare_joined(void *user)
{
    he2b_writer_post(user, WRITER_JOINED);
}

static void prepare_rebooted(void *user)
{
    he2b_writer_post(user, WRITER_REBOOTED);
}

/* B-64: and what was found is looked for again. Who waits now hears of the failure; who comes while
 * the locks are given up does not. A sandbox of its own is no other session's: what was pushed
 * there still is. */
static void drop_role(void *user)
{
    he2b_session *session = user;

    he2b_waiters_ask(session);
    if (!session->scope[0]) {
        he2b_session_post(session, LIFE_DROPPED);
        return;
    }
    session->attached = false;
    session->probed = false;
    he2b_writer_post(session, WRITER_DROP);
}

/* ---- renewal: beside commands ---- */

static void on_renewed(void *user, const struct he2b_control_answer *answer)
{
    he2b_session *session = user;

    session->renew = NULL;
    session->renew_failed = !answer->ok;
    if (answer->ok) {
        he2b_attachment_take(session, answer);
        if (answer->status == 200)
            look_at_deadline(session);
    } else {
        int64_t left_ms = session->deadline_ms - he2b_now_ms();

        /* It is tried again; only when half of what was left is gone does it deserve a word. */
        he2b_session_log(session,
                         left_ms < session->renew_left_ms / 2 ? HE2B_LOG_WARNING : HE2B_LOG_INFO,
                         "the lease could not be extended, %lld s are left: %s",
                         (long long)left_ms / 1000, answer->failure.text);
    }
    /* It was paused, or is gone: the next command asks first, and what it hears decides (B-35).
     * That it was resumed is heard here only: to the next one it is running. */
    if (answer->ok && answer->status == 201) {
        begin_anew(session);
    } else if (!answer->ok && answer->failure.code == HE2B_ERR_GONE) {
        session->deadline_ms = 0;
        session->probed = false;
    }
    he2b_session_post(session, LIFE_RENEWED);
}

static void send_renew(void *user)
{
    he2b_session *session = user;

    if (!he2b_lease_may_renew(session))
        return;
    if (!session->renew_failed)
        session->renew_left_ms = session->deadline_ms - he2b_now_ms();
    session->renew_after_ms = he2b_now_ms() + session->renew_every_ms;
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
    he2b_events_forget(&session->events, LIFE_RENEWED);
}

/* ---- probe ---- */

static void send_probe(void *user)
{
    he2b_probe_send(user, HE2B_LOOK_PLAIN);
}

static void cancel_call(void *user)
{
    he2b_session *session = user;

    he2b_control_cancel(session->call);
    session->call = NULL;
    he2b_probe_cancel(session);
}

/* ---- those who wait ---- */

static void admit(void *user)
{
    he2b_session *session = user;

    he2b_waiters_tell(session, &session->waiters, he2b_role_gates(session), NULL);
}

static void refuse_waiters(void *user)
{
    he2b_session *session = user;

    he2b_waiters_tell(session, &session->waiters, true, &session->failure);
}

static void fail_waiters(void *user)
{
    he2b_session *session = user;

    he2b_waiters_tell(session, &session->waiters, false, &session->failure);
}

/* ---- the end ---- */

static void report_rest(void *user)
{
    he2b_session *session = user;

    if (!session->endpoint.sandbox_id[0] || (session->scope[0] && !session->attached))
        he2b_teardown_post(session, END_NOTHING);
    else
        he2b_teardown_post(session, he2b_role_settled(session) ? END_PULL : END_NO_PULL);
}

void he2b_lifecycle_cancel(he2b_session *session)
{
    cancel_call(session);
    cancel_renew(session);
    he2b_control_cancel(session->deadline_look);
    session->deadline_look = NULL;
}

const struct he2b_lifecycle_actions he2b_lifecycle_actions = {
#define HE2B_X(name) .name = name,
    HE2B_LIFECYCLE_ACTIONS(HE2B_X)
#undef HE2B_X
};
