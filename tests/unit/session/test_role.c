/* Who writes a scope: the first, those beside it, those after it (B-60 to B-68, B-35). */
#include "net/loop.h"
#include "tests/unit/session/scoped.h"

#include <stdio.h>
#include <unistd.h>

/* ---- the first ---- */

/* B-20, B-24, B-62, B-63: four turns to the first command; the lease is held, the scope clean and
 * the sandbox stamped. */
static void test_first_session_makes_the_sandbox(void **state)
{
    struct scoped *scoped = *state;

    scoped_session(scoped, 0, false);
    assert_string_equal(he2b_session_role(scoped->world->session), "idle");
    assert_string_equal(scoped_log(scoped), "");
    assert_int_not_equal(access(scoped->files.writer_lock, F_OK), 0);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "list create restamp command");
    assert_string_equal(he2b_session_role(scoped->world->session), "holding");
    assert_false(scoped_lease_free(scoped));
    assert_true(scoped_creation_free(scoped));
    assert_false(scoped_dirty(scoped));
    assert_string_not_equal(scoped->world->stamp, "");
    scoped_run(scoped);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "command command");
    assert_string_equal(scoped->world->messages, "");
    assert_false(scoped->world->trouble);
}

/* The order of the steps of a new sandbox: no recovery, and the stamp after the push. */
static void test_new_sandbox_with_state(void **state)
{
    struct scoped *scoped = *state;

    scoped->log_steps = true;
    scoped_session(scoped, 0, true);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped),
                        "elect list create mark probe push restamp clear command");
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "sync clear command");
    assert_false(scoped->world->trouble);
}

/* B-62: mark, unstamp, recover, push, stamp, clear. */
static void test_takeover_with_state(void **state)
{
    struct scoped *scoped = *state;

    scoped_sandbox(scoped, "theirs");
    scoped->log_steps = true;
    scoped_session(scoped, 0, true);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped),
                        "elect list connect mark unstamp recover push restamp clear command");
    assert_string_not_equal(scoped->world->stamp, "theirs");
    assert_false(scoped->world->trouble);
}

/* B-62: five turns where nothing is to be moved. */
static void test_takeover_without_state(void **state)
{
    struct scoped *scoped = *state;

    scoped_sandbox(scoped, "theirs");
    scoped_session(scoped, 0, false);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "list connect unstamp restamp command");
    assert_string_equal(he2b_session_role(scoped->world->session), "holding");
    assert_int_equal(he2b_session_generation(scoped->world->session), 1);
}

/* ---- beside it ---- */

/* B-60, B-65: four turns, nothing moved. */
static void test_second_session_reads(void **state)
{
    struct scoped *scoped = *state;

    scoped_begin(scoped, true);
    scoped->log_steps = false;
    scoped_session(scoped, 1, true);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "list connect probe command");
    assert_string_equal(he2b_session_role(scoped->world->session), "reading");
    assert_true(scoped_creation_free(scoped));
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "command");
    assert_false(scoped->world->trouble);
}

/* B-65: a reader becomes the writer at its next command once there is none, B-68. */
static void test_reader_is_promoted(void **state)
{
    struct scoped *scoped = *state;

    scoped_session(scoped, 0, false);
    scoped_run(scoped);
    scoped_session(scoped, 1, false);
    scoped_run(scoped);
    scoped_use(scoped, 0);
    assert_int_equal(world_close(scoped->world), 0);
    scoped_use(scoped, 1);
    scoped_log(scoped);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "unstamp restamp command");
    assert_string_equal(he2b_session_role(scoped->world->session), "holding");
    assert_false(scoped_lease_free(scoped));
    assert_int_equal(he2b_session_generation(scoped->world->session), 1);
    assert_false(scoped->world->trouble);
}

static void dirty(struct scoped *scoped)
{
    FILE *file = fopen(scoped->files.marker, "w");

    assert_non_null(file);
    fputs("a writer is taking over\npid=1\n", file);
    fclose(file);
}

