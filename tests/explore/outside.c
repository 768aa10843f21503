/* What nobody of us does: pauses, ends, left-over processes, the user at the host's files. */
#include "tests/explore/parts.h"

#include <string.h>

static void lose(struct sandbox *sandbox)
{
    memset(sandbox, 0, sizeof(*sandbox));
    sandbox->state = SANDBOX_GONE;
}

static bool pause_sandbox(struct world *world, struct sandbox *sandbox, bool back,
                          struct verdict *verdict)
{
    if (sandbox->state != SANDBOX_RUNNING || sandbox->ephemeral || !spend(&world->budget.pauses) ||
        (back && !spend(&world->budget.rollbacks)))
        return false;
    sandbox->state = SANDBOX_PAUSED;
    sandbox->leftovers = 0;
    if (back) {
        if (sandbox->file != sandbox->kept_file)
            rules_overwrite(world, sandbox, EXCUSE_ROLLBACK, verdict);
        if (sandbox->stamp != sandbox->kept_stamp)
            sandbox->rolled = 1;
        sandbox->file = sandbox->kept_file;
        sandbox->stamp = sandbox->kept_stamp;
    } else if (world->budget.rollbacks && world->budget.pauses) {
        sandbox->kept_file = sandbox->file;
        sandbox->kept_stamp = sandbox->stamp;
    }
    return true;
}

static bool vanish(struct world *world, struct sandbox *sandbox, struct verdict *verdict)
{
    if ((sandbox->state != SANDBOX_RUNNING && sandbox->state != SANDBOX_PAUSED) ||
        !spend(&world->budget.vanishes))
        return false;
    rules_overwrite(world, sandbox, EXCUSE_VANISHED, verdict);
    lose(sandbox);
    return true;
}

static bool edit(struct world *world)
{
    if (!spend(&world->budget.edits))
        return false;
    world->host = world_new_version(world);
    world_settle(world, world->host);
    return true;
}

bool outside_move(struct actor *actor, struct move move)
{
    struct sandbox *sandbox = &actor->world->sandboxes[move.who];

    switch (move.kind) {
    case MOVE_PAUSE:
        return pause_sandbox(actor->world, sandbox, false, actor->verdict);
    case MOVE_ROLL_BACK:
        return pause_sandbox(actor->world, sandbox, true, actor->verdict);
    case MOVE_VANISH:
        return vanish(actor->world, sandbox, actor->verdict);
    case MOVE_LEFTOVER:
        return sandbox->leftovers && write_file(actor, sandbox);
    default:
        return edit(actor->world);
    }
}
