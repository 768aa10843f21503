/* Steps: who does them, how long they hold what they hold, and what they warn of (B-60, B-61,
 * B-64). */
#include "session/session.h"

#include "tests/unit/host/flock_shim.h"
#include "tests/unit/session/scoped.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int shim_reset(void **state)
{
    (void)state;
    flock_shim = (struct flock_shim){0};
    return 0;
}

static int setup(void **state)
{
    shim_reset(state);
    return scoped_setup(state);
}

static int teardown(void **state)
{
    shim_reset(state);
    return scoped_teardown(state);
}

#define IN_SHIM(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

/* Without a handler the library does its own. */
static void test_no_handler(void **state)
{
    struct scoped *scoped = *state;
    he2b_session *session = world_session(scoped->world);

    assert_int_equal(he2b_session_set_scope(session, scoped->home, "task", 0), HE2B_OK);
    scoped->sessions[0] = session;
    scoped_run(scoped);
    assert_false(scoped_lease_free(scoped));
    assert_int_equal(world_close(scoped->world), 0);
    assert_true(scoped_lease_free(scoped));
    /* set too late, or twice, or with a home that is none */
    assert_int_equal(he2b_session_set_scope(session, scoped->home, "task", 0), HE2B_ERR_STATE);
    assert_int_equal(he2b_session_on_step(session, NULL, NULL), HE2B_ERR_STATE);
    session = scoped->world->session = NULL;
    session = world_session(scoped->world);
    scoped->sessions[1] = session;
    assert_int_equal(he2b_session_set_scope(session, "", NULL, 0), HE2B_ERR_SETTING);
    assert_int_equal(he2b_session_set_scope(session, "relative", NULL, 0), HE2B_ERR_SETTING);
    assert_int_equal(he2b_session_set_scope(session, scoped->home, NULL, 0), HE2B_OK);
    assert_int_equal(he2b_session_set_sandbox(session, WORLD_ID), HE2B_ERR_STATE);
    assert_int_equal(strlen(he2b_session_scope(session)), 32);
}

/* Hermes' state that nobody moves is not taken for moved. */
static void test_state_without_a_handler(void **state)
{
    struct scoped *scoped = *state;
    he2b_session *session = world_session(scoped->world);

    assert_int_equal(he2b_session_set_scope(session, scoped->home, "task", 1), HE2B_OK);
    scoped->sessions[0] = session;
    scoped_refused(scoped, HE2B_ERR_STEP, "he2b_session_on_step() was not called");
    assert_true(scoped_lease_free(scoped));
}

static unsigned times_in(const char *text, const char *part)
{
    unsigned times = 0;

    for (text = strstr(text, part); text; text = strstr(text + 1, part))
        times++;
    return times;
}

/* B-61: where nothing can be locked a session works alone, and says so once. */
static void test_locks_are_not_supported(void **state)
{
    static const int errors[] = {ENOLCK, EOPNOTSUPP, ENOSYS};
    struct scoped *scoped = *state;
    size_t i;

    for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        flock_shim.flock_errno = errors[i];
        flock_shim.flock_times = 1000;
        scoped->world->exists = false;
        scoped_session(scoped, 0, true);
        scoped_log(scoped);
        scoped_run(scoped);
        assert_string_equal(scoped_log(scoped), "list create probe push restamp command");
        scoped_run(scoped);
        assert_int_equal(times_in(scoped->world->messages, "NOT SUPPORTED"), 1);
        assert_int_equal(world_close(scoped->world), 0);
        he2b_session_del(scoped->sessions[0]);
        scoped->sessions[0] = NULL;
        scoped->world->messages[0] = '\0';
    }
    assert_false(scoped->world->trouble);
}

/* B-61: trouble of this process is no word about the lock: no second writer comes of it. */
static void test_no_descriptors(void **state)
{
    static const int errors[] = {EMFILE, ENFILE, ENOMEM, ENOSPC, EIO};
    struct scoped *scoped = *state;
    size_t i;

    scoped_session(scoped, 0, false);
    for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        flock_shim.open_errno = errors[i];
        flock_shim.open_times = 1;
        scoped_refused(scoped, HE2B_ERR_STEP, "cache/e2b");
        assert_string_equal(scoped_log(scoped), "");
    }
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "list create restamp command");
}