/* B-65: no command of a reader while the scope is dirty; it attaches to nothing, and holds
 * nothing. */
static void test_reader_at_a_dirty_scope(void **state)
{
    struct scoped *scoped = *state;

    scoped_sandbox(scoped, "theirs");
    scoped_session(scoped, 0, false);
    scoped_take_lease(scoped);
    dirty(scoped);
    scoped_refused(scoped, HE2B_ERR_NOT_READY, "being rebuilt");
    assert_string_equal(scoped_log(scoped), "list connect");
    assert_string_equal(he2b_session_role(scoped->world->session), "idle");
    assert_true(scoped_creation_free(scoped));
    unlink(scoped->files.marker);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "list connect probe command");
    /* and later on: refused, and still a reader */
    dirty(scoped);
    scoped_refused(scoped, HE2B_ERR_NOT_READY, "being rebuilt");
    assert_string_equal(scoped_log(scoped), "");
    assert_string_equal(he2b_session_role(scoped->world->session), "reading");
    unlink(scoped->files.marker);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "command");
    assert_false(scoped->world->trouble);
}

/* B-65: a sandbox without a stamp was never fit for a reader. */
static void test_reader_at_an_unstamped_sandbox(void **state)
{
    struct scoped *scoped = *state;

    scoped_sandbox(scoped, "");
    scoped_session(scoped, 0, false);
    scoped_take_lease(scoped);
    scoped_refused(scoped, HE2B_ERR_NOT_READY, "being rebuilt");
    assert_string_equal(scoped_log(scoped), "list connect probe");
    assert_string_equal(he2b_session_role(scoped->world->session), "idle");
}

/* ---- a writer's bad days ---- */

/* B-62, B-64: the marker stays, the lease goes before anybody is told; the next command tries it
 * all again. */
static void test_failures_of_a_takeover(void **state)
{
    static const struct {
        enum he2b_step_kind kind;
        const char *log;
        const char *text;
    } cases[] = {
        {HE2B_STEP_RECOVER, "list connect unstamp recover", "state recovery: the test says so"},
        {HE2B_STEP_PUSH, "list connect unstamp recover push",
         "initial state upload: the test says so"},
    };
    struct scoped *scoped = *state;
    size_t i;

    scoped_sandbox(scoped, "theirs");
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        scoped_session(scoped, 0, true);
        scoped->bend_kind = cases[i].kind;
        scoped->bend_outcome = HE2B_STEP_FAILED;
        scoped->bend_times = 1;
        scoped_refused(scoped, HE2B_ERR_STEP, cases[i].text);
        assert_string_equal(scoped_log(scoped), cases[i].log);
        assert_true(scoped_dirty(scoped));
        assert_true(scoped_lease_free(scoped));
        assert_string_equal(scoped->world->stamp, "");
        scoped_run(scoped);
        assert_string_equal(scoped_log(scoped),
                            "list connect unstamp recover push restamp command");
        assert_false(scoped_dirty(scoped));
        assert_int_equal(world_close(scoped->world), 0);
        scoped_log(scoped);
        he2b_session_del(scoped->sessions[0]);
        scoped->sessions[0] = NULL;
    }
    assert_false(scoped->world->trouble);
}

static void no_stamp(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    world_end(request, 42);
}

/* The disk of the sandbox is full: no stamp, so no command; the scope stays dirty. */
static void test_stamp_cannot_be_written(void **state)
{
    struct scoped *scoped = *state;

    scoped->world->on_probe = no_stamp;
    scoped_session(scoped, 0, false);
    scoped_refused(scoped, HE2B_ERR_REFUSED, "is its disk full?");
    assert_true(scoped_dirty(scoped));
    assert_true(scoped_lease_free(scoped));
}

/* B-66: the command whose state could not be brought is refused, the scope is dirty for readers,
 * the role stays. */
