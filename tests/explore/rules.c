#include "tests/explore/rules.h"

#include "tests/explore/session.h"

#include <string.h>

const char *rule_id(enum rule rule)
{
    static const char *const ids[] = {[RULE_KEPT] = "kept",
#define X(name, id, text) [RULE_##name] = id,
                                      EXPLORE_RULES(X)
#undef X
    };

    return ids[rule];
}

const char *rule_text(enum rule rule)
{
    static const char *const texts[] = {[RULE_KEPT] = "every rule is kept",
#define X(name, id, text) [RULE_##name] = text,
                                        EXPLORE_RULES(X)
#undef X
    };

    return texts[rule];
}

enum rule rule_of(const char *id)
{
    int i;

    for (i = 1; i < RULE_COUNT; i++) {
        if (strcmp(rule_id((enum rule)i), id) == 0)
            return (enum rule)i;
    }
    return RULE_KEPT;
}

const char *excuse_id(enum excuse excuse)
{
    static const char *const ids[] = {[EXCUSE_NONE] = "",
#define X(name, id, kind, text) [EXCUSE_##name] = id,
                                      EXPLORE_EXCUSES(X)
#undef X
    };

    return ids[excuse];
}

enum excuse excuse_of(const char *id)
{
    int i;

    for (i = 1; i < EXCUSE_COUNT; i++) {
        if (strcmp(excuse_id((enum excuse)i), id) == 0)
            return (enum excuse)i;
    }
    return EXCUSE_NONE;
}

const char *excuse_kind(enum excuse excuse)
{
    static const char *const kinds[] = {[EXCUSE_NONE] = "",
#define X(name, id, kind, text) [EXCUSE_##name] = kind,
                                        EXPLORE_EXCUSES(X)
#undef X
    };

    return kinds[excuse];
}

const char *excuse_text(enum excuse excuse)
{
    static const char *const texts[] = {[EXCUSE_NONE] = "",
#define X(name, id, kind, text) [EXCUSE_##name] = text,
                                        EXPLORE_EXCUSES(X)
#undef X
    };

    return texts[excuse];
}

void verdict_break(struct verdict *verdict, enum rule rule)
{
    verdict->broken |= 1u << rule;
}

enum rule verdict_rule(const struct verdict *verdict, uint32_t ignored)
{
    int i;

    for (i = 1; i < RULE_COUNT; i++) {
        if ((verdict->broken & ~ignored) >> i & 1)
            return (enum rule)i;
    }
    return RULE_KEPT;
}

void verdict_excuse(struct verdict *verdict, enum excuse excuse)
{
    verdict->excuses |= 1u << excuse;
}

/* A rule that one session alone cannot keep: counted apart where nothing can be locked. */
static void break_shared(const struct world *world, struct verdict *verdict, enum rule rule)
{
    if (world->lockless)
        verdict_excuse(verdict, EXCUSE_LOCKLESS);
    else
        verdict_break(verdict, rule);
}

/* ---- files ---- */

void rules_overwrite(struct world *world, const struct sandbox *sandbox, enum excuse why,
                     struct verdict *verdict)
{
    if (world_settled(world, sandbox->file))
        return;
    if (why != EXCUSE_NONE)
        verdict_excuse(verdict, why);
    else
        break_shared(world, verdict, RULE_LOST);
}

/* ---- the writer's work ---- */

static bool may_write(const struct session *session)
{
    return session->has_lease || session->alone;
}

/* Nobody else has to be kept away from it. */
static bool is_own_work(const struct session *session, enum step_kind kind)
{
    return session->ephemeral && (kind == STEP_PUSH || kind == STEP_SYNC || kind == STEP_PULL);
}

void rules_step(const struct world *world, const struct session *session, enum step_kind kind,
                struct verdict *verdict)
{
    if (is_own_work(session, kind)) {
        if (kind == STEP_SYNC && !session->whole)
            verdict_break(verdict, RULE_SYNC_FIRST);
        return;
    }
    switch (kind) {
    case STEP_PULL:
        if (!may_write(session))
            verdict_break(verdict, RULE_PULL_LATE);
        return;
    case STEP_MARK:
    case STEP_CLEAR:
        break;
    case STEP_RECOVER:
        if (!world->marker)
            break_shared(world, verdict, RULE_UNMARKED);
        break;
    case STEP_PUSH:
        if (!world->marker)
            break_shared(world, verdict, RULE_UNMARKED);
        if (!session->recovered && !session->made)
            verdict_break(verdict, RULE_PUSH_FIRST);
        break;
    case STEP_SYNC:
        if (!session->whole)
            verdict_break(verdict, RULE_SYNC_FIRST);
        break;
    default:
        return;
    }
    if (!may_write(session))
        verdict_break(verdict, RULE_NO_LEASE);
}

