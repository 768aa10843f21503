/*
 * The moves, by who makes them. Each function does the move if it is one of its own and can happen.
 */
#ifndef HE2B_TESTS_EXPLORE_PARTS_H
#define HE2B_TESTS_EXPLORE_PARTS_H

#include "tests/explore/moves.h"
#include "tests/explore/session.h"

/* user.c: who wants something of a session, its commands, its process. */
bool user_move(struct actor *actor, enum move_kind kind);
/* control.c: requests to the control plane. */
bool control_move(struct actor *actor, enum move_kind kind);
/* look.c: requests to the daemon in the sandbox. */
bool look_move(struct actor *actor, enum move_kind kind);
/* step.c: steps on the host. */
bool step_move(struct actor *actor, enum move_kind kind);
/* late.c: what the server does although nobody waits for it any more. */
bool late_move(struct actor *actor, enum move_kind kind);
/* outside.c: what nobody of us does. */
bool outside_move(struct actor *actor, struct move move);

/* ---- for all of them ---- */

/* One less may happen from now on; false: none may. */
bool spend(uint8_t *budget);
bool spend_fault(struct actor *actor);
/* A fault after which the server may do what was asked. */
bool spend_late(struct actor *actor);
/* A command or a left-over process writes a new version, and replaces what is there knowingly. */
bool write_file(struct actor *actor, struct sandbox *sandbox);

#endif