static void test_sync_fails(void **state)
{
    struct scoped *scoped = *state;

    scoped_session(scoped, 0, true);
    scoped_run(scoped);
    scoped_log(scoped);
    scoped->bend_kind = HE2B_STEP_SYNC;
    scoped->bend_outcome = HE2B_STEP_FAILED;
    scoped->bend_times = 1;
    scoped_refused(scoped, HE2B_ERR_STEP, "state sync before the command: the test says so");
    assert_string_equal(scoped_log(scoped), "sync");
    assert_true(scoped_dirty(scoped));
    assert_string_equal(he2b_session_role(scoped->world->session), "holding");
    assert_false(scoped_lease_free(scoped));
    scoped_run(scoped);
    /* there may be no sandbox any more: the next command asks first (B-97) */
    assert_string_equal(scoped_log(scoped), "connect sync command");
    assert_false(scoped_dirty(scoped));
    assert_false(scoped->world->trouble);
}

static world_fn connect_well;

static void connect_gone(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    world->exists = false;
    world->stamp[0] = '\0';
    world->on_connect = connect_well;
    world_error(request, 404, "sandbox not found");
}

/* B-97: that the sandbox is gone may show in a sync first. That command is refused; the next one
 * finds or makes another, and the whole state goes there. */
static void test_sync_finds_no_sandbox(void **state)
{
    struct scoped *scoped = *state;

    scoped_session(scoped, 0, true);
    scoped_run(scoped);
    scoped_log(scoped);
    connect_well = scoped->world->on_connect;
    scoped->world->on_connect = connect_gone;
    scoped->bend_kind = HE2B_STEP_SYNC;
    scoped->bend_outcome = HE2B_STEP_FAILED;
    scoped->bend_times = 1;
    scoped_refused(scoped, HE2B_ERR_STEP, "state sync before the command");
    scoped_log(scoped);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "connect list create probe push restamp command");
    assert_false(scoped_dirty(scoped));
    scoped->world->messages[0] = '\0';
    assert_false(scoped->world->trouble);
}

/* ---- a sandbox that slept ---- */

static const char resumed[] = "{\"sandboxID\":\"" WORLD_ID "\",\"templateID\":\"base\","
                              "\"envdVersion\":\"0.6.13\",\"envdAccessToken\":\"secret-token\"}";

static void connect_resumed(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_answer(request, 201, "application/json", resumed);
}

/* B-35: resumed with its disk; the stamp is that of this writer's push, so nothing is rebuilt. */
static void test_cold_boot_of_the_same_disk(void **state)
{
    struct scoped *scoped = *state;

    scoped_short_lease(scoped);
    scoped_session(scoped, 0, true);
    scoped_run(scoped);
    scoped_log(scoped);
    scoped->world->on_connect = connect_resumed;
    assert_int_equal(scoped_run_long(scoped), 0);
    assert_string_equal(scoped_log(scoped), "connect probe sync command");
    assert_int_equal(he2b_session_generation(scoped->world->session), 2);
    assert_false(scoped->world->trouble);
}

/* B-35: an older disk came back, or another's: the whole way again. */
static void test_cold_boot_of_another_disk(void **state)
{
    struct scoped *scoped = *state;

    scoped_short_lease(scoped);
    scoped_session(scoped, 0, true);
    scoped_run(scoped);
    scoped_log(scoped);
    scoped_sandbox(scoped, "of last week");
    scoped->world->on_connect = connect_resumed;
    assert_int_equal(scoped_run_long(scoped), 0);
    assert_string_equal(scoped_log(scoped), "connect probe unstamp recover push restamp command");
    assert_false(scoped->world->trouble);
}

static void once_gone(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    pthread_mutex_lock(&world->lock);
    world->exists = false;
    world->stamp[0] = '\0';
    pthread_mutex_unlock(&world->lock);
    world_error(request, 404, "sandbox not found");
}

