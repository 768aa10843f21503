/*
 * Sessions of one persistent scope in a world: a home of their own, their steps in the world's log,
 * and a stranger who plays another process with the locks.
 */
#ifndef HE2B_TESTS_UNIT_SCOPED_H
#define HE2B_TESTS_UNIT_SCOPED_H

#include "host/files.h"
#include "host/lock.h"
#include "tests/unit/session/world.h"

enum {
    SCOPED_SESSIONS = 2,
};

struct scoped {
    struct world *world;
    char home[64];
    he2b_session *sessions[SCOPED_SESSIONS];
    struct he2b_host_files files; /* of the scope */
    struct he2b_lock stranger;    /* on the writer lease */
    struct he2b_lock creator;     /* on the creation lock */

    bool log_steps; /* the library's own too, not only those of the state */
    /* steps of this kind: answered so, this many times */
    enum he2b_step_kind bend_kind;
    enum he2b_step_outcome bend_outcome;
    unsigned bend_times;
    /* the next step of this kind stops the loop and is kept */
    enum he2b_step_kind hold_kind;
    he2b_step *held;
};

/* cmocka's setup and teardown. */
int scoped_setup(void **state);
int scoped_teardown(void **state);
#define IN_SCOPE(test) cmocka_unit_test_setup_teardown(test, scoped_setup, scoped_teardown)

/* Makes session nth, 0 or 1, of the scope, and uses it from now on: world.h's calls go to it. */
he2b_session *scoped_session(struct scoped *scoped, unsigned nth, bool host_state);
/* Session 0 with a sandbox of its own, in no scope, to which Hermes' state goes; all its steps are
 * in the log. */
he2b_session *scoped_own_session(struct scoped *scoped);
/* Answers the step that was kept. */
void scoped_answer(struct scoped *scoped, enum he2b_step_outcome outcome);
void scoped_use(struct scoped *scoped, unsigned nth);
/* Session 0, with one command behind it; from here on all its steps are in the log. */
void scoped_begin(struct scoped *scoped, bool host_state);
/* Runs "true" in the session in use, and expects that it ran. */
void scoped_run(struct scoped *scoped);
/* ... a command that needs more lease than is left, so that the session connects first; 0 or the
 * failure's code. scoped_short_lease() before the session is made. */
void scoped_short_lease(struct scoped *scoped);
int scoped_run_long(struct scoped *scoped);
/* Expects that it did not, with this code; nothing of it was sent. */
void scoped_refused(struct scoped *scoped, int code, const char *text);
/* The log since the last call of this. */
const char *scoped_log(struct scoped *scoped);
/* The list shows a sandbox of this scope that this session did not make, with that stamp or "". */
void scoped_sandbox(struct scoped *scoped, const char *stamp);

/* ---- what other processes see and do ---- */

bool scoped_lease_free(struct scoped *scoped);
bool scoped_creation_free(struct scoped *scoped);
bool scoped_dirty(const struct scoped *scoped);
void scoped_take_lease(struct scoped *scoped);
void scoped_take_creation(struct scoped *scoped);

#endif
