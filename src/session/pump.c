/* The pump of a session: the one place where its charts are stepped, and from which its callers are
 * told. */
#include "session/session.h"

#include <stdlib.h>

/* ---- events ---- */

void he2b_session_wake(he2b_session *session)
{
    he2b_task_schedule(session->pump);
}

void he2b_session_post(he2b_session *session, enum he2b_lifecycle_event event)
{
    he2b_events_post(&session->events, (int)event);
    he2b_session_wake(session);
}

void he2b_writer_post(he2b_session *session, enum he2b_writer_event event)
{
    he2b_events_post(&session->writer_events, (int)event);
    he2b_session_wake(session);
}

void he2b_teardown_post(he2b_session *session, enum he2b_teardown_event event)
{
    he2b_events_post(&session->teardown_events, (int)event);
    he2b_session_wake(session);
}

static bool step_writer(he2b_session *session)
{
    enum he2b_writer_state_id before = session->writer.state;
    unsigned refused = session->writer.refused;
    int event;

    if (!he2b_events_take(&session->writer_events, &event))
        return false;
    he2b_writer_machine_step(&session->writer, (enum he2b_writer_event)event);
    he2b_session_log(session, HE2B_LOG_DEBUG, "role: %s, %s, %s", he2b_writer_state_name(before),
                     he2b_writer_event_name((enum he2b_writer_event)event),
                     session->writer.refused != refused
                         ? "refused"
                         : he2b_writer_state_name(session->writer.state));
    return true;
}

static bool step_teardown(he2b_session *session)
{
    enum he2b_teardown_state_id before = session->teardown.state;
    unsigned refused = session->teardown.refused;
    int event;

    if (!he2b_events_take(&session->teardown_events, &event))
        return false;
    he2b_teardown_machine_step(&session->teardown, (enum he2b_teardown_event)event);
    he2b_session_log(session, HE2B_LOG_DEBUG, "end: %s, %s, %s", he2b_teardown_state_name(before),
                     he2b_teardown_event_name((enum he2b_teardown_event)event),
                     session->teardown.refused != refused
                         ? "refused"
                         : he2b_teardown_state_name(session->teardown.state));
    return true;
}

static bool step_session(he2b_session *session)
{
    enum he2b_lifecycle_state_id before = session->machine.state;
    unsigned refused = session->machine.refused;
    int event;

    if (!he2b_events_take(&session->events, &event))
        return false;
    he2b_lifecycle_machine_step(&session->machine, (enum he2b_lifecycle_event)event);
    he2b_session_log(
        session, HE2B_LOG_DEBUG, "session: %s, %s, %s", he2b_lifecycle_state_name(before),
        he2b_lifecycle_event_name((enum he2b_lifecycle_event)event),
        session->machine.refused != refused ? "refused"
                                            : he2b_lifecycle_state_name(session->machine.state));
    return true;
}

/* ---- what is to be begun ---- */

/* Nothing is begun any more for who still waits: closing creates nothing (B-90). A sync that is on
 * its way comes first, as a command does: the pull begins with a writer at rest. */
static bool may_close(const he2b_session *session)
{
    return session->closing && !he2b_commands_live(session) && !session->events.count &&
           !session->writer_events.count &&
           (session->machine.state != HE2B_LIFECYCLE_PREPARING || !he2b_role_syncs(session));
}

static void close_now(he2b_session *session)
{
    if (session->close_sent)
        return;
    session->close_sent = true;
    he2b_failure_set(&session->failure, NULL, HE2B_ERR_CLOSED, 0, "use session", NULL, "%s",
                     he2b_strerror(HE2B_ERR_CLOSED));
    he2b_session_post(session, LIFE_CLOSE);
}

static void consider_detached(he2b_session *session)
{
    session->lease_s = he2b_lease_ask(session, he2b_waiters_need(session->waiters));
    if (session->scope[0])
        he2b_session_post(session, LIFE_WANT_SCOPE);
    else
        he2b_session_post(session, session->endpoint.sandbox_id[0] ? LIFE_WANT_OLD : LIFE_WANT_NEW);
}

static void consider_ready(he2b_session *session)
{
    enum he2b_lease_step lease = he2b_lease_step(session, he2b_waiters_need(session->waiters));

    if (lease != HE2B_LEASE_COVERS)
        session->lease_s = he2b_lease_ask(session, he2b_waiters_need(session->waiters));
    if (lease == HE2B_LEASE_FIRST) {
        he2b_session_post(session, LIFE_STALE);
        return;
    }
    he2b_session_post(session, he2b_role_gates(session) ? LIFE_WANT_GATE : LIFE_WANT);
    if (lease == HE2B_LEASE_BESIDE && he2b_lease_may_renew(session))
        he2b_session_post(session, LIFE_RENEW);
}

/* A search of which nobody hears keeps no other session from the role (B-64). */
static bool searching(const he2b_session *session)
{
    switch (session->machine.state) {
    case HE2B_LIFECYCLE_ELECTING:
    case HE2B_LIFECYCLE_LOOKING_UP:
        return true;
    case HE2B_LIFECYCLE_CONNECTING:
        return session->scope[0] && !session->attached;
    default:
        return false;
    }
}

/* What somebody who waits, or the wish to close, makes of a session that is at rest. */
static void consider(he2b_session *session)
{
    if (may_close(session))
        close_now(session);
    else if (session->waiters && session->machine.state == HE2B_LIFECYCLE_DETACHED)
        consider_detached(session);
    else if (session->waiters && session->machine.state == HE2B_LIFECYCLE_READY)
        consider_ready(session);
    else if (!session->waiters && searching(session))
        he2b_session_post(session, LIFE_ABANDONED);
}

/* ---- a turn ---- */

/* The callbacks of those who wait: outside every chart, and free to call anything. */
static void tell_due(he2b_session *session)
{
    while (session->due && !session->deleted) {
        struct he2b_waiter *waiter = session->due;

        session->due = waiter->next;
        waiter->fn(waiter->user, waiter->failed ? &waiter->failure : NULL);
        free(waiter);
    }
}

void he2b_session_pump(void *arg)
{
    he2b_session *session = arg;

    session->pumping = true;
    while (step_teardown(session) || step_session(session) || step_writer(session) ||
           he2b_commands_step(session)) {
    }
    tell_due(session);
    if (!session->deleted)
        he2b_commands_deliver(session);
    if (!session->deleted)
        he2b_steps_hand_out(session);
    if (!session->deleted) {
        consider(session);
        he2b_lease_watch(session);
    }
    session->pumping = false;
    if (session->deleted)
        he2b_session_free(session);
}

void he2b_session_consider_close(he2b_session *session)
{
    if (may_close(session))
        close_now(session);
}
