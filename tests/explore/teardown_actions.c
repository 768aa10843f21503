/* The teardown chart's actions in the model (src/session/teardown.c). */
#include "tests/explore/session.h"

static struct session *of(void *user)
{
    return ((struct actor *)user)->session;
}

static void rest(void *user)
{
    (void)user;
}

static void reconnect(void *user)
{
    of(user)->call = CALL_RECONNECT;
}

static void cancel_call(void *user)
{
    of(user)->call = CALL_NONE;
}

static void want_pull(void *user)
{
    session_want_step(of(user), STEP_PULL);
}

/* The pull that is out belongs to nobody any more (src/session/step.c:
 * he2b_steps_forget_callers). */
static void report_unpulled(void *user)
{
    of(user)->unpulled = 1;
    session_forget_step(of(user));
}

static void clean(void *user)
{
    end_post(user, of(user)->own ? END_KILL : END_KEEP);
}

static void send_kill(void *user)
{
    of(user)->tried = 1;
    of(user)->call = CALL_KILL;
}

static void release(void *user)
{
    if (session_gates(of(user)))
        writer_post(user, WRITER_DROP);
    else
        end_post(user, END_RELEASED);
}

static void report_closed(void *user)
{
    (void)user;
}

const struct he2b_teardown_actions explore_teardown_actions = {
#define X(name) .name = name,
    HE2B_TEARDOWN_ACTIONS(X)
#undef X
};
