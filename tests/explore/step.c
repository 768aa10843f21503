/* Steps on the host: locks and marker, and what only the caller can do. */
#include "tests/explore/parts.h"

/* ---- steps of the library's own (src/session/host.c) ---- */

static bool taken(struct actor *actor, size_t lock)
{
    uint8_t i;

    for (i = 0; i < actor->world->count; i++) {
        const struct session *other = &actor->world->sessions[i];

        if (other != actor->session && ((const uint8_t *)other)[lock])
            return true;
    }
    return false;
}

static enum he2b_writer_event try_lease(struct actor *actor)
{
    struct session *session = actor->session;

    if (actor->world->lockless) {
        session->alone = 1;
        return WRITER_ALONE;
    }
    if (taken(actor, offsetof(struct session, has_lease)))
        return WRITER_TAKEN;
    session->has_lease = 1;
    return WRITER_WON;
}

static enum he2b_writer_event elect(struct actor *actor, bool patient)
{
    if (!actor->world->lockless) {
        if (!taken(actor, offsetof(struct session, has_creation)))
            actor->session->has_creation = 1;
        else if (patient)
            return WRITER_BUSY;
    }
    return try_lease(actor);
}

static enum he2b_writer_event promote(struct actor *actor)
{
    enum he2b_writer_event event;

    actor->session->has_creation = 0;
    event = try_lease(actor);
    if (event != WRITER_TAKEN)
        return event;
    return actor->world->marker ? WRITER_DIRTY : WRITER_CLEAN;
}

static void release(struct session *session)
{
    session->has_creation = 0;
    session->has_lease = 0;
    session->alone = 0;
    session->recovered = 0;
    session->snapshot = 0;
    session->made = 0;
    session->whole = 0;
    session->stale = 0;
    session->base = 0;
    session->stamp = 0;
}

static enum he2b_writer_event mark(struct actor *actor)
{
    actor->session->has_creation = 0;
    actor->session->recovered = 0;
    actor->session->snapshot = 0;
    actor->session->stale = 0;
    actor->world->marker = 1;
    return WRITER_MARKED;
}

static enum he2b_writer_event do_own(struct actor *actor, enum step_kind kind)
{
    switch (kind) {
    case STEP_ELECT:
        return elect(actor, true);
    case STEP_PROMOTE:
        return promote(actor);
    case STEP_MARK:
        return mark(actor);
    case STEP_CLEAR:
        actor->world->marker = 0;
        actor->session->stale = 0;
        return WRITER_CLEARED;
    default:
        release(actor->session);
        return WRITER_RELEASED;
    }
}

/* ---- steps of the caller ---- */

static void keep(struct world *world, const struct sandbox *sandbox)
{
    world_settle(world, sandbox->file);
}

/* Restored where the host has none, else parked; the same on both sides is neither. */
static void recover(struct actor *actor, struct sandbox *sandbox)
{
    struct world *world = actor->world;

    actor->session->recovered = 1;
    actor->session->snapshot = sandbox->file;
    if (!world->host)
        world->host = sandbox->file;
    keep(world, sandbox);
}

static void overwrite(struct actor *actor, struct sandbox *sandbox, enum excuse why)
{
    if (sandbox->file == actor->world->host)
        return;
    rules_overwrite(actor->world, sandbox, why, actor->verdict);
    sandbox->file = actor->world->host;
}

/* All that the host has, over what is there; it deletes nothing. */
static void push(struct actor *actor, struct sandbox *sandbox)
{
    struct session *session = actor->session;
    bool in_window = session->recovered && session->snapshot != sandbox->file;

    if (actor->world->host)
        overwrite(actor, sandbox, in_window ? EXCUSE_WINDOW : EXCUSE_NONE);
    session->base = actor->world->host;
    session->made = 0;
    sandbox->rolled = 0;
}

/* What the host changed since the last push or sync. */
static void sync(struct actor *actor, struct sandbox *sandbox)
{
    struct session *session = actor->session;

    if (actor->world->host == session->base)
        return;
    overwrite(actor, sandbox, EXCUSE_SYNCED);
    session->base = actor->world->host;
}

/* Hermes' own pull takes what differs from what it pushed; new folders it drops without a word, but
 * an ephemeral session looks after these as well (B-91). */
static void pull(struct actor *actor, struct sandbox *sandbox)
{
    struct world *world = actor->world;

    if (!sandbox->file || sandbox->file == actor->session->base)
        return;
    if (!world->host && !actor->session->ephemeral)
        return;
    if (sandbox->rolled && world->host)
        verdict_excuse(actor->verdict, EXCUSE_STALE_PULL);
    world->host = sandbox->file;
    keep(world, sandbox);
}

static bool do_callers(struct actor *actor, enum step_kind kind)
{
    struct sandbox *sandbox = world_sandbox(actor->world, actor->session->sandbox);

    if (!sandbox || sandbox->state != SANDBOX_RUNNING)
        return false;
    if (kind == STEP_RECOVER)
        recover(actor, sandbox);
    else if (kind == STEP_PUSH)
        push(actor, sandbox);
    else if (kind == STEP_SYNC)
        sync(actor, sandbox);
    else
        pull(actor, sandbox);
    return true;
}

/* ---- outcomes of steps (src/session/step.c) ---- */

