#include "session/session.h"

enum {
    LEASE_LEAST_S = 60,
    RENEW_EVERY_MS = 30000,
};

int64_t he2b_lease_need(const he2b_session *session, int64_t timeout_ms)
{
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

    if (session->deadline_ms && left >= need_ms)
        return HE2B_LEASE_COVERS;
    return session->deadline_ms && left >= HE2B_LEASE_MARGIN_MS ? HE2B_LEASE_BESIDE
                                                                : HE2B_LEASE_FIRST;
}

bool he2b_lease_may_renew(const he2b_session *session)
{
    return !session->renew && he2b_now_ms() >= session->renew_after_ms;
}

static void on_half(void *arg)
{
    he2b_session *session = arg;

    if (session->machine.state == HE2B_LIFECYCLE_READY && he2b_commands_unlimited(session) &&
        he2b_lease_may_renew(session)) {
        session->lease_s = he2b_lease_ask(session, 0);
        he2b_session_post(session, LIFE_RENEW);
    }
    he2b_lease_watch(session);
}

void he2b_lease_watch(he2b_session *session)
{
    int64_t left = session->deadline_ms - he2b_now_ms();

    if (session->machine.state != HE2B_LIFECYCLE_READY || !he2b_commands_unlimited(session)) {
        if (session->lease_timer)
            he2b_timer_disarm(session->lease_timer);
        return;
    }
    if (!session->lease_timer &&
        he2b_timer_new(&session->lease_timer, session->loop, on_half, session) != HE2B_OK)
        return;
    if (!he2b_timer_armed(session->lease_timer))
        (void)he2b_timer_arm(session->lease_timer,
                             left / 2 > RENEW_EVERY_MS ? left / 2 : RENEW_EVERY_MS);
}
