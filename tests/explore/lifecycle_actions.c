/* The lifecycle chart's actions in the model (src/session/lifecycle.c). */
#include "tests/explore/session.h"

#include <string.h>

static struct session *of(void *user)
{
    return ((struct actor *)user)->session;
}

static void send_create(void *user)
{
    of(user)->call = CALL_CREATE;
}

static void send_connect(void *user)
{
    of(user)->call = CALL_CONNECT;
}

static void send_list(void *user)
{
    of(user)->call = CALL_LIST;
}

static void send_probe(void *user)
{
    of(user)->look = LOOK_PLAIN;
}

static void send_renew(void *user)
{
    of(user)->renew = 1;
}

/* The create goes on; it is only not sent again. */
static void end_create(void *user)
{
    (void)user;
}

static void cancel_call(void *user)
{
    struct session *session = of(user);

    /* A create is never dropped without its outcome: where it is, the server may still do it. */
    if (session->call == CALL_CREATE)
        session_leave_orphan(session, ORPHAN_CREATE, 0);
    session->call = CALL_NONE;
    session_cancel_look(session);
}

static void cancel_renew(void *user)
{
    of(user)->renew = 0;
}

static void note_lease(void *user)
{
    (void)user;
}

static void doubt_sandbox(void *user)
{
    of(user)->lease = LEASE_UNKNOWN;
}

static void forget_sandbox(void *user)
{
    struct session *session = of(user);

    session->sandbox = 0;
    session->own = 0;
    session->attached = 0;
    session->probed = 0;
    session->pushed = 0;
    session->lease = LEASE_UNKNOWN;
    session->made = 0;
    session->whole = 0;
    session->recovered = 0;
    session->snapshot = 0;
    session->boot = 0;
}

/* ---- the role ---- */

static void seek_role(void *user)
{
    writer_post(user, WRITER_SEEK);
}

static void seek_again(void *user)
{
    writer_post(user, WRITER_ASTRAY);
}

static void gate_role(void *user)
{
    writer_post(user, WRITER_GATE);
}

static void prepare_own(void *user)
{
    writer_post(user, WRITER_OWN);
}

static void prepare_made(void *user)
{
    writer_post(user, WRITER_MADE);
}

static void prepare_joined(void *user)
{
    writer_post(user, WRITER_JOINED);
}

static void prepare_rebooted(void *user)
{
    writer_post(user, WRITER_REBOOTED);
}

static void drop_role(void *user)
{
    struct session *session = of(user);

    memset(session->candidates, 0, sizeof(session->candidates));
    if (session->ephemeral) {
        life_post(user, LIFE_DROPPED);
        return;
    }
    session->attached = 0;
    session->probed = 0;
    writer_post(user, WRITER_DROP);
}

/* ---- those who wait ---- */

static void admit(void *user)
{
    struct session *session = of(user);

    session->due = (uint8_t)(session->due + session->asked);
    session->asked = 0;
    if (!session_gates(session)) {
        session->due = (uint8_t)(session->due + session->waiting);
        session->waiting = 0;
    }
}

static void refuse_waiters(void *user)
{
    of(user)->asked = 0;
}

static void fail_waiters(void *user)
{
    of(user)->asked = 0;
    of(user)->waiting = 0;
}

/* Whose sandbox holds what it pushed, and who has nothing on its way: a writer chart that still
 * moves would release the lease before the pull, or take the pull's place on the host. Idle:
 * another push into a sandbox of its own failed. */
static bool settled(const struct session *session)
{
    if (session->writer.state == HE2B_WRITER_OWN_PUSHING ||
        session->writer.state == HE2B_WRITER_OWN_SYNCING)
        return session->pushed && session->end.state == HE2B_TEARDOWN_HURRIED;
    return (session->writer.state == HE2B_WRITER_HOLDING ||
            session->writer.state == HE2B_WRITER_OWN_HOLDING ||
            session->writer.state == HE2B_WRITER_IDLE) &&
           session->pushed && !session->writer_queue.count && !session->step;
}

static void report_rest(void *user)
{
    struct session *session = of(user);
    bool here = session->sandbox && (session->ephemeral ? session->own : session->attached);

    end_post(user, !here ? END_NOTHING : settled(session) ? END_PULL : END_NO_PULL);
}

const struct he2b_lifecycle_actions explore_lifecycle_actions = {
#define X(name) .name = name,
    HE2B_LIFECYCLE_ACTIONS(X)
#undef X
};
