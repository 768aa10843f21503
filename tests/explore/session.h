/*
 * A session of the model: the generated charts, with actions that do in the model what those of
 * src/session do. An action starts or notes something; the outcome is an event, put on a queue,
 * and one pump feeds the charts.
 */
#ifndef HE2B_TESTS_EXPLORE_SESSION_H
#define HE2B_TESTS_EXPLORE_SESSION_H

#include "machines/lifecycle.h"
#include "machines/teardown.h"
#include "machines/writer.h"
#include "tests/explore/rules.h"
#include "tests/explore/world.h"

/* What actions get. */
struct actor {
    struct world *world;
    struct session *session;
    struct verdict *verdict;
    bool told; /* prints each step of a chart */
};

void session_init(struct session *session, uint8_t ephemeral, uint8_t commands);
/* Its process is gone: the kernel drops its locks, the server may still do what was on its way. */
void session_crash(struct actor *actor);

void life_post(struct actor *actor, enum he2b_lifecycle_event event);
void writer_post(struct actor *actor, enum he2b_writer_event event);
void end_post(struct actor *actor, enum he2b_teardown_event event);
bool session_has_events(const struct session *session);
/* Until nothing is left to feed. */
void session_pump(struct actor *actor);

bool session_commands_live(const struct session *session);
/* Posts LIFE_CLOSE once it may. */
void session_close_now(struct actor *actor);
/* Each command waits for the role's word. */
bool session_gates(const struct session *session);
/* Writer now, or on its way to be. */
bool session_writes(const struct session *session);

/* ---- for the actions: lifecycle_actions.c, writer_actions.c, teardown_actions.c ---- */

extern const struct he2b_lifecycle_actions explore_lifecycle_actions;
extern const struct he2b_writer_actions explore_writer_actions;
extern const struct he2b_teardown_actions explore_teardown_actions;

void session_want_step(struct session *session, enum step_kind kind);
/* The caller's step that is out belongs to nobody any more. */
void session_forget_step(struct session *session);
void session_cancel_look(struct session *session);
void session_ask_waiters(struct session *session);
void session_leave_orphan(struct session *session, enum orphan_kind kind, uint8_t what);
/* The next candidate of its list; false: there is none. */
bool session_next_candidate(struct session *session);
/* Nothing is there: absent for a writer, trouble for others (B-23). */
void session_absent(struct actor *actor);

#endif
