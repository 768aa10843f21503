/* Hermes' state in a sandbox of the session's own: pushed before anything runs there, synchronised
 * before each command, pulled before the kill (B-73, B-91 to B-97). */
#include "tests/unit/session/scoped.h"

#include <string.h>

static void begin(struct scoped *scoped)
{
    scoped_own_session(scoped);
    scoped_run(scoped);
    scoped_log(scoped);
}

static void fails(struct scoped *scoped, enum he2b_step_kind kind, enum he2b_step_outcome outcome)
{
    scoped->bend_kind = kind;
    scoped->bend_outcome = outcome;
    scoped->bend_times = 1;
}

static void expect_no_trouble(struct scoped *scoped)
{
    assert_string_equal(scoped->world->messages, "");
    assert_false(scoped->world->trouble);
}

/* ---- the way of a command ---- */

/* B-70, B-73, B-91: and no lock, no marker, no stamp, nothing to recover; idle before and after. */
static void test_order(void **state)
{
    struct scoped *scoped = *state;

    scoped_own_session(scoped);
    assert_string_equal(scoped_log(scoped), "");
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "create probe push command");
    assert_string_equal(he2b_session_role(scoped->world->session), "own holding");
    scoped_run(scoped);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "sync command sync command");
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "connect pull kill");
    assert_string_equal(he2b_session_role(scoped->world->session), "idle");
    assert_int_equal(he2b_session_generation(scoped->world->session), 1);
    expect_no_trouble(scoped);
}

/* Without it nothing is asked for: neither by a session that never had state, nor by one that was
 * told so. */
static void test_without_state(void **state)
{
    struct scoped *scoped = *state;
    he2b_session *session = scoped_own_session(scoped);

    assert_int_equal(he2b_session_set_host_state(session, 0), HE2B_OK);
    scoped_run(scoped);
    scoped_run(scoped);
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "create probe command command kill");
    expect_no_trouble(scoped);
}

/* One's own sandbox is neither a scope's nor a given one, whichever is said first; and what is
 * begun is not changed. */
static void test_when_it_can_be_set(void **state)
{
    struct scoped *scoped = *state;
    struct world *world = scoped->world;
    he2b_session *session;

    session = scoped_session(scoped, 0, false);
    assert_int_equal(he2b_session_set_host_state(session, 1), HE2B_ERR_STATE);
    he2b_session_del(session);

    session = world_session(world);
    assert_int_equal(he2b_session_set_sandbox(session, WORLD_ID), HE2B_OK);
    assert_int_equal(he2b_session_set_host_state(session, 1), HE2B_ERR_STATE);
    he2b_session_del(session);

    session = scoped_own_session(scoped);
    assert_int_equal(he2b_session_set_scope(session, scoped->home, "task", 1), HE2B_ERR_STATE);
    assert_int_equal(he2b_session_set_sandbox(session, WORLD_ID), HE2B_ERR_STATE);
    scoped_run(scoped);
    assert_int_equal(he2b_session_set_host_state(session, 0), HE2B_ERR_STATE);
    assert_int_equal(world_close(world), 0);
}

/* Nobody would move it: no command runs without its state (B-73). */
static void test_nobody_moves_it(void **state)
{
    struct scoped *scoped = *state;

    scoped_own_session(scoped);
    assert_int_equal(he2b_session_on_step(scoped->world->session, NULL, NULL), HE2B_OK);
    scoped_refused(scoped, HE2B_ERR_STEP, "he2b_session_on_step()");
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "create probe kill");
}

/* Two that wait share one push. */
static void test_two_at_once(void **state)
{
    struct scoped *scoped = *state;
    struct ran first;
    struct ran second;

    scoped_own_session(scoped);
    ran_start(&first, scoped->world, "true");
    ran_start(&second, scoped->world, "true");
    while (!first.times || !second.times)
        world_run(scoped->world);
    assert_int_equal(first.outcome, HE2B_ENDED);
    assert_int_equal(second.outcome, HE2B_ENDED);
    assert_string_equal(scoped_log(scoped), "create probe push command command");
    ran_del(&first);
    ran_del(&second);
    expect_no_trouble(scoped);
}

