#include "tests/explore/moves.h"

#include "tests/explore/session.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- names ---- */

static const char *const texts[] = {
#define X(name, text) [MOVE_##name] = text,
    EXPLORE_SESSION_MOVES(X) EXPLORE_SANDBOX_MOVES(X) EXPLORE_HOST_MOVES(X)
#undef X
};

static const char *subject(const struct session *session, enum move_kind kind)
{
    static const char *const calls[] = {"?",       "list",      "create",
                                        "connect", "reconnect", "kill"};
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

/* ---- budgets ---- */

static bool spend(uint8_t *budget)
{
    if (!*budget)
        return false;
    --*budget;
    return true;
}

static bool fault(struct actor *actor)
{
    return spend(&actor->world->budget.faults);
}

static bool late(struct actor *actor)
{
    return fault(actor) && spend(&actor->world->budget.late);
}

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
    if (!session_commands_live(session)) {
        session->close_sent = 1;
        life_post(actor, LIFE_CLOSE);
    }
    return true;
}

static bool abandon_pull(struct actor *actor)
{
    if ((actor->session->end.state != HE2B_TEARDOWN_RECONNECTING &&
         actor->session->end.state != HE2B_TEARDOWN_PULLING) ||
        !spend(&actor->world->budget.interrupts))
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

/* Who writes in the sandbox replaces what is there knowingly. */
static bool write_file(struct actor *actor, struct sandbox *sandbox)
{
    if (!spend(&actor->world->budget.writes))
        return false;
    sandbox->file = world_new_version(actor->world);
    return true;
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
        life_post(actor, session->probed ? LIFE_ATTACHED : LIFE_CONNECTED);
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
        life_post(actor, session->ephemeral ? LIFE_ATTACHED : LIFE_SAME);
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
    if (!actor->session->call || (ahead && !may_go_on(actor->session)) || !fault(actor))
        return false;
    call_fails(actor, ahead);
    return true;
}

static bool call_lost(struct actor *actor, bool ahead)
{
    struct session *session = actor->session;
    struct sandbox *sandbox = world_sandbox(actor->world, session->sandbox);

    /* A list changes nothing, and what a lost create made is CALL_LATE. */
    if (session->call < CALL_CONNECT || (ahead && !may_go_on(session)) || !fault(actor))
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

    if (session->call != CALL_CREATE || session->orphans[ORPHANS_MAX - 1].kind || !late(actor))
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

    if (!actor->session->renew || (lost && sandbox->state != SANDBOX_PAUSED) || !fault(actor))
        return false;
    if (lost)
        serve_connect(sandbox);
    renew_over(actor, false);
    return true;
}

/* ---- looks ---- */

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
        life_post(actor, LIFE_PROBED);
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

    if (!actor->session->look || (there && !fault(actor)))
        return false;
    look_fails(actor);
    return true;
}

static bool look_lost(struct actor *actor)
{
    if (actor->session->look < LOOK_UNSTAMP || !fault(actor) || !serve_look(actor))
        return false;
    look_fails(actor);
    return true;
}

static bool look_late(struct actor *actor)
{
    struct session *session = actor->session;

    if (session->look < LOOK_UNSTAMP || session->orphans[ORPHANS_MAX - 1].kind || !late(actor))
        return false;
    if (session->look == LOOK_UNSTAMP)
        session_leave_orphan(session, ORPHAN_UNSTAMP, 0);
    else
        session_leave_orphan(session, ORPHAN_RESTAMP, session->stamp);
    look_fails(actor);
    return true;
}

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
    session->base = 0;
    session->stamp = 0;
}

static enum he2b_writer_event mark(struct actor *actor)
{
    actor->session->has_creation = 0;
    actor->session->recovered = 0;
    actor->session->snapshot = 0;
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
    if (kind == STEP_PUSH) {
        session->pushed = outcome == OUTCOME_DONE;
        session->whole = outcome == OUTCOME_DONE;
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

    if (!kind || (lost && (kind < STEP_RECOVER || !fault(actor))))
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
    if ((kind < STEP_RECOVER || there) && !fault(actor))
        return false;
    if (!step_over(session))
        return true;
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
        session->orphans[ORPHANS_MAX - 1].kind || !late(actor))
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

    if (session->step != STEP_PULL || !fault(actor))
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
        !taken(actor, offsetof(struct session, has_creation)) || !fault(actor))
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

/* ---- what nobody waits for any more ---- */

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

/* ---- the sandbox's own moves ---- */

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

static bool sandbox_move(struct world *world, struct move move, struct verdict *verdict)
{
    struct sandbox *sandbox = &world->sandboxes[move.who];
    struct actor actor = {.world = world, .verdict = verdict};

    switch (move.kind) {
    case MOVE_PAUSE:
        return pause_sandbox(world, sandbox, false, verdict);
    case MOVE_ROLL_BACK:
        return pause_sandbox(world, sandbox, true, verdict);
    case MOVE_VANISH:
        return vanish(world, sandbox, verdict);
    default:
        return sandbox->leftovers && write_file(&actor, sandbox);
    }
}

static bool edit(struct world *world)
{
    if (!spend(&world->budget.edits))
        return false;
    world->host = world_new_version(world);
    world_settle(world, world->host);
    return true;
}

/* ---- all of them ---- */

static bool session_move(struct actor *actor, enum move_kind kind)
{
    struct session *session = actor->session;

    if (kind == MOVE_ORPHAN_1 || kind == MOVE_ORPHAN_2)
        return orphan_happens(actor, kind - MOVE_ORPHAN_1);
    if (kind == MOVE_RESTART)
        return restart(actor);
    if (kind <= MOVE_WANT_STALE)
        return want(actor, kind);
    if (session->phase != PHASE_LIVE)
        return false;
    switch (kind) {
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
    case MOVE_LOOK_DONE:
        return look_done(actor);
    case MOVE_LOOK_FAILED:
        return look_failed(actor);
    case MOVE_LOOK_LOST:
        return look_lost(actor);
    case MOVE_LOOK_LATE:
        return look_late(actor);
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
    case MOVE_CRASH:
        return crash(actor);
    default:
        return false;
    }
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
            if (world->busy && !may_hold(kind))
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
    if (!world->busy)
        ret[n++] = (struct move){.kind = MOVE_EDIT};
    return n;
}

bool move_do(struct world *world, struct move move, struct verdict *verdict, char name)
{
    struct actor actor = {.world = world, .verdict = verdict, .told = name != '\0'};

    if (name)
        print(world, move, name);
    if (move.kind >= MOVE_HOST_FIRST)
        return edit(world);
    if (move.kind >= MOVE_SANDBOX_FIRST)
        return sandbox_move(world, move, verdict);
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
