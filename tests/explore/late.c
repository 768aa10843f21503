/* What the server does although nobody waits for it any more. */
#include "tests/explore/parts.h"

#include <string.h>

static void land(struct actor *actor, const struct orphan *orphan, struct sandbox *sandbox)
{
    if (orphan->kind == ORPHAN_UNSTAMP) {
        sandbox->stamp = 0;
    } else if (orphan->kind == ORPHAN_RESTAMP) {
        sandbox->stamp = orphan->what;
        sandbox->stamped = 1;
    } else if (orphan->what && orphan->what != sandbox->file) {
        rules_overwrite(actor->world, sandbox, EXCUSE_LATE_PUSH, actor->verdict);
        sandbox->file = orphan->what;
    }
}

static bool orphan_happens(struct actor *actor, size_t which)
{
    struct session *session = actor->session;
    struct orphan orphan = session->orphans[which];
    struct sandbox *sandbox = world_sandbox(actor->world, orphan.sandbox);
    size_t i;

    if (!orphan.kind)
        return false;
    if (orphan.kind == ORPHAN_CREATE) {
        uint8_t number = world_make(actor->world, session->ephemeral);

        if (!number)
            return false;
        if (session->phase == PHASE_LIVE)
            session->makes |= (uint8_t)(1u << (number - 1));
    } else {
        if (sandbox->state != SANDBOX_RUNNING)
            return false;
        land(actor, &orphan, sandbox);
    }
    for (i = which + 1; i < ORPHANS_MAX; i++)
        session->orphans[i - 1] = session->orphans[i];
    memset(&session->orphans[ORPHANS_MAX - 1], 0, sizeof(orphan));
    return true;
}

bool late_move(struct actor *actor, enum move_kind kind)
{
    switch (kind) {
    case MOVE_ORPHAN_1:
        return orphan_happens(actor, 0);
    case MOVE_ORPHAN_2:
        return orphan_happens(actor, 1);
    default:
        return false;
    }
}
