#include "tests/explore/session.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void session_init(struct session *session, uint8_t ephemeral, uint8_t commands)
{
    struct he2b_lifecycle_machine life;
    struct he2b_writer_machine writer;
    struct he2b_teardown_machine end;
    struct orphan orphans[ORPHANS_MAX];

    memcpy(orphans, session->orphans, sizeof(orphans));
    memset(session, 0, sizeof(*session));
    memcpy(session->orphans, orphans, sizeof(orphans));
    session->ephemeral = ephemeral;
    session->commands = commands;
    he2b_lifecycle_machine_init(&life, &explore_lifecycle_actions, NULL);
    he2b_writer_machine_init(&writer, &explore_writer_actions, NULL);
    he2b_teardown_machine_init(&end, &explore_teardown_actions, NULL);
    assert(life.cs < 256 && writer.cs < 256 && end.cs < 256);
    session->life.cs = (uint8_t)life.cs;
    session->writer.cs = (uint8_t)writer.cs;
    session->end.cs = (uint8_t)end.cs;
    session->life.state = (uint8_t)life.state;
    session->writer.state = (uint8_t)writer.state;
    session->end.state = (uint8_t)end.state;
}

/* Nothing of it matters any more but what the server may still do for it. */
static void forget(struct session *session, enum phase phase)
{
    struct session left = {0};

    left.phase = (uint8_t)phase;
    left.ephemeral = session->ephemeral;
    left.commands = session->commands;
    memcpy(left.orphans, session->orphans, sizeof(left.orphans));
    *session = left;
}

void session_crash(struct actor *actor)
{
    struct session *session = actor->session;
    struct sandbox *sandbox = world_sandbox(actor->world, session->sandbox);

    if (session->call == CALL_CREATE)
        session_leave_orphan(session, ORPHAN_CREATE, 0);
    session_cancel_look(session);
    if (session->step == STEP_PUSH && actor->world->late_push)
        session_leave_orphan(session, ORPHAN_PUSH, actor->world->host);
    if (sandbox && session->running && session->run_boot == sandbox->boot)
        sandbox->leftovers = 1;
    forget(session, PHASE_CRASHED);
}

void session_leave_orphan(struct session *session, enum orphan_kind kind, uint8_t what)
{
    size_t i;

    for (i = 0; i < ORPHANS_MAX; i++) {
        if (session->orphans[i].kind == ORPHAN_NONE) {
            session->orphans[i].kind = (uint8_t)kind;
            session->orphans[i].sandbox = kind == ORPHAN_CREATE ? 0 : session->sandbox;
            session->orphans[i].what = what;
            return;
        }
    }
}

bool session_commands_live(const struct session *session)
{
    return session->waiting || session->asked || session->running || session->due;
}

bool session_gates(const struct session *session)
{
    return session->ephemeral != EPHEMERAL_BARE;
}

bool session_writes(const struct session *session)
{
    switch (session->writer.state) {
    case HE2B_WRITER_IDLE:
    case HE2B_WRITER_CONTENDING:
    case HE2B_WRITER_FOLLOWING:
    case HE2B_WRITER_LOOKING:
    case HE2B_WRITER_GATING:
    case HE2B_WRITER_READING:
    case HE2B_WRITER_PROMOTING:
    case HE2B_WRITER_FAILING:
    case HE2B_WRITER_RELEASING:
        return false;
    default:
        return true;
    }
}

/* ---- queues: at most one event of each kind (src/session/events.c) ---- */

static void post(struct queue *queue, int event)
{
    if (memchr(queue->events, event, queue->count))
        return;
    assert(queue->count < QUEUE_MAX);
    queue->events[queue->count++] = (uint8_t)event;
}

static int take(struct queue *queue)
{
    int event = queue->events[0];

    queue->count--;
    memmove(queue->events, queue->events + 1, queue->count);
    queue->events[queue->count] = 0;
    return event;
}

void life_post(struct actor *actor, enum he2b_lifecycle_event event)
{
    post(&actor->session->life_queue, (int)event);
}

void writer_post(struct actor *actor, enum he2b_writer_event event)
{
    post(&actor->session->writer_queue, (int)event);
}

void end_post(struct actor *actor, enum he2b_teardown_event event)
{
    post(&actor->session->end_queue, (int)event);
}