enum outcome {
    OUTCOME_DONE,
    OUTCOME_FAILED,
    OUTCOME_ABANDONED,
    OUTCOME_AGAIN,
};

static void report_callers(struct actor *actor, enum step_kind kind, enum outcome outcome)
{
    struct session *session = actor->session;

    if (kind == STEP_PULL) {
        end_post(actor, outcome == OUTCOME_DONE    ? END_PULLED
                        : outcome == OUTCOME_AGAIN ? END_AGAIN
                                                   : END_FAILED);
        return;
    }
    if (outcome != OUTCOME_DONE)
        writer_post(actor, outcome == OUTCOME_ABANDONED ? WRITER_ABANDONED : WRITER_FAILED);
    else
        writer_post(actor, kind == STEP_RECOVER ? WRITER_RECOVERED
                           : kind == STEP_PUSH  ? WRITER_PUSHED
                                                : WRITER_SYNCED);
    if (kind == STEP_SYNC)
        session->stale = outcome == OUTCOME_FAILED;
    if (kind == STEP_PUSH && outcome == OUTCOME_DONE) {
        session->pushed = 1;
        session->whole = 1;
        session->stale = 0;
    }
}

/* The step that is out is answered; true if its outcome still means something. */
static bool step_over(struct session *session)
{
    enum step_kind next = session->step_next;

    session->step = STEP_NONE;
    session->step_next = STEP_NONE;
    if (!next)
        return true;
    session_want_step(session, next);
    session->step_due = 0;
    return false;
}

static bool step_done(struct actor *actor, bool lost)
{
    struct session *session = actor->session;
    enum step_kind kind = session->step;
    enum he2b_writer_event event;

    if (!kind || (lost && (kind < STEP_RECOVER || !spend_fault(actor))))
        return false;
    rules_step(actor->world, session, kind, actor->verdict);
    if (kind >= STEP_RECOVER) {
        if (!do_callers(actor, kind))
            return false;
        if (step_over(session))
            report_callers(actor, kind, lost ? OUTCOME_FAILED : OUTCOME_DONE);
        return true;
    }
    event = do_own(actor, kind);
    if (step_over(session))
        writer_post(actor, event);
    return true;
}

static bool step_failed(struct actor *actor)
{
    struct session *session = actor->session;
    struct sandbox *sandbox = world_sandbox(actor->world, session->sandbox);
    enum step_kind kind = session->step;
    bool there = sandbox && sandbox->state == SANDBOX_RUNNING;

    /* Unlocking cannot fail. */
    if (!kind || kind == STEP_RELEASE)
        return false;
    if ((kind < STEP_RECOVER || there) && !spend_fault(actor))
        return false;
    if (!step_over(session))
        return true;
    /* A marker that cannot be written gives a warning, and goes on without one (B-67). */
    if (kind == STEP_MARK)
        session->stale = 0;
    if (kind >= STEP_RECOVER)
        report_callers(actor, kind, OUTCOME_FAILED);
    else
        writer_post(actor, WRITER_FAILED);
    return true;
}

static bool step_late(struct actor *actor)
{
    struct session *session = actor->session;

    if (!actor->world->late_push || session->step != STEP_PUSH ||
        session->orphans[ORPHANS_MAX - 1].kind || !spend_late(actor))
        return false;
    session_leave_orphan(session, ORPHAN_PUSH, actor->world->host);
    if (step_over(session))
        report_callers(actor, STEP_PUSH, OUTCOME_FAILED);
    return true;
}

static bool step_abandoned(struct actor *actor)
{
    struct session *session = actor->session;
    enum step_kind kind = session->step;

    if (kind < STEP_RECOVER || kind == STEP_PULL || !spend(&actor->world->budget.interrupts))
        return false;
    if (step_over(session))
        report_callers(actor, kind, OUTCOME_ABANDONED);
    return true;
}

static bool step_again(struct actor *actor)
{
    struct session *session = actor->session;

    if (session->step != STEP_PULL || !spend_fault(actor))
        return false;
    if (step_over(session))
        report_callers(actor, STEP_PULL, OUTCOME_AGAIN);
    return true;
}

static bool step_unlocked(struct actor *actor)
{
    struct session *session = actor->session;
    enum he2b_writer_event event;

    if (session->step != STEP_ELECT || actor->world->lockless ||
        !taken(actor, offsetof(struct session, has_creation)) || !spend_fault(actor))
        return false;
    event = elect(actor, false);
    if (step_over(session))
        writer_post(actor, event);
    return true;
}

static bool poll(struct actor *actor)
{
    if (!actor->session->poll)
        return false;
    actor->session->poll = 0;
    writer_post(actor, WRITER_POLL);
    return true;
}

bool step_move(struct actor *actor, enum move_kind kind)
{
    switch (kind) {
    case MOVE_STEP_DONE:
        return step_done(actor, false);
    case MOVE_STEP_FAILED:
        return step_failed(actor);
    case MOVE_STEP_LOST:
        return step_done(actor, true);
    case MOVE_STEP_LATE:
        return step_late(actor);
    case MOVE_STEP_ABANDONED:
        return step_abandoned(actor);
    case MOVE_STEP_AGAIN:
        return step_again(actor);
    case MOVE_STEP_UNLOCKED:
        return step_unlocked(actor);
    case MOVE_POLL:
        return poll(actor);
    default:
        return false;
    }
}