/* B-70: who came while a sync was on its way gets one of its own. */
static void test_sync_counts_for_those_who_were_there(void **state)
{
    struct scoped *scoped = *state;
    struct ran first;
    struct ran second;

    begin(scoped);
    scoped->hold_kind = HE2B_STEP_SYNC;
    ran_start(&first, scoped->world, "true");
    world_run(scoped->world);
    ran_start(&second, scoped->world, "true");
    scoped->hold_kind = HE2B_STEP_SYNC;
    scoped_answer(scoped, HE2B_STEP_DONE);
    while (!scoped->held || !first.times)
        world_run(scoped->world);
    assert_int_equal(second.times, 0);
    scoped_answer(scoped, HE2B_STEP_DONE);
    world_run(scoped->world);
    assert_int_equal(second.outcome, HE2B_ENDED);
    ran_del(&first);
    ran_del(&second);
    expect_no_trouble(scoped);
}

static void on_prepared(void *user, const he2b_failure *failure)
{
    assert_null(failure);
    world_stop(user);
}

static void prepare(struct scoped *scoped)
{
    assert_int_equal(he2b_session_prepare(scoped->world->session, 0, on_prepared, scoped->world),
                     HE2B_OK);
    world_run(scoped->world);
}

/* A command that was prepared for is not synchronised for once more; the next one is. */
static void test_prepared(void **state)
{
    struct scoped *scoped = *state;
    struct ran ran;

    scoped_own_session(scoped);
    prepare(scoped);
    ran_new(&ran, scoped->world, "true");
    he2b_command_set_prepared(ran.command, he2b_session_generation(scoped->world->session));
    ran_go(&ran);
    world_run(scoped->world);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    ran_del(&ran);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "create probe push command sync command");
    expect_no_trouble(scoped);
}

/* ---- what fails ---- */

/* B-73: fatal for the command; the next one pushes anew into the same sandbox, which is looked into
 * again. */
static void test_push_fails(void **state)
{
    static const struct {
        enum he2b_step_outcome outcome;
        const char *text;
    } cases[] = {
        {HE2B_STEP_FAILED, "initial state upload: the test says so"},
        {HE2B_STEP_ABANDONED, "initial state upload: nobody waits"},
    };
    struct scoped *scoped = *state;
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        scoped_own_session(scoped);
        fails(scoped, HE2B_STEP_PUSH, cases[i].outcome);
        scoped_refused(scoped, HE2B_ERR_STEP, cases[i].text);
        assert_string_equal(scoped_log(scoped), "create probe push");
        assert_string_equal(he2b_session_role(scoped->world->session), "idle");
        scoped_run(scoped);
        assert_string_equal(scoped_log(scoped), "connect probe push command");
        assert_int_equal(world_close(scoped->world), 0);
        assert_string_equal(scoped_log(scoped), "connect pull kill");
        expect_no_trouble(scoped);
        he2b_session_del(scoped->sessions[0]);
        scoped->sessions[0] = NULL;
    }
}

/* B-91, B-92: nothing was pushed and nothing ran: killed, and nothing pulled. */
static void test_close_after_a_push_that_failed(void **state)
{
    struct scoped *scoped = *state;

    scoped_own_session(scoped);
    fails(scoped, HE2B_STEP_PUSH, HE2B_STEP_FAILED);
    scoped_refused(scoped, HE2B_ERR_STEP, "initial state upload");
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "create probe push kill");
    expect_no_trouble(scoped);
}

/* B-73, B-97: the command is refused, the session stays; perhaps there is no sandbox any more, so
 * the next one asks first. What was abandoned says nothing about the sandbox. */
static void test_sync_fails(void **state)
{
    struct scoped *scoped = *state;

    begin(scoped);
    fails(scoped, HE2B_STEP_SYNC, HE2B_STEP_FAILED);
    scoped_refused(scoped, HE2B_ERR_STEP, "state sync before the command: the test says so");
    assert_string_equal(scoped_log(scoped), "sync");
    assert_string_equal(he2b_session_state(scoped->world->session), "ready");
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "connect sync command");
    fails(scoped, HE2B_STEP_SYNC, HE2B_STEP_ABANDONED);
    scoped_refused(scoped, HE2B_ERR_STEP, "state sync before the command: nobody waits");
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "sync sync command");
    /* also at the end: what is there comes home */
    fails(scoped, HE2B_STEP_SYNC, HE2B_STEP_FAILED);
    scoped_refused(scoped, HE2B_ERR_STEP, "state sync before the command");
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "sync connect pull kill");
    expect_no_trouble(scoped);
}