bool session_has_events(const struct session *session)
{
    return session->life_queue.count || session->writer_queue.count || session->end_queue.count;
}

/* ---- one step of a chart ---- */

static void tell(const struct actor *actor, const char *chart, const char *from, const char *event,
                 bool refused, const char *to)
{
    if (actor->told)
        printf("        %-9s %s, %s, %s\n", chart, from, event, refused ? "refused" : to);
}

static bool step_end(struct actor *actor)
{
    struct session *session = actor->session;
    struct he2b_teardown_machine machine = {
        .cs = session->end.cs,
        .state = (enum he2b_teardown_state_id)session->end.state,
        .actions = &explore_teardown_actions,
        .user = actor,
    };
    enum he2b_teardown_event event;

    if (!session->end_queue.count)
        return false;
    event = (enum he2b_teardown_event)take(&session->end_queue);
    he2b_teardown_machine_step(&machine, event);
    tell(actor, "end", he2b_teardown_state_name((enum he2b_teardown_state_id)session->end.state),
         he2b_teardown_event_name(event), machine.refused, he2b_teardown_state_name(machine.state));
    session->end.cs = (uint8_t)machine.cs;
    session->end.state = (uint8_t)machine.state;
    return true;
}

static bool step_life(struct actor *actor)
{
    struct session *session = actor->session;
    struct he2b_lifecycle_machine machine = {
        .cs = session->life.cs,
        .state = (enum he2b_lifecycle_state_id)session->life.state,
        .actions = &explore_lifecycle_actions,
        .user = actor,
    };
    enum he2b_lifecycle_event event;

    if (!session->life_queue.count)
        return false;
    event = (enum he2b_lifecycle_event)take(&session->life_queue);
    he2b_lifecycle_machine_step(&machine, event);
    tell(actor, "lifecycle",
         he2b_lifecycle_state_name((enum he2b_lifecycle_state_id)session->life.state),
         he2b_lifecycle_event_name(event), machine.refused,
         he2b_lifecycle_state_name(machine.state));
    session->life.cs = (uint8_t)machine.cs;
    session->life.state = (uint8_t)machine.state;
    return true;
}

static bool step_writer(struct actor *actor)
{
    struct session *session = actor->session;
    struct he2b_writer_machine machine = {
        .cs = session->writer.cs,
        .state = (enum he2b_writer_state_id)session->writer.state,
        .actions = &explore_writer_actions,
        .user = actor,
    };
    enum he2b_writer_event event;

    if (!session->writer_queue.count)
        return false;
    event = (enum he2b_writer_event)take(&session->writer_queue);
    he2b_writer_machine_step(&machine, event);
    tell(actor, "writer", he2b_writer_state_name((enum he2b_writer_state_id)session->writer.state),
         he2b_writer_event_name(event), machine.refused, he2b_writer_state_name(machine.state));
    session->writer.cs = (uint8_t)machine.cs;
    session->writer.state = (uint8_t)machine.state;
    return true;
}

/* ---- the pump (src/session/pump.c) ---- */

static void tell_due(struct actor *actor)
{
    struct session *session = actor->session;
    const struct sandbox *sandbox = world_sandbox(actor->world, session->sandbox);

    if (!session->due)
        return;
    rules_admit(actor->world, session, actor->verdict);
    session->running = (uint8_t)(session->running + session->due);
    session->due = 0;
    session->run_sandbox = session->sandbox;
    session->run_boot = sandbox ? sandbox->boot : 0;
}

/* A search of which nobody hears keeps no other session from the role (B-64). */
static bool searching(const struct session *session)
{
    switch (session->life.state) {
    case HE2B_LIFECYCLE_ELECTING:
    case HE2B_LIFECYCLE_LOOKING_UP:
        return true;
    case HE2B_LIFECYCLE_CONNECTING:
        return !session->ephemeral && !session->attached;
    default:
        return false;
    }
}

static void consider_detached(struct actor *actor)
{
    if (!actor->session->ephemeral)
        life_post(actor, LIFE_WANT_SCOPE);
    else
        life_post(actor, actor->session->sandbox ? LIFE_WANT_OLD : LIFE_WANT_NEW);
}

