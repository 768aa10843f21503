/* The actions of the writer chart: who synchronises a persistent scope (B-60 to B-68). */
#include "session/session.h"

#include <string.h>

enum {
    /* As the Python plugin polls the creation lock. */
    LOCK_POLL_MS = 100,
};

bool he2b_role_writes(const he2b_session *session)
{
    switch (session->writer.state) {
    case HE2B_WRITER_IDLE:
    case HE2B_WRITER_CONTENDING:
    case HE2B_WRITER_FOLLOWING:
    case HE2B_WRITER_LOOKING:
    case HE2B_WRITER_GATING:
    case HE2B_WRITER_READING:
    case HE2B_WRITER_PROMOTING:
    case HE2B_WRITER_FAILING:
    case HE2B_WRITER_RELEASING:
        return false;
    default:
        return true;
    }
}

/* The pull is given up before it could begin: no lock hangs on a step that is out for a sandbox of
 * its own, and the kill waits for nobody (B-94, B-96). */
static bool hurries(const he2b_session *session)
{
    return session->teardown.state == HE2B_TEARDOWN_HURRIED;
}

bool he2b_role_settled(const he2b_session *session)
{
    switch (session->writer.state) {
    case HE2B_WRITER_HOLDING:
    case HE2B_WRITER_OWN_HOLDING:
    case HE2B_WRITER_IDLE: /* a sandbox of its own, to which another push failed */
        return session->pushed && session->writer_events.count == 0 && !session->steps.out;
    case HE2B_WRITER_OWN_PUSHING:
    case HE2B_WRITER_OWN_SYNCING:
        /* nobody waited for it, and what is not pulled is said */
        return session->pushed && hurries(session);
    default:
        return false;
    }
}

bool he2b_role_gates(const he2b_session *session)
{
    return session->scope[0] || session->host_state;
}

bool he2b_role_admits(const he2b_session *session)
{
    switch (session->writer.state) {
    case HE2B_WRITER_HOLDING:
    case HE2B_WRITER_READING:
    case HE2B_WRITER_SYNCING:
    case HE2B_WRITER_UNTAINTING:
    case HE2B_WRITER_PROMOTING:
    case HE2B_WRITER_OWN_HOLDING:
    case HE2B_WRITER_OWN_SYNCING:
        return session->writer_events.count == 0;
    default:
        return false;
    }
}

bool he2b_role_syncs(const he2b_session *session)
{
    switch (session->writer.state) {
    case HE2B_WRITER_SYNCING:
    case HE2B_WRITER_TAINTING:
    case HE2B_WRITER_UNTAINTING:
        return session->pushed;
    case HE2B_WRITER_OWN_PUSHING:
    case HE2B_WRITER_OWN_SYNCING:
        return session->pushed && !hurries(session);
    default:
        return false;
    }
}

/* ---- locks and marker ---- */

static void step_elect(void *user)
{
    he2b_steps_want(user, HE2B_STEP_ELECT, NULL);
}

static void step_promote(void *user)
{
    he2b_waiters_ask(user);
    he2b_steps_want(user, HE2B_STEP_PROMOTE, NULL);
}

static void step_mark(void *user)
{
    he2b_steps_want(user, HE2B_STEP_MARK, "a writer is taking over");
}

static void step_mark_stale(void *user)
{
    he2b_steps_want(user, HE2B_STEP_MARK, "the last state sync failed");
}

static void doubt_sandbox(void *user)
{
    he2b_lease_doubt(user);
}

static void step_clear(void *user)
{
    he2b_steps_want(user, HE2B_STEP_CLEAR, NULL);
}

static void step_release(void *user)
{
    he2b_session *session = user;

    /* nothing is waited for any more: a poll would come into the next search */
    if (session->lock_timer)
        he2b_timer_disarm(session->lock_timer);
    he2b_events_forget(&session->writer_events, WRITER_POLL);
    session->pushed = false;
    he2b_steps_want(session, HE2B_STEP_RELEASE, NULL);
}

static void on_poll(void *arg)
{
    he2b_writer_post(arg, WRITER_POLL);
}

static void wait_for_lock(void *user)
{
    he2b_session *session = user;

    if ((!session->lock_timer &&
         he2b_timer_new(&session->lock_timer, session->loop, on_poll, session) != HE2B_OK) ||
        he2b_timer_arm(session->lock_timer, LOCK_POLL_MS) != HE2B_OK) {
        he2b_failure_set(&session->failure, NULL, HE2B_ERR_NOMEM, 0, "wait for the creation lock",
                         NULL, "%s", he2b_strerror(HE2B_ERR_NOMEM));
        he2b_writer_post(session, WRITER_FAILED);
    }
}

static void warn_degraded(void *user)
{
    he2b_session *session = user;

    if (session->steps.warned_lock)
        return;
    session->steps.warned_lock = true;
    he2b_session_log(session, HE2B_LOG_WARNING,
                     "%s cannot be locked (%s): concurrent same-scope persistent sessions are NOT "
                     "SUPPORTED here and not protected; a single session is unaffected",
                     session->steps.host->files.writer_lock, strerror(session->step_error));
}

