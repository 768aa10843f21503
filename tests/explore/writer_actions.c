/* The writer chart's actions in the model (src/session/role.c). */
#include "tests/explore/session.h"

static struct session *of(void *user)
{
    return ((struct actor *)user)->session;
}

/* ---- locks and marker ---- */

static void step_elect(void *user)
{
    session_want_step(of(user), STEP_ELECT);
}

static void step_promote(void *user)
{
    session_ask_waiters(of(user));
    session_want_step(of(user), STEP_PROMOTE);
}

static void step_mark(void *user)
{
    session_want_step(of(user), STEP_MARK);
}

static void step_mark_stale(void *user)
{
    session_want_step(of(user), STEP_MARK);
}

static void doubt_sandbox(void *user)
{
    of(user)->lease = LEASE_UNKNOWN;
}

static void step_clear(void *user)
{
    session_want_step(of(user), STEP_CLEAR);
}

static void step_release(void *user)
{
    of(user)->pushed = 0;
    session_want_step(of(user), STEP_RELEASE);
}

static void wait_for_lock(void *user)
{
    of(user)->poll = 1;
}

static void warn_degraded(void *user)
{
    (void)user;
}

/* ---- the sandbox ---- */

static void send_look(void *user)
{
    of(user)->look = LOOK_STAMP;
}

static void send_unstamp(void *user)
{
    struct session *session = of(user);

    session->pushed = 0;
    session->stamp = 0;
    session->look = LOOK_UNSTAMP;
}

static void send_stamp(void *user)
{
    struct actor *actor = user;

    actor->session->stamp = world_new_stamp(actor->world);
    actor->session->look = LOOK_RESTAMP;
}

static void cancel_look(void *user)
{
    session_cancel_look(of(user));
}

/* ---- the caller ---- */

static void want_recover(void *user)
{
    session_want_step(of(user), STEP_RECOVER);
}

static void want_push(void *user)
{
    session_ask_waiters(of(user));
    session_want_step(of(user), STEP_PUSH);
}

static void want_sync(void *user)
{
    session_ask_waiters(of(user));
    session_want_step(of(user), STEP_SYNC);
}

static void forget_step(void *user)
{
    session_forget_step(of(user));
}

/* ---- reports ---- */

static void report_elected(void *user)
{
    life_post(user, LIFE_ELECTED);
}

static void report_prepared(void *user)
{
    /* one that is short was asked for just before, and is all that there is (B-31) */
    life_post(user, of(user)->lease == LEASE_UNKNOWN ? LIFE_LAPSED : LIFE_PREPARED);
}

static void report_refused(void *user)
{
    life_post(user, LIFE_REFUSED);
}

static void report_failed(void *user)
{
    of(user)->probed = 0;
    life_post(user, LIFE_FAILED);
}

static void report_dropped(void *user)
{
    if (of(user)->end.state == HE2B_TEARDOWN_RELEASING)
        end_post(user, END_RELEASED);
    else
        life_post(user, LIFE_DROPPED);
}

static void note_not_ready(void *user)
{
    (void)user;
}

const struct he2b_writer_actions explore_writer_actions = {
#define X(name) .name = name,
    HE2B_WRITER_ACTIONS(X)
#undef X
};
