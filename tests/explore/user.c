/* Who wants something of a session, its commands, its process. */
#include "tests/explore/parts.h"

/* ---- the user ---- */

static bool want(struct actor *actor, enum move_kind kind)
{
    struct session *session = actor->session;

    if (session->phase > PHASE_LIVE || session->closing || !session->commands ||
        session->waiting + session->asked + session->running >= actor->world->concurrent)
        return false;
    if (kind != MOVE_WANT && (session->life.state != HE2B_LIFECYCLE_READY ||
                              session->lease != LEASE_COVERS || session->renew))
        return false;
    session->phase = PHASE_LIVE;
    session->commands--;
    session->waiting++;
    if (kind == MOVE_WANT_BESIDE)
        session->lease = LEASE_BESIDE;
    else if (kind == MOVE_WANT_STALE)
        session->lease = LEASE_SHORT;
    return true;
}

static bool cancel(struct actor *actor)
{
    struct session *session = actor->session;

    if (!(session->waiting || session->asked) || !spend(&actor->world->budget.interrupts))
        return false;
    if (session->asked)
        session->asked--;
    else
        session->waiting--;
    return true;
}

static bool close(struct actor *actor)
{
    struct session *session = actor->session;

    if (session->phase != PHASE_LIVE || session->closing)
        return false;
    session->closing = 1;
    end_post(actor, END_CLOSE);
    if (!session_commands_live(session))
        session_close_now(actor);
    return true;
}

static bool abandon_pull(struct actor *actor)
{
    switch (actor->session->end.state) {
    case HE2B_TEARDOWN_OPEN:
    case HE2B_TEARDOWN_DEFERRED:
        if (!actor->session->closing)
            return false;
        break;
    case HE2B_TEARDOWN_RECONNECTING:
    case HE2B_TEARDOWN_PULLING:
        break;
    default:
        return false;
    }
    if (!spend(&actor->world->budget.interrupts))
        return false;
    end_post(actor, END_ABANDONED);
    return true;
}

static bool renew(struct actor *actor)
{
    struct session *session = actor->session;

    if (session->life.state != HE2B_LIFECYCLE_READY || !session->running || session->renew ||
        session->closing)
        return false;
    life_post(actor, LIFE_RENEW);
    return true;
}

/* ---- commands ---- */

static struct sandbox *running_in(struct actor *actor)
{
    struct session *session = actor->session;
    struct sandbox *sandbox = world_sandbox(actor->world, session->run_sandbox);

    if (!session->running || !sandbox || sandbox->state != SANDBOX_RUNNING ||
        sandbox->boot != session->run_boot)
        return NULL;
    return sandbox;
}

static bool command_writes(struct actor *actor)
{
    struct sandbox *sandbox = running_in(actor);

    return sandbox && write_file(actor, sandbox);
}

static void forget_run(struct session *session)
{
    if (session->running)
        return;
    session->run_sandbox = 0;
    session->run_boot = 0;
}

static bool command_ends(struct actor *actor)
{
    struct session *session = actor->session;
    struct sandbox *sandbox = running_in(actor);

    if (!session->running)
        return false;
    if (sandbox && actor->world->leftovers)
        sandbox->leftovers = 1;
    session->running--;
    forget_run(session);
    return true;
}

static bool command_finds_nothing(struct actor *actor)
{
    struct session *session = actor->session;

    if (!session->running || running_in(actor) || session->run_sandbox != session->sandbox)
        return false;
    session->running--;
    forget_run(session);
    session->waiting++;
    life_post(actor, LIFE_VANISHED);
    return true;
}

/* ---- processes ---- */

static bool crash(struct actor *actor)
{
    if (actor->session->phase != PHASE_LIVE || !spend(&actor->world->budget.crashes))
        return false;
    session_crash(actor);
    return true;
}

static bool restart(struct actor *actor)
{
    struct session *session = actor->session;

    if (session->phase < PHASE_CRASHED || !session->commands ||
        !spend(&actor->world->budget.restarts))
        return false;
    session_init(session, session->ephemeral, session->commands);
    return true;
}

bool user_move(struct actor *actor, enum move_kind kind)
{
    switch (kind) {
    case MOVE_WANT:
    case MOVE_WANT_BESIDE:
    case MOVE_WANT_STALE:
        return want(actor, kind);
    case MOVE_CANCEL:
        return cancel(actor);
    case MOVE_RENEW:
        return renew(actor);
    case MOVE_CLOSE:
        return close(actor);
    case MOVE_ABANDON_PULL:
        return abandon_pull(actor);
    case MOVE_WRITE:
        return command_writes(actor);
    case MOVE_END:
        return command_ends(actor);
    case MOVE_NOT_THERE:
        return command_finds_nothing(actor);
    case MOVE_CRASH:
        return crash(actor);
    case MOVE_RESTART:
        return restart(actor);
    default:
        return false;
    }
}