/* ---- the sandbox ---- */

/* What is in the sandbox is not what this session pushed, or not known to be. */
static void forget_stamp(he2b_session *session)
{
    session->stamp[0] = '\0';
    session->pushed_into[0] = '\0';
}

static void send_look(void *user)
{
    he2b_session *session = user;
    bool made = session->writer.state == HE2B_WRITER_MARKING_MADE;

    if (made && !session->host_state) {
        /* Nothing is to be pushed: home and tools are learnt, and the stamp written, in one. */
        if (he2b_attempt_token(session->stamp) == HE2B_OK) {
            he2b_probe_send(session, HE2B_LOOK_RESTAMP);
            return;
        }
    }
    if (made)
        forget_stamp(session); /* that was another sandbox's */
    he2b_probe_send(session, HE2B_LOOK_STAMP);
}

static void send_unstamp(void *user)
{
    he2b_session *session = user;

    session->pushed = false;
    forget_stamp(session);
    he2b_probe_send(session, HE2B_LOOK_UNSTAMP);
}

/* B-75: the hash of the manifest that was pushed; a token where there is none. */
static int choose_stamp(he2b_session *session)
{
    if (!session->pushed_into[0] || strcmp(session->pushed_into, session->endpoint.sandbox_id) != 0)
        return he2b_attempt_token(session->stamp);
    memcpy(session->stamp, session->manifest_hash, sizeof(session->manifest_hash));
    return HE2B_OK;
}

static void send_stamp(void *user)
{
    he2b_session *session = user;
    int error;

    if (session->stamp[0]) {
        /* the push has brought it */
        he2b_writer_post(session, WRITER_STAMPED);
        return;
    }
    error = choose_stamp(session);
    if (error) {
        he2b_failure_set(&session->failure, NULL, error, 0, "stamp sandbox", NULL, "%s",
                         he2b_strerror(error));
        he2b_writer_post(session, WRITER_FAILED);
        return;
    }
    he2b_probe_send(session, HE2B_LOOK_RESTAMP);
}

static void cancel_look(void *user)
{
    he2b_probe_cancel(user);
}

/* ---- the caller ---- */

static void want_recover(void *user)
{
    he2b_steps_want(user, HE2B_STEP_RECOVER, NULL);
}

static void want_push(void *user)
{
    he2b_waiters_ask(user);
    he2b_steps_want(user, HE2B_STEP_PUSH, NULL);
}

static void want_sync(void *user)
{
    he2b_waiters_ask(user);
    he2b_steps_want(user, HE2B_STEP_SYNC, NULL);
}

/* Its answer, if it ever comes, means nothing any more. */
static void forget_step(void *user)
{
    he2b_steps_forget_callers(user);
}

/* ---- reports ---- */

static void report_elected(void *user)
{
    he2b_session_post(user, LIFE_ELECTED);
}

static void report_prepared(void *user)
{
    he2b_session *session = user;
    int64_t need_ms = he2b_waiters_need(session->waiters);

    /* Without Hermes state nobody's command can have missed a change of it. */
    if (!session->host_state && session->writer.state != HE2B_WRITER_PROMOTING)
        he2b_waiters_ask(session);
    if (he2b_lease_lapsed(session, need_ms)) {
        session->lease_s = he2b_lease_ask(session, need_ms);
        he2b_session_post(session, LIFE_LAPSED);
    } else {
        he2b_session_post(session, LIFE_PREPARED);
    }
}

static void report_refused(void *user)
{
    he2b_session_post(user, LIFE_REFUSED);
}

static void report_failed(void *user)
{
    he2b_session *session = user;

    /* whoever comes next begins with a look into the sandbox, and not with a sync */
    session->probed = false;
    he2b_session_post(session, LIFE_FAILED);
}

static void report_dropped(void *user)
{
    he2b_session *session = user;

    if (session->teardown.state == HE2B_TEARDOWN_RELEASING)
        he2b_teardown_post(session, END_RELEASED);
    else
        he2b_session_post(session, LIFE_DROPPED);
}

static void note_not_ready(void *user)
{
    he2b_session *session = user;
    struct he2b_secrets secrets;

    he2b_session_secrets(session, &secrets);
    he2b_failure_set(&session->failure, &secrets, HE2B_ERR_NOT_READY, 0, "use sandbox",
                     "try again in a moment; if it lasts, look into the log of the session that is "
                     "the writer",
                     "sandbox %s is not ready: this scope's Hermes state is being rebuilt or is "
                     "known to be stale",
                     session->endpoint.sandbox_id);
}

const struct he2b_writer_actions he2b_writer_actions = {
#define HE2B_X(name) .name = name,
    HE2B_WRITER_ACTIONS(HE2B_X)
#undef HE2B_X
};