/* B-61, B-67: what is no word of the file system refuses; nothing is rebuilt that readers could not
 * be kept from. */
static void test_marker_cannot_be_written(void **state)
{
    struct scoped *scoped = *state;

    scoped_session(scoped, 0, true);
    scoped_run(scoped);
    assert_int_equal(world_close(scoped->world), 0);
    scoped_log(scoped);
    assert_int_equal(mkdir(scoped->files.marker, 0700), 0);
    scoped_session(scoped, 1, true);
    scoped_refused(scoped, HE2B_ERR_STEP, "cache/e2b");
    assert_string_equal(scoped_log(scoped), "list connect");
    assert_true(scoped_lease_free(scoped));
    assert_string_equal(scoped->world->messages, "");
    assert_int_equal(rmdir(scoped->files.marker), 0);
    scoped_run(scoped);
}

static void linger(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    world_stop_soon(world);
    peer_gate_wait(&world->released, 1);
    world_marker(request, 0);
    world_end(request, 0);
}

static void down(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 500, "down");
}

static void renewed(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_answer(request, 200, "application/json", "{\"sandboxID\":\"" WORLD_ID "\"}");
    world_stop_soon(world);
}

/* B-31: a command without a limit keeps its lease also while another one's state is synchronised.
 */
static void test_a_long_sync_beside_a_command(void **state)
{
    struct scoped *scoped = *state;
    he2b_session *session = scoped_session(scoped, 0, true);
    struct ran first;
    struct ran second;

    scoped_run(scoped);
    scoped->world->on_command = linger;
    ran_start(&first, scoped->world, "make");
    world_run(scoped->world);
    scoped->world->on_connect = renewed;
    scoped->hold_kind = HE2B_STEP_SYNC;
    ran_start(&second, scoped->world, "true");
    world_run(scoped->world);
    assert_string_equal(he2b_session_state(session), "preparing");
    session->deadline_ms = he2b_now_ms() + 2;
    he2b_session_wake(session);
    world_run(scoped->world);
    assert_int_equal(world_count(scoped->world, "connect"), 1);
    peer_gate_raise(&scoped->world->released);
    he2b_step_done(scoped->held, HE2B_STEP_DONE, NULL);
    scoped->held = NULL;
    while (!first.times || !second.times)
        world_run(scoped->world);
    assert_int_equal(first.outcome, HE2B_ENDED);
    assert_int_equal(second.outcome, HE2B_ENDED);
    ran_del(&first);
    ran_del(&second);
    assert_false(scoped->world->trouble);
}

/* B-31: a lease that became too short while the state was synchronised is extended before the
 * command starts; one that is not known any more is, too (B-35: a renewal beside found a cold
 * boot). */
static void test_a_sync_outlasts_the_lease(void **state)
{
    struct scoped *scoped = *state;
    he2b_session *session;
    unsigned unknown;

    scoped_short_lease(scoped);
    session = scoped_session(scoped, 0, true);
    scoped_run(scoped);
    for (unknown = 0; unknown < 2; unknown++) {
        struct ran ran;

        scoped_log(scoped);
        scoped->hold_kind = HE2B_STEP_SYNC;
        ran_start(&ran, scoped->world, "true");
        world_run(scoped->world);
        session->deadline_ms = unknown ? 0 : he2b_now_ms() - 1;
        he2b_step_done(scoped->held, HE2B_STEP_DONE, NULL);
        scoped->held = NULL;
        world_run(scoped->world);
        assert_int_equal(ran.outcome, HE2B_ENDED);
        assert_string_equal(scoped_log(scoped), "sync connect sync command");
        ran_del(&ran);
    }
    assert_false(scoped->world->trouble);
}

/* ... but one that was asked for in vain just before, and is still ahead, stops no command. */
static void test_a_short_lease_that_cannot_be_longer(void **state)
{
    struct scoped *scoped = *state;

    scoped_short_lease(scoped);
    scoped_session(scoped, 0, true);
    scoped_run(scoped);
    scoped_log(scoped);
    scoped->world->on_connect = down;
    scoped->world->session->deadline_ms = he2b_now_ms() + 30000;
    assert_int_equal(scoped_run_long(scoped), 0);
    assert_non_null(strstr(scoped_log(scoped), " sync command"));
    assert_int_equal(world_count(scoped->world, "command"), 2);
    scoped->world->messages[0] = '\0';
}