static void consider_ready(struct actor *actor)
{
    struct session *session = actor->session;

    if (session->lease <= LEASE_SHORT) {
        life_post(actor, LIFE_STALE);
        return;
    }
    life_post(actor, session_gates(session) ? LIFE_WANT_GATE : LIFE_WANT);
    if (session->lease == LEASE_BESIDE && !session->renew) {
        /* one per 30 s: not again until another command finds it short */
        session->lease = LEASE_COVERS;
        life_post(actor, LIFE_RENEW);
    }
}

/* A sync that was begun is waited for, and the pull comes after it: the lease has to wait for its
 * end in any case. */
static bool finishing(const struct session *session)
{
    switch (session->writer.state) {
    case HE2B_WRITER_SYNCING:
    case HE2B_WRITER_TAINTING:
    case HE2B_WRITER_UNTAINTING:
        return session->life.state == HE2B_LIFECYCLE_PREPARING && session->pushed;
    case HE2B_WRITER_OWN_PUSHING:
    case HE2B_WRITER_OWN_SYNCING:
        /* whose pull is given up, where no lock hangs on it, waits for nobody */
        return session->life.state == HE2B_LIFECYCLE_PREPARING && session->pushed &&
               session->end.state != HE2B_TEARDOWN_HURRIED;
    default:
        return false;
    }
}

void session_close_now(struct actor *actor)
{
    if (actor->session->close_sent || actor->session->life_queue.count ||
        actor->session->writer_queue.count || finishing(actor->session))
        return;
    actor->session->close_sent = 1;
    life_post(actor, LIFE_CLOSE);
}

static void consider(struct actor *actor)
{
    struct session *session = actor->session;
    bool waits = session->waiting || session->asked;

    if (session->closing && !session_commands_live(session)) {
        session_close_now(actor);
    } else if (waits && session->life.state == HE2B_LIFECYCLE_DETACHED) {
        consider_detached(actor);
    } else if (waits && session->life.state == HE2B_LIFECYCLE_READY) {
        consider_ready(actor);
    } else if (!waits && searching(session)) {
        life_post(actor, LIFE_ABANDONED);
    }
}

void session_pump(struct actor *actor)
{
    struct session *session = actor->session;

    do {
        while (step_end(actor) || step_life(actor) || step_writer(actor)) {
        }
        tell_due(actor);
        session->step_due = 0;
        consider(actor);
    } while (session_has_events(session));
    if (session->end.state == HE2B_TEARDOWN_CLOSED) {
        session_cancel_look(session);
        rules_closed(session, actor->verdict);
        forget(session, PHASE_CLOSED);
    }
}

/* ---- what several charts' actions do ---- */

/* One step at a time; one that nobody has yet is replaced (src/session/step.c). */
void session_want_step(struct session *session, enum step_kind kind)
{
    if (session->step && !session->step_due) {
        session->step_next = (uint8_t)kind;
        return;
    }
    session->step = (uint8_t)kind;
    session->step_due = 1;
}

void session_forget_step(struct session *session)
{
    if (session->step >= STEP_RECOVER) {
        session->step = STEP_NONE;
        session->step_due = 0;
    }
    if (session->step_next >= STEP_RECOVER)
        session->step_next = STEP_NONE;
}

void session_cancel_look(struct session *session)
{
    if (session->look == LOOK_UNSTAMP)
        session_leave_orphan(session, ORPHAN_UNSTAMP, 0);
    else if (session->look == LOOK_RESTAMP)
        session_leave_orphan(session, ORPHAN_RESTAMP, session->stamp);
    session->look = LOOK_NONE;
}

void session_ask_waiters(struct session *session)
{
    session->asked = (uint8_t)(session->asked + session->waiting);
    session->waiting = 0;
}

bool session_next_candidate(struct session *session)
{
    size_t i;

    if (!session->candidates[0])
        return false;
    session->sandbox = session->candidates[0];
    for (i = 1; i < SANDBOXES_MAX; i++)
        session->candidates[i - 1] = session->candidates[i];
    session->candidates[SANDBOXES_MAX - 1] = 0;
    return true;
}

void session_absent(struct actor *actor)
{
    life_post(actor, session_writes(actor->session) ? LIFE_ABSENT : LIFE_FAILED);
}
