/* The control plane: list, create, connect, kill, and the renewal beside. */
#include "tests/explore/parts.h"

#include <string.h>

/* ---- control calls ---- */

static void attach_to(struct session *session, const struct sandbox *sandbox)
{
    session->boot = sandbox->boot;
    session->probed = 0;
}

static void list_done(struct actor *actor)
{
    struct session *session = actor->session;
    size_t n = 0;
    int i;

    memset(session->candidates, 0, sizeof(session->candidates));
    for (i = SANDBOXES_MAX - 1; i >= 0; i--) {
        const struct sandbox *sandbox = &actor->world->sandboxes[i];

        if (!sandbox->ephemeral &&
            (sandbox->state == SANDBOX_RUNNING || sandbox->state == SANDBOX_PAUSED))
            session->candidates[n++] = (uint8_t)(i + 1);
    }
    if (session_next_candidate(session))
        life_post(actor, LIFE_FOUND);
    else
        session_absent(actor);
}

static bool create_done(struct actor *actor)
{
    struct session *session = actor->session;
    uint8_t number = world_make(actor->world, session->ephemeral);

    if (!number)
        return false;
    session->sandbox = number;
    session->makes |= (uint8_t)(1u << (number - 1));
    session->own = session->ephemeral;
    session->attached = !session->ephemeral;
    session->made = !session->ephemeral;
    session->lease = LEASE_COVERS;
    attach_to(session, world_sandbox(actor->world, number));
    life_post(actor, session->ephemeral ? LIFE_CREATED : LIFE_MADE);
    return true;
}

/* The server's part of a connect: 200, 201, or 404. */
static int serve_connect(struct sandbox *sandbox)
{
    if (sandbox->state == SANDBOX_RUNNING)
        return 200;
    if (sandbox->state != SANDBOX_PAUSED)
        return 404;
    sandbox->state = SANDBOX_RUNNING;
    sandbox->boot = (uint8_t)((sandbox->boot + 1) % 4);
    return 201;
}

static void connect_missed(struct actor *actor)
{
    struct session *session = actor->session;

    if (session->ephemeral)
        life_post(actor, session->own ? LIFE_GONE : LIFE_FAILED);
    else if (session->attached)
        life_post(actor, LIFE_ASTRAY);
    else if (session_next_candidate(session))
        life_post(actor, LIFE_NEXT);
    else
        session_absent(actor);
}

/* It runs, and was looked into before. */
static enum he2b_lifecycle_event still(const struct session *session)
{
    return session_gates(session) ? LIFE_SAME : LIFE_ATTACHED;
}

static void connect_done(struct actor *actor)
{
    struct session *session = actor->session;
    struct sandbox *sandbox = world_sandbox(actor->world, session->sandbox);
    bool joined = !session->ephemeral && !session->attached;
    int status = serve_connect(sandbox);

    if (status == 404) {
        connect_missed(actor);
        return;
    }
    session->lease = LEASE_COVERS;
    memset(session->candidates, 0, sizeof(session->candidates));
    if (status == 201 || joined || !session->probed)
        attach_to(session, sandbox);
    if (joined) {
        session->attached = 1;
        life_post(actor, LIFE_JOINED);
    } else if (session->ephemeral) {
        life_post(actor, session->probed ? still(session) : LIFE_CONNECTED);
    } else {
        life_post(actor, session->probed ? LIFE_SAME : LIFE_REBOOTED);
    }
}

static void reconnect_done(struct actor *actor)
{
    struct sandbox *sandbox = world_sandbox(actor->world, actor->session->sandbox);

    end_post(actor, serve_connect(sandbox) == 404 ? END_FAILED : END_CONNECTED);
}

static void serve_kill(struct actor *actor)
{
    struct session *session = actor->session;
    struct sandbox *sandbox = world_sandbox(actor->world, session->sandbox);

    rules_kill(actor->world, session, actor->verdict);
    if (sandbox->state == SANDBOX_GONE)
        return;
    rules_overwrite(actor->world, sandbox, session->unpulled ? EXCUSE_KILLED : EXCUSE_NONE,
                    actor->verdict);
    memset(sandbox, 0, sizeof(*sandbox));
    sandbox->state = SANDBOX_GONE;
}