void rules_look(const struct world *world, const struct session *session, struct verdict *verdict)
{
    if (session->look != LOOK_UNSTAMP && session->look != LOOK_RESTAMP)
        return;
    if (!may_write(session))
        verdict_break(verdict, RULE_NO_LEASE);
    if (!world->marker)
        break_shared(world, verdict, RULE_UNMARKED);
}

void rules_kill(const struct world *world, const struct session *session, struct verdict *verdict)
{
    const struct sandbox *sandbox = &world->sandboxes[session->sandbox - 1];
    bool never_stamped_extra = (session->makes >> (session->sandbox - 1) & 1) &&
                               !sandbox->stamped && session->has_creation && session->has_lease;

    if (!session->ephemeral && !never_stamped_extra)
        verdict_break(verdict, RULE_KILL_PERSISTENT);
    if (session->killed)
        verdict_break(verdict, RULE_KILL_TWICE);
}

/* ---- admission ---- */

static bool rebuilds(const struct session *session)
{
    switch (session->writer.state) {
    case HE2B_WRITER_UNSTAMPING:
    case HE2B_WRITER_SURVEYING:
    case HE2B_WRITER_RECOVERING:
    case HE2B_WRITER_PUSHING:
    case HE2B_WRITER_STAMPING:
        return session->phase == PHASE_LIVE;
    default:
        return false;
    }
}

static void compare_with_writer(const struct world *world, const struct session *session,
                                const struct session *other, struct verdict *verdict)
{
    if (rebuilds(other))
        break_shared(world, verdict, RULE_ADMIT_REBUILT);
    if (other->phase != PHASE_LIVE || other->writer.state != HE2B_WRITER_HOLDING)
        return;
    if (other->stale)
        break_shared(world, verdict, RULE_ADMIT_STALE);
    if (other->sandbox != session->sandbox)
        verdict_excuse(verdict, EXCUSE_ELSEWHERE);
}

static void admit_own(const struct session *session, struct verdict *verdict)
{
    if (!session_gates(session))
        return;
    if (session->writer.state != HE2B_WRITER_OWN_HOLDING)
        verdict_break(verdict, RULE_ADMIT_ROLE);
    if (!session->whole)
        verdict_break(verdict, RULE_ADMIT_UNPUSHED);
    if (session->stale)
        verdict_break(verdict, RULE_ADMIT_STALE);
}

void rules_admit(struct world *world, const struct session *session, struct verdict *verdict)
{
    const struct sandbox *sandbox = world_sandbox(world, session->sandbox);
    uint8_t i;

    if (session->ephemeral) {
        admit_own(session, verdict);
        return;
    }
    if (session->writer.state != HE2B_WRITER_HOLDING &&
        session->writer.state != HE2B_WRITER_READING)
        verdict_break(verdict, RULE_ADMIT_ROLE);
    if (world->marker)
        break_shared(world, verdict, RULE_ADMIT_DIRTY);
    for (i = 0; i < world->count; i++) {
        if (&world->sessions[i] != session)
            compare_with_writer(world, session, &world->sessions[i], verdict);
    }
    if (sandbox && sandbox->state == SANDBOX_RUNNING && sandbox->boot != session->boot)
        verdict_excuse(verdict, EXCUSE_UNSEEN_BOOT);
    if (sandbox && sandbox->state == SANDBOX_RUNNING && sandbox->rolled)
        verdict_excuse(verdict, EXCUSE_UNSEEN_ROLL);
}

/* ---- ends ---- */

void rules_closed(const struct session *session, struct verdict *verdict)
{
    if (session->has_lease || session->has_creation || session->step)
        verdict_break(verdict, RULE_LOCK_KEPT);
    if (session->ephemeral && session->own && !session->tried)
        verdict_break(verdict, RULE_KILL_NEVER);
}

static bool stuck(const struct session *session)
{
    bool wants = session->waiting || session->asked || session->closing;

    return wants && !session->running && !session->call && !session->look && !session->step &&
           !session->poll;
}

void rules_check(const struct world *world, struct verdict *verdict)
{
    unsigned writers = 0;
    uint8_t i;

    for (i = 0; i < world->count; i++) {
        const struct session *session = &world->sessions[i];

        if (session->phase != PHASE_LIVE)
            continue;
        if (!session->ephemeral && session_writes(session))
            writers++;
        if ((session->has_lease || session->has_creation) && !session->step &&
            (session->writer.state == HE2B_WRITER_IDLE ||
             session->life.state == HE2B_LIFECYCLE_DETACHED))
            verdict_break(verdict, RULE_LOCK_KEPT);
        if (session->has_creation && session->life.state == HE2B_LIFECYCLE_READY)
            verdict_break(verdict, RULE_CREATION_KEPT);
        if (!session_has_events(session) && stuck(session))
            verdict_break(verdict, RULE_STUCK);
    }
    if (writers > 1)
        break_shared(world, verdict, RULE_TWO_WRITERS);
}