/* EINTR is no answer. */
static void test_interrupted_locks(void **state)
{
    struct scoped *scoped = *state;

    flock_shim.flock_errno = EINTR;
    flock_shim.flock_times = 10;
    scoped_session(scoped, 0, false);
    scoped_run(scoped);
    assert_false(scoped_lease_free(scoped));
    assert_string_equal(scoped->world->messages, "");
}

/* B-24: after its time the creation lock is gone on without. */
static void test_creation_lock_is_held_for_ever(void **state)
{
    struct scoped *scoped = *state;

    scoped_session(scoped, 0, false);
    scoped->sessions[0]->steps.host->creation_wait_ms = 150;
    scoped_take_creation(scoped);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "list create restamp command");
    assert_int_equal(times_in(scoped->world->messages, "may get two sandboxes"), 1);
    scoped->world->messages[0] = '\0';
}

/* A step that is out keeps the locks until it is answered, although the session is gone: nobody may
 * write while a push may still be on its way. */
static void test_session_is_deleted_while_a_step_is_out(void **state)
{
    struct scoped *scoped = *state;
    struct ran ran;

    scoped_session(scoped, 0, true);
    scoped->hold_kind = HE2B_STEP_PUSH;
    ran_start(&ran, scoped->world, "true");
    world_run(scoped->world);
    ran.keep_running = true;
    he2b_session_del(scoped->sessions[0]);
    scoped->sessions[0] = NULL;
    scoped->world->session = NULL;
    assert_int_equal(ran.times, 1);
    assert_int_equal(ran.failure, HE2B_ERR_CLOSED);
    ran_del(&ran);
    assert_false(scoped_lease_free(scoped));
    he2b_step_done(scoped->held, HE2B_STEP_DONE, NULL);
    scoped->held = NULL;
    assert_true(scoped_lease_free(scoped));
    assert_true(scoped_dirty(scoped));
}

/* B-64: nobody is left who would do it: the role is given up, the next command begins anew. */
static void test_abandoned_push(void **state)
{
    struct scoped *scoped = *state;

    scoped_session(scoped, 0, true);
    scoped->bend_kind = HE2B_STEP_PUSH;
    scoped->bend_outcome = HE2B_STEP_ABANDONED;
    scoped->bend_times = 1;
    scoped_refused(scoped, HE2B_ERR_STEP, "nobody waits");
    assert_true(scoped_lease_free(scoped));
    assert_true(scoped_dirty(scoped));
    scoped_log(scoped);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "list connect unstamp recover push restamp command");
    assert_false(scoped->world->trouble);
}

/* B-66: who came while a sync was on its way is not started on what that sync saw. */
static void test_sync_counts_for_those_who_were_there(void **state)
{
    struct scoped *scoped = *state;
    struct ran first;
    struct ran second;

    scoped_session(scoped, 0, true);
    scoped_run(scoped);
    scoped_log(scoped);
    scoped->hold_kind = HE2B_STEP_SYNC;
    ran_start(&first, scoped->world, "true");
    world_run(scoped->world);
    ran_start(&second, scoped->world, "true");
    he2b_step_done(scoped->held, HE2B_STEP_DONE, NULL);
    scoped->held = NULL;
    scoped->hold_kind = HE2B_STEP_SYNC;
    while (!scoped->held || !first.times)
        world_run(scoped->world);
    assert_int_equal(second.times, 0);
    he2b_step_done(scoped->held, HE2B_STEP_DONE, NULL);
    scoped->held = NULL;
    world_run(scoped->world);
    assert_int_equal(second.times, 1);
    assert_int_equal(world_count(scoped->world, "command"), 3);
    ran_del(&first);
    ran_del(&second);
    assert_false(scoped->world->trouble);
}

static void on_prepared(void *user, const he2b_failure *failure)
{
    struct world *world = user;

    assert_null(failure);
    world_stop(world);
}

