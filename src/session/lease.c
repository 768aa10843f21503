#include "session/session.h"

enum {
    LEASE_LEAST_S = 60,
};

/* A thousand years: guards sums of times, which are 64 bits wide, and no plan's maximum (B-33). */
static const int64_t limit_max_ms = 1000LL * 366 * 86400 * 1000;

int64_t he2b_lease_need(const he2b_session *session, int64_t timeout_ms)
{
    if (timeout_ms < 0)
        timeout_ms = 0;
    if (timeout_ms > limit_max_ms)
        timeout_ms = limit_max_ms;
    return timeout_ms + (int64_t)session->settings.command_grace_seconds * 1000;
}

int64_t he2b_lease_ask(const he2b_session *session, int64_t need_ms)
{
    int64_t need_s = (need_ms + 999) / 1000 + HE2B_LEASE_MARGIN_MS / 1000;
    int64_t lease = session->settings.lease_seconds;

    if (lease < need_s)
        lease = need_s;
    return lease < LEASE_LEAST_S ? LEASE_LEAST_S : lease;
}

void he2b_lease_set(he2b_session *session, int64_t sent_ms, int64_t lease_s)
{
    int64_t deadline = sent_ms + lease_s * 1000;

    if (deadline > session->deadline_ms)
        session->deadline_ms = deadline;
}

enum he2b_lease_step he2b_lease_step(const he2b_session *session, int64_t need_ms)
{
    int64_t left = session->deadline_ms - he2b_now_ms();

    if (session->doubted)
        return HE2B_LEASE_FIRST;
    if (session->deadline_ms && left >= need_ms)
        return HE2B_LEASE_COVERS;
    return session->deadline_ms && left >= HE2B_LEASE_MARGIN_MS ? HE2B_LEASE_BESIDE
                                                                : HE2B_LEASE_FIRST;
}

bool he2b_lease_lapsed(const he2b_session *session, int64_t need_ms)
{
    int64_t now_ms = he2b_now_ms();

    if (he2b_lease_step(session, need_ms) != HE2B_LEASE_FIRST)
        return false;
    /* One that is still ahead was perhaps asked for just now, in vain: that stops no command. */
    return session->doubted || session->deadline_ms <= now_ms ||
           now_ms >= session->connect_sent_ms + session->renew_every_ms;
}

bool he2b_lease_may_renew(const he2b_session *session)
{
    return !session->renew && he2b_now_ms() >= session->renew_after_ms;
}

/* Is the session where a renewal runs beside commands? While a role prepares for the next one, and
 * after that failed, too: the others run on. */
static bool beside_commands(const he2b_session *session)
{
    switch (session->machine.state) {
    case HE2B_LIFECYCLE_DETACHED:
        return session->endpoint.sandbox_id[0] != '\0';
    case HE2B_LIFECYCLE_PREPARING:
    case HE2B_LIFECYCLE_READY:
        return true;
    default:
        return false;
    }
}

/* When the lease is to be extended for what runs, monotonic; 0: nothing asks for it. */
static int64_t due_ms(const he2b_session *session)
{
    int64_t now_ms = he2b_now_ms();
    int64_t due = 0;

    if (!beside_commands(session) || session->renew)
        return 0;
    if (he2b_commands_unlimited(session))
        due = now_ms + (session->deadline_ms - now_ms) / 2;
    /* The renewal beside its start failed, or was cut short: again, as long as there is a lease. */
    if (he2b_commands_need_until(session) > session->deadline_ms && session->deadline_ms > now_ms)
        due = session->renew_after_ms;
    if (!due)
        return 0;
    if (due < session->renew_after_ms)
        due = session->renew_after_ms;
    return due > now_ms ? due : now_ms + 1;
}

static void on_due(void *arg)
{
    he2b_session *session = arg;
    int64_t need_until_ms = he2b_commands_need_until(session);
    int64_t need_ms = need_until_ms ? need_until_ms - he2b_now_ms() : 0;

    session->lease_due_ms = 0;
    if (beside_commands(session) && he2b_lease_may_renew(session) &&
        (he2b_commands_unlimited(session) || need_until_ms > session->deadline_ms)) {
        session->lease_s = he2b_lease_ask(session, need_ms > 0 ? need_ms : 0);
        he2b_session_post(session, LIFE_RENEW);
    }
    he2b_session_wake(session);
}

void he2b_lease_watch(he2b_session *session)
{
    int64_t due = due_ms(session);

    if (!due) {
        if (session->lease_timer)
            he2b_timer_disarm(session->lease_timer);
        session->lease_due_ms = 0;
        return;
    }
    /* what is armed and comes first is kept: half of what is left moves with each look */
    if (session->lease_due_ms && session->lease_due_ms <= due)
        return;
    if (!session->lease_timer &&
        he2b_timer_new(&session->lease_timer, session->loop, on_due, session) != HE2B_OK)
        return;
    if (he2b_timer_arm(session->lease_timer, due - he2b_now_ms()) == HE2B_OK)
        session->lease_due_ms = due;
}

void he2b_lease_doubt(he2b_session *session)
{
    session->doubted = true;
}