/* ---- another sandbox, or another boot ---- */

static world_fn connect_well;

static void connect_gone(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    world->on_connect = connect_well;
    world_error(request, 404, "sandbox not found");
}

static void gone_once(struct scoped *scoped)
{
    connect_well = scoped->world->on_connect;
    scoped->world->on_connect = connect_gone;
}

/* B-97: everything goes to the new one, and comes home from there. */
static void test_sync_finds_no_sandbox(void **state)
{
    struct scoped *scoped = *state;

    begin(scoped);
    gone_once(scoped);
    fails(scoped, HE2B_STEP_SYNC, HE2B_STEP_FAILED);
    scoped_refused(scoped, HE2B_ERR_STEP, "state sync before the command");
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "sync connect create probe push command");
    assert_int_equal(he2b_session_generation(scoped->world->session), 2);
    assert_non_null(strstr(scoped->world->messages, "no longer exists"));
    scoped_run(scoped);
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "sync command connect pull kill");
    assert_false(scoped->world->trouble);
    scoped->world->messages[0] = '\0';
}

static void dead_once(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    if (nth == 2)
        world_no_sandbox(request);
    else
        world_command(request, "out\n", 0);
}

/* ... also when the command itself finds none. */
static void test_command_finds_no_sandbox(void **state)
{
    struct scoped *scoped = *state;

    begin(scoped);
    gone_once(scoped);
    scoped->world->on_command = dead_once;
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "sync command connect create probe push command");
    assert_false(scoped->world->trouble);
    scoped->world->messages[0] = '\0';
}

/* Nothing was pushed to the new one, so nothing is pulled from it: what was in the old one is lost,
 * and that was said. */
static void test_push_to_a_new_sandbox_fails(void **state)
{
    struct scoped *scoped = *state;

    begin(scoped);
    gone_once(scoped);
    fails(scoped, HE2B_STEP_SYNC, HE2B_STEP_FAILED);
    scoped_refused(scoped, HE2B_ERR_STEP, "state sync before the command");
    fails(scoped, HE2B_STEP_PUSH, HE2B_STEP_FAILED);
    scoped_refused(scoped, HE2B_ERR_STEP, "initial state upload");
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "sync connect create probe push kill");
    assert_non_null(strstr(scoped->world->messages, "what was in it is lost"));
    assert_false(scoped->world->trouble);
    scoped->world->messages[0] = '\0';
}

/* One that still runs is only synchronised for: a push would go over what is there alone. */
static void test_longer_lease(void **state)
{
    struct scoped *scoped = *state;

    scoped_short_lease(scoped);
    begin(scoped);
    assert_int_equal(scoped_run_long(scoped), 0);
    assert_string_equal(scoped_log(scoped), "connect sync command");
    expect_no_trouble(scoped);
}

static void trouble(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 403, "not with this key");
}

/* ... also after a connect that failed: the role is kept. */
static void test_connect_fails(void **state)
{
    struct scoped *scoped = *state;

    scoped_short_lease(scoped);
    begin(scoped);
    connect_well = scoped->world->on_connect;
    scoped->world->on_connect = trouble;
    assert_int_not_equal(scoped_run_long(scoped), 0);
    scoped->world->on_connect = connect_well;
    scoped_log(scoped);
    assert_int_equal(scoped_run_long(scoped), 0);
    assert_string_equal(scoped_log(scoped), "connect sync command");
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "connect pull kill");
    assert_false(scoped->world->trouble);
}

static void connect_resumed(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    world->on_connect = connect_well;
    peer_answer(request, 201, "application/json",
                "{\"sandboxID\":\"" WORLD_ID "\",\"templateID\":\"base\","
                "\"envdVersion\":\"0.6.13\",\"envdAccessToken\":\"secret-token\"}");
}

/* B-35: its disk may be an older one, and nothing in it says. */
static void test_boot(void **state)
{
    struct scoped *scoped = *state;

    scoped_short_lease(scoped);
    begin(scoped);
    connect_well = scoped->world->on_connect;
    scoped->world->on_connect = connect_resumed;
    assert_int_equal(scoped_run_long(scoped), 0);
    assert_string_equal(scoped_log(scoped), "connect probe push command");
    assert_int_equal(he2b_session_generation(scoped->world->session), 2);
    expect_no_trouble(scoped);
}