/* B-97: the writer's sandbox is gone: it is looked for, and made anew, by the same writer. */
static void test_sandbox_is_gone(void **state)
{
    struct scoped *scoped = *state;

    scoped_short_lease(scoped);
    scoped->log_steps = true;
    scoped_session(scoped, 0, true);
    scoped_run(scoped);
    scoped_log(scoped);
    scoped->world->on_connect = once_gone;
    assert_int_equal(scoped_run_long(scoped), 0);
    assert_string_equal(scoped_log(scoped),
                        "connect elect list create mark probe push restamp clear command");
    assert_int_equal(he2b_session_generation(scoped->world->session), 2);
    assert_non_null(strstr(scoped->world->messages, "no longer exists"));
    assert_false(scoped->world->trouble);
}

/* The sandbox that was made first is dead; its proxy says so, once the test lets it. */
static void dead_until_made_anew(struct world *world, struct peer_request *request, unsigned nth)
{
    if (nth == 2) {
        world_stop_soon(world);
        peer_gate_wait(&world->released, 1);
    }
    if (world_count(world, "create") < 2)
        world_no_sandbox(request);
    else
        world_command(request, "out\n", 0);
}

struct watch {
    struct scoped *scoped;
    he2b_timer *timer;
    const he2b_command *command;
};

static void stop_when_it_waits(void *arg)
{
    struct watch *watch = arg;

    if (strcmp(he2b_command_state(watch->command), "waiting") == 0)
        world_stop(watch->scoped->world);
    else
        assert_int_equal(he2b_timer_arm(watch->timer, 1), HE2B_OK);
}

/* B-97: that it is gone shows while another command is being prepared for it: both run, once, in
 * the new one. */
static void test_sandbox_vanishes_under_two_commands(void **state)
{
    struct scoped *scoped = *state;
    struct watch watch = {.scoped = scoped};
    struct ran first;
    struct ran second;

    scoped_begin(scoped, true);
    scoped->world->exists = false;
    scoped->world->on_connect = once_gone;
    scoped->world->on_command = dead_until_made_anew;
    ran_start(&first, scoped->world, "true");
    world_run(scoped->world);
    scoped->hold_kind = HE2B_STEP_SYNC;
    ran_start(&second, scoped->world, "true");
    world_run(scoped->world);
    assert_string_equal(he2b_session_state(scoped->world->session), "preparing");
    watch.command = first.command;
    assert_int_equal(he2b_timer_new(&watch.timer, scoped->world->loop, stop_when_it_waits, &watch),
                     HE2B_OK);
    assert_int_equal(he2b_timer_arm(watch.timer, 1), HE2B_OK);
    peer_gate_raise(&scoped->world->released);
    world_run(scoped->world);
    he2b_timer_del(watch.timer);
    he2b_step_done(scoped->held, HE2B_STEP_DONE, NULL);
    scoped->held = NULL;
    while (!first.times || !second.times)
        world_run(scoped->world);
    assert_int_equal(first.outcome, HE2B_ENDED);
    assert_int_equal(second.outcome, HE2B_ENDED);
    assert_int_equal(world_count(scoped->world, "create"), 2);
    assert_int_equal(he2b_session_generation(scoped->world->session), 2);
    assert_false(scoped->world->trouble);
    ran_del(&first);
    ran_del(&second);
    assert_non_null(strstr(scoped->world->messages, "no longer exists"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCOPE(test_first_session_makes_the_sandbox),
        IN_SCOPE(test_new_sandbox_with_state),
        IN_SCOPE(test_takeover_with_state),
        IN_SCOPE(test_takeover_without_state),
        IN_SCOPE(test_second_session_reads),
        IN_SCOPE(test_reader_is_promoted),
        IN_SCOPE(test_reader_at_a_dirty_scope),
        IN_SCOPE(test_reader_at_an_unstamped_sandbox),
        IN_SCOPE(test_failures_of_a_takeover),
        IN_SCOPE(test_stamp_cannot_be_written),
        IN_SCOPE(test_sync_fails),
        IN_SCOPE(test_sync_finds_no_sandbox),
        IN_SCOPE(test_cold_boot_of_the_same_disk),
        IN_SCOPE(test_cold_boot_of_another_disk),
        IN_SCOPE(test_sandbox_is_gone),
        IN_SCOPE(test_sandbox_vanishes_under_two_commands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
