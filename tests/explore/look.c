/* Looks into the sandbox: probe, stamp (src/session/probe.c). */
#include "tests/explore/parts.h"

/* What the daemon does; false: there is none that could. */
static bool serve_look(struct actor *actor)
{
    struct session *session = actor->session;
    struct sandbox *sandbox = world_sandbox(actor->world, session->sandbox);

    if (!sandbox || sandbox->state != SANDBOX_RUNNING)
        return false;
    rules_look(actor->world, session, actor->verdict);
    if (session->look == LOOK_UNSTAMP) {
        sandbox->stamp = 0;
    } else if (session->look == LOOK_RESTAMP) {
        sandbox->stamp = session->stamp;
        sandbox->stamped = 1;
    }
    return true;
}

static bool look_done(struct actor *actor)
{
    struct session *session = actor->session;
    enum look_kind look = session->look;
    uint8_t found;

    if (!look || !serve_look(actor))
        return false;
    found = world_sandbox(actor->world, session->sandbox)->stamp;
    session->look = LOOK_NONE;
    session->probed = 1;
    switch (look) {
    case LOOK_UNSTAMP:
        writer_post(actor, WRITER_UNSTAMPED);
        break;
    case LOOK_RESTAMP:
        writer_post(actor, WRITER_STAMPED);
        break;
    case LOOK_STAMP:
        /* A writer's must be that of its own last push (B-35), a reader's is anybody's. */
        if (session_writes(session))
            found = found == session->stamp ? found : 0;
        writer_post(actor, found ? WRITER_STAMPED : WRITER_LOOKED);
        break;
    default:
        life_post(actor, session_gates(session) ? LIFE_OWNED : LIFE_PROBED);
        break;
    }
    return true;
}

static void look_fails(struct actor *actor)
{
    if (actor->session->look == LOOK_PLAIN)
        life_post(actor, LIFE_FAILED);
    else
        writer_post(actor, WRITER_FAILED);
    actor->session->look = LOOK_NONE;
}

static bool look_failed(struct actor *actor)
{
    struct sandbox *sandbox = world_sandbox(actor->world, actor->session->sandbox);
    bool there = sandbox && sandbox->state == SANDBOX_RUNNING;

    if (!actor->session->look || (there && !spend_fault(actor)))
        return false;
    look_fails(actor);
    return true;
}

static bool look_lost(struct actor *actor)
{
    if (actor->session->look < LOOK_UNSTAMP || !spend_fault(actor) || !serve_look(actor))
        return false;
    look_fails(actor);
    return true;
}

static bool look_late(struct actor *actor)
{
    struct session *session = actor->session;

    if (session->look < LOOK_UNSTAMP || session->orphans[ORPHANS_MAX - 1].kind ||
        !spend_late(actor))
        return false;
    if (session->look == LOOK_UNSTAMP)
        session_leave_orphan(session, ORPHAN_UNSTAMP, 0);
    else
        session_leave_orphan(session, ORPHAN_RESTAMP, session->stamp);
    look_fails(actor);
    return true;
}

bool look_move(struct actor *actor, enum move_kind kind)
{
    switch (kind) {
    case MOVE_LOOK_DONE:
        return look_done(actor);
    case MOVE_LOOK_FAILED:
        return look_failed(actor);
    case MOVE_LOOK_LOST:
        return look_lost(actor);
    case MOVE_LOOK_LATE:
        return look_late(actor);
    default:
        return false;
    }
}