/* B-91: what is there alone comes home, though the push after a boot failed. */
static void test_push_after_a_boot_fails(void **state)
{
    struct scoped *scoped = *state;

    scoped_short_lease(scoped);
    begin(scoped);
    connect_well = scoped->world->on_connect;
    scoped->world->on_connect = connect_resumed;
    fails(scoped, HE2B_STEP_PUSH, HE2B_STEP_FAILED);
    assert_int_equal(scoped_run_long(scoped), HE2B_ERR_STEP);
    assert_string_equal(scoped_log(scoped), "connect probe push");
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "connect pull kill");
    expect_no_trouble(scoped);
}

/* ---- the end ---- */

/* B-91: also when there was nothing to push, and no command ran. */
static void test_pull_after_an_empty_push(void **state)
{
    struct scoped *scoped = *state;

    scoped_own_session(scoped);
    prepare(scoped);
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "create probe push connect pull kill");
    expect_no_trouble(scoped);
}

/* B-20, B-90: a session that was never used touches nothing. */
static void test_unused(void **state)
{
    struct scoped *scoped = *state;

    scoped_own_session(scoped);
    assert_int_equal(world_close(scoped->world), 0);
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "");
    expect_no_trouble(scoped);
}

/* B-91: each attempt begins with a connect. */
static void test_pull_once_more(void **state)
{
    struct scoped *scoped = *state;

    begin(scoped);
    fails(scoped, HE2B_STEP_PULL, HE2B_STEP_AGAIN);
    scoped->bend_times = 2;
    assert_int_equal(world_close(scoped->world), 0);
    assert_string_equal(scoped_log(scoped), "connect pull connect pull connect pull kill");
    expect_no_trouble(scoped);
}

/* B-93: said with the sandbox and what that means, and killed all the same. */
static void test_pull_fails(void **state)
{
    struct scoped *scoped = *state;

    begin(scoped);
    fails(scoped, HE2B_STEP_PULL, HE2B_STEP_FAILED);
    assert_int_equal(world_close(scoped->world), HE2B_ERR_STEP);
    assert_string_equal(scoped_log(scoped), "connect pull kill");
    assert_non_null(strstr(scoped->world->messages, "state download: the test says so"));
    assert_non_null(strstr(scoped->world->messages, WORLD_ID));
    assert_non_null(strstr(scoped->world->messages, "is lost with it"));
    assert_false(scoped->world->trouble);
    scoped->world->messages[0] = '\0';
}

static void always_gone(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 404, "sandbox not found");
}

