/* The end of a scope's session: what comes home, in which order, and what is left alone (B-68, B-90
 * to B-96). */
#include "session/session.h"
#include "tests/unit/session/scoped.h"

#include <stdio.h>

/* B-68, B-91: the pull first, from a sandbox that was connected to just before; the role last; no
 * kill, no pause. */
static void test_writer_pulls_then_releases(void **state)
{
    struct scoped *scoped = *state;

    scoped_begin(scoped, true);
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "connect pull release");
    assert_true(scoped_lease_free(scoped));
    assert_string_equal(scoped->world->messages, "");
    assert_false(scoped->world->trouble);
}

/* A reader has nothing of its own there. */
static void test_reader_pulls_nothing(void **state)
{
    struct scoped *scoped = *state;

    scoped->log_steps = true;
    scoped_sandbox(scoped, "theirs");
    scoped_session(scoped, 0, true);
    scoped_take_lease(scoped);
    scoped_run(scoped);
    scoped_log(scoped);
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "release");
    assert_false(scoped->world->trouble);
}

/* Neither from a sandbox of its own create, nor from one that it took over. */
static void test_without_state_nothing_is_pulled(void **state)
{
    struct scoped *scoped = *state;
    unsigned nth;

    scoped->log_steps = true;
    for (nth = 0; nth < 2; nth++) {
        scoped_session(scoped, nth, false);
        scoped_run(scoped);
        scoped_log(scoped);
        assert_int_equal(world_close(scoped->world), 0);
        assert_string_equal(scoped_log(scoped), "release");
    }
    assert_int_equal(world_count(scoped->world, "create"), 1);
}

/* A session that was never used touches nothing. */
static void test_unused(void **state)
{
    struct scoped *scoped = *state;

    scoped->log_steps = true;
    scoped_session(scoped, 0, true);
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "");
    /* and once more: it is closed already, and that is said (B-90) */
    assert_int_equal(world_close(scoped->world), 0);
}

/* B-93: each attempt begins with a connect. */
static void test_pull_once_more(void **state)
{
    struct scoped *scoped = *state;

    scoped_begin(scoped, true);
    scoped->bend_kind = HE2B_STEP_PULL;
    scoped->bend_outcome = HE2B_STEP_AGAIN;
    scoped->bend_times = 2;
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "connect pull connect pull connect pull release");
}

/* B-92: said, and the rest goes on. */
static void test_pull_fails(void **state)
{
    struct scoped *scoped = *state;

    scoped_begin(scoped, true);
    scoped->bend_kind = HE2B_STEP_PULL;
    scoped->bend_outcome = HE2B_STEP_FAILED;
    scoped->bend_times = 1;
    assert_int_equal(world_close(scoped->world), HE2B_ERR_STEP);
    assert_string_equal(scoped_log(scoped), "connect pull release");
    assert_true(scoped_lease_free(scoped));
    assert_non_null(strstr(scoped->world->messages, "is recovered when the scope is next used"));
    scoped->world->messages[0] = '\0';
}

static void gone(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 404, "sandbox not found");
}

static void test_pull_from_a_sandbox_that_is_gone(void **state)
{
    struct scoped *scoped = *state;

    scoped_begin(scoped, true);
    scoped->world->on_connect = gone;
    assert_int_equal(world_close(scoped->world), HE2B_ERR_GONE);
    assert_string_equal(scoped_log(scoped), "connect release");
    scoped->world->messages[0] = '\0';
}

struct closing {
    struct scoped *scoped;
    int code;
    unsigned times;
};

static void on_closed(void *user, const he2b_failure *failure)
{
    struct closing *closing = user;

    closing->code = failure ? he2b_failure_code(failure) : 0;
    closing->times++;
    world_stop(closing->scoped->world);
}

/* B-94, B-96: a pull that is given up lets the rest go on, whatever becomes of its step. */
static void test_pull_is_abandoned(void **state)
{
    struct scoped *scoped = *state;
    struct closing closing = {.scoped = scoped};

    scoped_begin(scoped, true);
    scoped->hold_kind = HE2B_STEP_PULL;
    assert_int_equal(he2b_session_close(scoped->world->session, on_closed, &closing), HE2B_OK);
    world_run(scoped->world);
    assert_int_equal(closing.times, 0);
    he2b_session_abandon_pull(scoped->world->session);
    world_run(scoped->world);
    assert_int_equal(closing.times, 1);
    assert_int_equal(closing.code, HE2B_ERR_CANCELLED);
    assert_string_equal(scoped_log(scoped), "connect pull release");
    assert_true(scoped_lease_free(scoped));
    scoped->world->messages[0] = '\0';
    /* the teardown answers the step after the session is gone */
}

/* ... also when that comes while the last command still runs. */
static void test_pull_is_abandoned_before_it_begins(void **state)
{
    struct scoped *scoped = *state;
    struct closing closing = {.scoped = scoped};

    scoped_begin(scoped, true);
    he2b_session_abandon_pull(scoped->world->session); /* nothing ends yet: nothing happens */
    assert_int_equal(he2b_session_close(scoped->world->session, on_closed, &closing), HE2B_OK);
    he2b_session_abandon_pull(scoped->world->session);
    world_run(scoped->world);
    assert_int_equal(closing.times, 1);
    assert_int_equal(closing.code, HE2B_ERR_CANCELLED);
    assert_string_equal(scoped_log(scoped), "release");
    scoped->world->messages[0] = '\0';
    assert_false(scoped->world->trouble);
}