static bool call_done(struct actor *actor)
{
    struct session *session = actor->session;
    enum call_kind call = session->call;

    session->call = CALL_NONE;
    switch (call) {
    case CALL_LIST:
        list_done(actor);
        return true;
    case CALL_CREATE:
        return create_done(actor);
    case CALL_CONNECT:
        connect_done(actor);
        return true;
    case CALL_RECONNECT:
        reconnect_done(actor);
        return true;
    case CALL_KILL:
        serve_kill(actor);
        session->own = 0;
        session->killed = 1;
        end_post(actor, END_KILLED);
        return true;
    default:
        return false;
    }
}

static void call_fails(struct actor *actor, bool ahead)
{
    struct session *session = actor->session;
    enum call_kind call = session->call;

    session->call = CALL_NONE;
    if (call == CALL_KILL)
        end_post(actor, END_KILLED);
    else if (call == CALL_RECONNECT)
        end_post(actor, END_FAILED);
    else if (ahead)
        life_post(actor, still(session));
    else
        life_post(actor, LIFE_FAILED);
}

/* Trouble on the way to a sandbox that is known, with time left (B-31). */
static bool may_go_on(const struct session *session)
{
    return session->call == CALL_CONNECT && session->probed &&
           (session->ephemeral || session->attached) && session->lease != LEASE_UNKNOWN;
}

static bool call_failed(struct actor *actor, bool ahead)
{
    if (!actor->session->call || (ahead && !may_go_on(actor->session)) || !spend_fault(actor))
        return false;
    call_fails(actor, ahead);
    return true;
}

static bool call_lost(struct actor *actor, bool ahead)
{
    struct session *session = actor->session;
    struct sandbox *sandbox = world_sandbox(actor->world, session->sandbox);

    /* A list changes nothing, and what a lost create made is CALL_LATE. */
    if (session->call < CALL_CONNECT || (ahead && !may_go_on(session)) || !spend_fault(actor))
        return false;
    if (session->call == CALL_KILL)
        serve_kill(actor);
    else if (sandbox->state != SANDBOX_PAUSED)
        return false;
    else
        serve_connect(sandbox);
    call_fails(actor, ahead);
    return true;
}

static bool call_late(struct actor *actor)
{
    struct session *session = actor->session;

    if (session->call != CALL_CREATE || session->orphans[ORPHANS_MAX - 1].kind ||
        !spend_late(actor))
        return false;
    session_leave_orphan(session, ORPHAN_CREATE, 0);
    call_fails(actor, false);
    return true;
}

/* ---- the renewal beside ---- */

static void renew_over(struct actor *actor, bool ask_anew)
{
    struct session *session = actor->session;

    session->renew = 0;
    if (ask_anew) {
        session->lease = LEASE_UNKNOWN;
        session->probed = 0;
    }
    life_post(actor, LIFE_RENEWED);
}

static bool renew_done(struct actor *actor)
{
    struct sandbox *sandbox = world_sandbox(actor->world, actor->session->sandbox);

    if (!actor->session->renew)
        return false;
    renew_over(actor, serve_connect(sandbox) != 200);
    return true;
}

static bool renew_failed(struct actor *actor, bool lost)
{
    struct sandbox *sandbox = world_sandbox(actor->world, actor->session->sandbox);

    if (!actor->session->renew || (lost && sandbox->state != SANDBOX_PAUSED) || !spend_fault(actor))
        return false;
    if (lost)
        serve_connect(sandbox);
    renew_over(actor, false);
    return true;
}

bool control_move(struct actor *actor, enum move_kind kind)
{
    switch (kind) {
    case MOVE_CALL_DONE:
        return call_done(actor);
    case MOVE_CALL_FAILED:
        return call_failed(actor, false);
    case MOVE_CALL_AHEAD:
        return call_failed(actor, true);
    case MOVE_CALL_LOST:
        return call_lost(actor, false);
    case MOVE_CALL_LOST_AHEAD:
        return call_lost(actor, true);
    case MOVE_CALL_LATE:
        return call_late(actor);
    case MOVE_RENEW_DONE:
        return renew_done(actor);
    case MOVE_RENEW_FAILED:
        return renew_failed(actor, false);
    case MOVE_RENEW_LOST:
        return renew_failed(actor, true);
    default:
        return false;
    }
}