/* B-93, B-91: a kill of one that is gone is fine. */
static void test_pull_from_a_sandbox_that_is_gone(void **state)
{
    struct scoped *scoped = *state;

    begin(scoped);
    scoped->world->on_connect = always_gone;
    scoped->world->on_kill = always_gone;
    assert_int_equal(world_close(scoped->world), HE2B_ERR_GONE);
    assert_string_equal(scoped_log(scoped), "connect kill");
    assert_non_null(strstr(scoped->world->messages, "is lost with it"));
    assert_null(strstr(scoped->world->messages, "left to its lease"));
    assert_false(scoped->world->trouble);
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

static void close_begun(struct scoped *scoped, struct closing *closing)
{
    *closing = (struct closing){.scoped = scoped};
    assert_int_equal(he2b_session_close(scoped->world->session, on_closed, closing), HE2B_OK);
}

/* B-94, B-96: a pull that is given up lets the kill come, whatever becomes of its step. */
static void test_pull_is_abandoned(void **state)
{
    struct scoped *scoped = *state;
    struct closing closing;

    begin(scoped);
    scoped->hold_kind = HE2B_STEP_PULL;
    close_begun(scoped, &closing);
    world_run(scoped->world);
    assert_int_equal(closing.times, 0);
    he2b_session_abandon_pull(scoped->world->session);
    world_run(scoped->world);
    assert_int_equal(closing.times, 1);
    assert_int_equal(closing.code, HE2B_ERR_CANCELLED);
    assert_string_equal(scoped_log(scoped), "connect pull kill");
    assert_non_null(strstr(scoped->world->messages, "is lost with it"));
    assert_false(scoped->world->trouble);
    scoped->world->messages[0] = '\0';
    /* the teardown answers the step after the session is gone */
}

/* B-95: a finaliser's end: closed, and no pull begun. */
static void test_pull_is_abandoned_before_it_begins(void **state)
{
    struct scoped *scoped = *state;
    struct closing closing;

    begin(scoped);
    close_begun(scoped, &closing);
    he2b_session_abandon_pull(scoped->world->session);
    world_run(scoped->world);
    assert_int_equal(closing.code, HE2B_ERR_CANCELLED);
    assert_string_equal(scoped_log(scoped), "kill");
    assert_false(scoped->world->trouble);
    scoped->world->messages[0] = '\0';
}

/* B-95: nothing is pulled by a session that is only deleted, a step that is out is nobody's. */
static void test_deleted(void **state)
{
    static const enum he2b_step_kind kinds[] = {HE2B_STEP_PUSH, HE2B_STEP_SYNC};
    struct scoped *scoped = *state;
    struct ran ran;
    size_t i;

    begin(scoped);
    he2b_session_del(scoped->sessions[0]);
    scoped->sessions[0] = NULL;
    assert_string_equal(scoped_log(scoped), "");
    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        scoped_own_session(scoped);
        if (kinds[i] == HE2B_STEP_SYNC)
            scoped_run(scoped);
        scoped->hold_kind = kinds[i];
        ran_start(&ran, scoped->world, "true");
        world_run(scoped->world);
        ran.keep_running = true;
        he2b_session_del(scoped->sessions[0]);
        scoped->sessions[0] = NULL;
        assert_int_equal(ran.failure, HE2B_ERR_CLOSED);
        ran_del(&ran);
        scoped_answer(scoped, HE2B_STEP_DONE);
    }
    assert_null(strstr(scoped_log(scoped), "pull"));
}

static void forget_command(struct scoped *scoped, enum he2b_step_kind kind, struct ran *ran)
{
    scoped->hold_kind = kind;
    ran_start(ran, scoped->world, "true");
    world_run(scoped->world);
    he2b_command_kill(ran->command);
    world_run(scoped->world);
    assert_int_equal(ran->times, 1);
    ran_del(ran);
}

/* B-91: a sync that is on its way comes first, so that the pull begins with a session at rest. */
static void test_close_in_a_sync(void **state)
{
    struct scoped *scoped = *state;
    struct closing closing;
    struct ran ran;

    begin(scoped);
    forget_command(scoped, HE2B_STEP_SYNC, &ran);
    close_begun(scoped, &closing);
    scoped_answer(scoped, HE2B_STEP_DONE);
    world_run(scoped->world);
    assert_int_equal(closing.times, 1);
    assert_int_equal(closing.code, 0);
    assert_string_equal(scoped_log(scoped), "sync connect pull kill");
    expect_no_trouble(scoped);
}

/* B-94, B-96: but who gave the pull up waits for no step: the kill comes at once, the loss is said.
 */
static void test_abandoned_in_a_sync(void **state)
{
    struct scoped *scoped = *state;
    struct closing closing;
    struct ran ran;

    begin(scoped);
    forget_command(scoped, HE2B_STEP_SYNC, &ran);
    close_begun(scoped, &closing);
    he2b_session_abandon_pull(scoped->world->session);
    world_run(scoped->world);
    assert_int_equal(closing.times, 1);
    assert_int_equal(closing.code, HE2B_ERR_CANCELLED);
    assert_string_equal(scoped_log(scoped), "sync kill");
    assert_non_null(strstr(scoped->world->messages, "is lost with it"));
    scoped_answer(scoped, HE2B_STEP_DONE);
    assert_false(scoped->world->trouble);
    scoped->world->messages[0] = '\0';
}