static void hold_command(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    world_stop_soon(world);
    peer_gate_wait(&world->released, 1);
    world_marker(request, 0);
    world_end(request, 0);
}

/* B-90: a command that runs ends first; a new one is refused at once. */
static void test_close_waits_for_the_command(void **state)
{
    struct scoped *scoped = *state;
    struct closing closing = {.scoped = scoped};
    struct ran ran;
    struct ran late;

    scoped_begin(scoped, true);
    scoped->world->on_command = hold_command;
    ran_start(&ran, scoped->world, "sleep 1");
    ran.keep_running = true;
    world_run(scoped->world);
    assert_int_equal(he2b_session_close(scoped->world->session, on_closed, &closing), HE2B_OK);
    ran_new(&late, scoped->world, "true");
    assert_int_equal(he2b_command_start(late.command, NULL, NULL), HE2B_ERR_CLOSED);
    ran_del(&late);
    assert_false(scoped_lease_free(scoped));
    peer_gate_raise(&scoped->world->released);
    world_run(scoped->world);
    assert_int_equal(closing.code, 0);
    assert_int_equal(ran.times, 1);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    ran_del(&ran);
    assert_string_equal(scoped_log(scoped), "sync clear command connect pull release");
}

static void ignore(void *user, const he2b_failure *failure)
{
    (void)user;
    (void)failure;
}

/* A sync that is on its way comes to its end first: the pull begins with a writer at rest. */
static void test_close_in_a_sync(void **state)
{
    struct scoped *scoped = *state;
    struct closing closing = {.scoped = scoped};

    scoped_begin(scoped, true);
    scoped->hold_kind = HE2B_STEP_SYNC;
    assert_int_equal(he2b_session_prepare(scoped->world->session, 0, ignore, scoped), HE2B_OK);
    world_run(scoped->world);
    he2b_session_cancel(scoped->world->session, scoped);
    assert_int_equal(he2b_session_close(scoped->world->session, on_closed, &closing), HE2B_OK);
    he2b_step_done(scoped->held, HE2B_STEP_DONE, NULL);
    scoped->held = NULL;
    world_run(scoped->world);
    assert_int_equal(closing.code, 0);
    assert_string_equal(scoped_log(scoped), "sync clear connect pull release");
    assert_false(scoped->world->trouble);
}

/* The wish for the gate and the wish to close come in one turn. */
static void test_close_before_a_gate(void **state)
{
    struct scoped *scoped = *state;
    struct closing closing = {.scoped = scoped};

    scoped_begin(scoped, true);
    he2b_session_post(scoped->world->session, LIFE_WANT_GATE);
    assert_int_equal(he2b_session_close(scoped->world->session, on_closed, &closing), HE2B_OK);
    world_run(scoped->world);
    assert_int_equal(closing.code, 0);
    assert_string_equal(scoped_log(scoped), "sync clear connect pull release");
    assert_false(scoped->world->trouble);
}

/* Closed in the middle of a takeover: no pull of what was never pushed; the scope stays dirty, and
 * the lease goes when the step that is out has been answered. */
static void test_close_in_a_takeover(void **state)
{
    struct scoped *scoped = *state;
    struct closing closing = {.scoped = scoped};
    struct ran ran;

    scoped->log_steps = true;
    scoped_sandbox(scoped, "theirs");
    scoped_session(scoped, 0, true);
    scoped->hold_kind = HE2B_STEP_PUSH;
    ran_start(&ran, scoped->world, "true");
    world_run(scoped->world);
    he2b_command_kill(ran.command);
    world_run(scoped->world);
    assert_int_equal(ran.times, 1);
    assert_int_equal(he2b_session_close(scoped->world->session, on_closed, &closing), HE2B_OK);
    scoped->hold_kind = HE2B_STEP_RELEASE;
    assert_false(scoped_lease_free(scoped));
    he2b_step_done(scoped->held, HE2B_STEP_DONE, NULL);
    scoped->held = NULL;
    world_run(scoped->world);
    assert_int_equal(closing.times, 0);
    assert_false(scoped_lease_free(scoped));
    he2b_step_done(scoped->held, HE2B_STEP_DONE, NULL);
    scoped->held = NULL;
    world_run(scoped->world);
    assert_int_equal(closing.times, 1);
    assert_true(scoped_lease_free(scoped));
    assert_true(scoped_dirty(scoped));
    ran_del(&ran);
    assert_string_equal(scoped_log(scoped), "elect list connect mark unstamp recover push release");
    scoped->world->messages[0] = '\0';
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCOPE(test_writer_pulls_then_releases),
        IN_SCOPE(test_reader_pulls_nothing),
        IN_SCOPE(test_without_state_nothing_is_pulled),
        IN_SCOPE(test_unused),
        IN_SCOPE(test_pull_once_more),
        IN_SCOPE(test_pull_fails),
        IN_SCOPE(test_pull_from_a_sandbox_that_is_gone),
        IN_SCOPE(test_pull_is_abandoned),
        IN_SCOPE(test_pull_is_abandoned_before_it_begins),
        IN_SCOPE(test_close_waits_for_the_command),
        IN_SCOPE(test_close_in_a_sync),
        IN_SCOPE(test_close_before_a_gate),
        IN_SCOPE(test_close_in_a_takeover),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
