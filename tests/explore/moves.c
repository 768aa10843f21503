#include "tests/explore/parts.h"

#include <stdio.h>

/* ---- names ---- */

static const char *const texts[] = {
#define X(name, text) [MOVE_##name] = text,
    EXPLORE_SESSION_MOVES(X) EXPLORE_SANDBOX_MOVES(X) EXPLORE_HOST_MOVES(X)
#undef X
};

static const char *subject(const struct session *session, enum move_kind kind)
{
    static const char *const calls[] = {"?", "list", "create", "connect", "reconnect", "kill"};
    static const char *const looks[] = {"?", "probe", "look at the stamp", "unstamp", "stamp"};
    static const char *const steps[] = {"?",       "elect",   "promote", "mark", "clear",
                                        "release", "recover", "push",    "sync", "pull"};

    if (kind >= MOVE_CALL_DONE && kind <= MOVE_CALL_LATE)
        return calls[session->call];
    if (kind >= MOVE_LOOK_DONE && kind <= MOVE_LOOK_LATE)
        return looks[session->look];
    if (kind >= MOVE_STEP_DONE && kind <= MOVE_STEP_UNLOCKED)
        return steps[session->step];
    return NULL;
}

static void print(const struct world *world, struct move move, char name)
{
    if (move.kind < MOVE_SESSION_COUNT) {
        const char *what = subject(&world->sessions[move.who], move.kind);

        printf("%c: %s%s%s%s\n", name, what ? what : "", what ? " " : "", texts[move.kind],
               move.hold ? " (the pump has not run yet)" : "");
    } else if (move.kind < MOVE_SANDBOX_END) {
        printf("sandbox %d %s\n", move.who + 1, texts[move.kind]);
    } else {
        printf("%s\n", texts[move.kind]);
    }
}

/* ---- for all of them ---- */

bool spend(uint8_t *budget)
{
    if (!*budget)
        return false;
    --*budget;
    return true;
}

bool spend_fault(struct actor *actor)
{
    return spend(&actor->world->budget.faults);
}

bool spend_late(struct actor *actor)
{
    return spend_fault(actor) && spend(&actor->world->budget.late);
}

bool write_file(struct actor *actor, struct sandbox *sandbox)
{
    if (!spend(&actor->world->budget.writes))
        return false;
    sandbox->file = world_new_version(actor->world);
    return true;
}

/* ---- all of them ---- */

/* Saves the trouble of trying it. */
static bool out_of_place(const struct session *session, enum move_kind kind)
{
    if (kind <= MOVE_WANT_STALE)
        return session->phase > PHASE_LIVE || !session->commands;
    if (kind == MOVE_RESTART)
        return session->phase < PHASE_CRASHED;
    if (kind == MOVE_ORPHAN_1 || kind == MOVE_ORPHAN_2)
        return !session->orphans[kind - MOVE_ORPHAN_1].kind;
    if (session->phase != PHASE_LIVE)
        return true;
    if (kind >= MOVE_CALL_DONE && kind <= MOVE_CALL_LATE)
        return !session->call;
    if (kind >= MOVE_RENEW_DONE && kind <= MOVE_RENEW_LOST)
        return !session->renew;
    if (kind >= MOVE_LOOK_DONE && kind <= MOVE_LOOK_LATE)
        return !session->look;
    if (kind >= MOVE_STEP_DONE && kind <= MOVE_STEP_UNLOCKED)
        return !session->step;
    if (kind >= MOVE_WRITE && kind <= MOVE_NOT_THERE)
        return !session->running;
    return false;
}

/* Nothing but the budget comes of these when the pump has not run. */
static bool may_hold(enum move_kind kind)
{
    return kind != MOVE_WRITE && kind != MOVE_ORPHAN_1 && kind != MOVE_ORPHAN_2 &&
           kind != MOVE_CRASH && kind != MOVE_RESTART;
}

size_t moves_list(const struct world *world, struct move *ret)
{
    size_t n = 0;
    uint8_t who;
    uint8_t kind;

    for (who = 0; who < world->count; who++) {
        if (world->busy && world->busy != who + 1)
            continue;
        for (kind = 0; kind < MOVE_SESSION_COUNT; kind++) {
            if (out_of_place(&world->sessions[who], kind) || (world->busy && !may_hold(kind)))
                continue;
            ret[n++] = (struct move){.kind = kind, .who = who};
            if (!world->busy && world->budget.together && may_hold(kind))
                ret[n++] = (struct move){.kind = kind, .who = who, .hold = 1};
        }
    }
    for (who = 0; !world->busy && who < SANDBOXES_MAX; who++) {
        for (kind = MOVE_SANDBOX_FIRST; kind < MOVE_SANDBOX_END; kind++) {
            if (world->sandboxes[who].state != SANDBOX_NONE)
                ret[n++] = (struct move){.kind = kind, .who = who};
        }
    }
    if (!world->busy && world->budget.edits)
        ret[n++] = (struct move){.kind = MOVE_EDIT};
    return n;
}

static bool session_move(struct actor *actor, enum move_kind kind)
{
    return user_move(actor, kind) || late_move(actor, kind) ||
           (actor->session->phase == PHASE_LIVE &&
            (control_move(actor, kind) || look_move(actor, kind) || step_move(actor, kind)));
}

bool move_do(struct world *world, struct move move, struct verdict *verdict, char name)
{
    struct actor actor = {.world = world, .verdict = verdict, .told = name != '\0'};

    if (name)
        print(world, move, name);
    if (move.kind >= MOVE_SANDBOX_FIRST)
        return outside_move(&actor, move);
    actor.session = &world->sessions[move.who];
    if (!session_move(&actor, move.kind))
        return false;
    if (move.hold) {
        /* A pump that has nothing to feed is no other world. */
        if (!session_has_events(actor.session))
            return false;
        world->budget.together--;
        world->busy = (uint8_t)(move.who + 1);
        return true;
    }
    world->busy = 0;
    if (actor.session->phase == PHASE_LIVE)
        session_pump(&actor);
    return true;
}