/* ... and another push too, whatever comes of it: what is there alone comes home. */
static void test_close_in_another_push(void **state)
{
    static const enum he2b_step_outcome outcomes[] = {HE2B_STEP_DONE, HE2B_STEP_FAILED};
    struct scoped *scoped = *state;
    struct closing closing;
    struct ran ran;
    size_t i;

    scoped_short_lease(scoped);
    for (i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
        begin(scoped);
        connect_well = scoped->world->on_connect;
        scoped->world->on_connect = connect_resumed;
        scoped->hold_kind = HE2B_STEP_PUSH;
        world_tick();
        ran_new(&ran, scoped->world, "true");
        he2b_command_set_timeout(ran.command, 61 * 1000);
        ran_go(&ran);
        world_run(scoped->world);
        he2b_command_kill(ran.command);
        world_run(scoped->world);
        ran_del(&ran);
        close_begun(scoped, &closing);
        scoped_answer(scoped, outcomes[i]);
        world_run(scoped->world);
        assert_int_equal(closing.times, 1);
        assert_int_equal(closing.code, 0);
        assert_string_equal(scoped_log(scoped), "connect probe push connect pull kill");
        expect_no_trouble(scoped);
        he2b_session_del(scoped->sessions[0]);
        scoped->sessions[0] = NULL;
    }
}

/* B-92: the first push is not waited for: nothing ran there. Its answer, during the kill or after
 * it, is nobody's. */
static void kill_slowly(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    world_stop_soon(world);
    peer_gate_wait(&world->released, 1);
    peer_answer(request, 204, "text/plain", "");
}

static void test_close_in_the_first_push(void **state)
{
    struct scoped *scoped = *state;
    struct closing closing;
    struct ran ran;

    scoped->world->on_kill = kill_slowly;
    scoped_own_session(scoped);
    forget_command(scoped, HE2B_STEP_PUSH, &ran);
    close_begun(scoped, &closing);
    world_run(scoped->world);
    assert_int_equal(closing.times, 0);
    scoped_answer(scoped, HE2B_STEP_DONE);
    peer_gate_raise(&scoped->world->released);
    world_run(scoped->world);
    assert_int_equal(closing.times, 1);
    assert_int_equal(closing.code, 0);
    assert_string_equal(scoped_log(scoped), "create probe push kill");
    expect_no_trouble(scoped);
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

/* B-90: the last command ends first. */
static void test_close_waits_for_the_command(void **state)
{
    struct scoped *scoped = *state;
    struct closing closing;
    struct ran ran;

    begin(scoped);
    scoped->world->on_command = hold_command;
    ran_start(&ran, scoped->world, "sleep 1");
    ran.keep_running = true;
    world_run(scoped->world);
    close_begun(scoped, &closing);
    peer_gate_raise(&scoped->world->released);
    world_run(scoped->world);
    assert_int_equal(closing.code, 0);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    ran_del(&ran);
    assert_string_equal(scoped_log(scoped), "sync command connect pull kill");
    expect_no_trouble(scoped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCOPE(test_order),
        IN_SCOPE(test_without_state),
        IN_SCOPE(test_when_it_can_be_set),
        IN_SCOPE(test_nobody_moves_it),
        IN_SCOPE(test_two_at_once),
        IN_SCOPE(test_sync_counts_for_those_who_were_there),
        IN_SCOPE(test_prepared),
        IN_SCOPE(test_push_fails),
        IN_SCOPE(test_close_after_a_push_that_failed),
        IN_SCOPE(test_sync_fails),
        IN_SCOPE(test_sync_finds_no_sandbox),
        IN_SCOPE(test_command_finds_no_sandbox),
        IN_SCOPE(test_push_to_a_new_sandbox_fails),
        IN_SCOPE(test_longer_lease),
        IN_SCOPE(test_connect_fails),
        IN_SCOPE(test_boot),
        IN_SCOPE(test_push_after_a_boot_fails),
        IN_SCOPE(test_pull_after_an_empty_push),
        IN_SCOPE(test_unused),
        IN_SCOPE(test_pull_once_more),
        IN_SCOPE(test_pull_fails),
        IN_SCOPE(test_pull_from_a_sandbox_that_is_gone),
        IN_SCOPE(test_pull_is_abandoned),
        IN_SCOPE(test_pull_is_abandoned_before_it_begins),
        IN_SCOPE(test_deleted),
        IN_SCOPE(test_close_in_a_sync),
        IN_SCOPE(test_abandoned_in_a_sync),
        IN_SCOPE(test_close_in_another_push),
        IN_SCOPE(test_close_in_the_first_push),
        IN_SCOPE(test_close_waits_for_the_command),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