/* Runs "true", for which a prepare has found that generation. */
static void run_prepared(struct scoped *scoped, unsigned generation)
{
    struct ran ran;

    ran_new(&ran, scoped->world, "true");
    he2b_command_set_prepared(ran.command, generation);
    ran_go(&ran);
    world_run(scoped->world);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    ran_del(&ran);
}

/* B-66, B-116: a command that was prepared for is not synchronised for once more, also while the
 * state is synchronised for another; of another generation, or after that other's sync failed, it
 * is. */
static void test_prepared(void **state)
{
    struct scoped *scoped = *state;
    he2b_session *session = scoped_session(scoped, 0, true);
    struct ran other;

    scoped_run(scoped);
    assert_int_equal(he2b_session_prepare(session, 0, on_prepared, scoped->world), HE2B_OK);
    world_run(scoped->world);
    scoped_log(scoped);
    run_prepared(scoped, he2b_session_generation(session));
    assert_string_equal(scoped_log(scoped), "command");

    scoped->hold_kind = HE2B_STEP_SYNC;
    ran_start(&other, scoped->world, "true");
    world_run(scoped->world);
    run_prepared(scoped, he2b_session_generation(session));
    assert_string_equal(scoped_log(scoped), "sync command");
    he2b_step_done(scoped->held, HE2B_STEP_FAILED, "the test says so");
    scoped->held = NULL;
    world_run(scoped->world);
    assert_int_equal(other.failure, HE2B_ERR_STEP);
    ran_del(&other);

    /* the failure left the sandbox in doubt: a lease that is not known covers nothing (B-97) */
    run_prepared(scoped, he2b_session_generation(session));
    assert_string_equal(scoped_log(scoped), "connect sync command");

    run_prepared(scoped, he2b_session_generation(session) + 1);
    assert_string_equal(scoped_log(scoped), "sync command");
    assert_false(scoped->world->trouble);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(he2b_step_name(HE2B_STEP_ELECT), "elect");
    assert_string_equal(he2b_step_name(HE2B_STEP_PULL), "pull");
    assert_string_equal(he2b_step_name(0), "?");
    assert_string_equal(he2b_step_name(10), "?");
}

/* B-67: a marker says why it is there, also one that had to wait for the step before it. */
static void test_a_step_that_waits_keeps_its_reason(void **state)
{
    struct scoped *scoped = *state;
    char line[64] = "";
    struct ran ran;
    FILE *file;

    scoped_session(scoped, 0, true);
    scoped->hold_kind = HE2B_STEP_PUSH;
    ran_start(&ran, scoped->world, "true");
    world_run(scoped->world);
    assert_int_equal(unlink(scoped->files.marker), 0);
    he2b_steps_want(scoped->sessions[0], HE2B_STEP_MARK, "a reason");
    scoped->hold_kind = HE2B_STEP_MARK;
    he2b_step_done(scoped->held, HE2B_STEP_DONE, NULL);
    scoped->held = NULL;
    world_run(scoped->world);
    he2b_step_do(scoped->held);
    file = fopen(scoped->files.marker, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    assert_string_equal(line, "a reason\n");
    ran.keep_running = true;
    he2b_session_del(scoped->sessions[0]);
    scoped->sessions[0] = NULL;
    ran_del(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SHIM(test_no_handler),
        IN_SHIM(test_state_without_a_handler),
        IN_SHIM(test_a_sync_outlasts_the_lease),
        IN_SHIM(test_a_short_lease_that_cannot_be_longer),
        IN_SHIM(test_locks_are_not_supported),
        IN_SHIM(test_no_descriptors),
        IN_SHIM(test_interrupted_locks),
        IN_SHIM(test_creation_lock_is_held_for_ever),
        IN_SHIM(test_session_is_deleted_while_a_step_is_out),
        IN_SHIM(test_abandoned_push),
        IN_SHIM(test_sync_counts_for_those_who_were_there),
        IN_SHIM(test_marker_cannot_be_written),
        IN_SHIM(test_a_long_sync_beside_a_command),
        IN_SHIM(test_prepared),
        IN_SHIM(test_a_step_that_waits_keeps_its_reason),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
