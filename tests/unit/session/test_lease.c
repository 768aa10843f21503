/* Leases: extended only, beside what runs, and never believed beyond what the server says (B-30 to
 * B-33). */
#include "e2b/control_request.h"
#include "session/session.h"
#include "tests/unit/session/world.h"

#include <stdio.h>

static void refuse(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 500, "down");
}

static void hold_command(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_stream_begin(request);
    world_start(request);
    peer_gate_wait(&world->released, 1);
    world_marker(request, 0);
    world_end(request, 0);
}

/* The third renewal succeeds; the command may end then. */
static void third_succeeds(struct world *world, struct peer_request *request, unsigned nth)
{
    if (nth < 3) {
        world_error(request, 500, "down");
        return;
    }
    peer_answer(request, 200, "application/json", "{\"sandboxID\":\"" WORLD_ID "\"}");
    peer_gate_raise(&world->released);
}

/* B-31: a renewal beside a command that outlasts the lease is tried again until it succeeds, does
 * not disturb the command, and is then done. */
static void test_failed_renewal_is_repeated(void **state)
{
    static struct he2b_control_times once = {.answer = 20000, .look_every = 1, .look_until = 1};
    struct world *world = *state;
    struct ran ran;

    world_session(world);
    world->session->settings.control_times = &once;
    world->session->renew_every_ms = 2;
    ran_whole(&ran, world, "true");
    ran_del(&ran);
    world->on_connect = third_succeeds;
    world->on_command = hold_command;
    ran_new(&ran, world, "true");
    he2b_command_set_timeout(ran.command, 600 * 1000);
    ran_go(&ran);
    world_run(world);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_int_equal(ran.exit_code, 0);
    assert_int_equal(world_count(world, "connect"), 3);
    assert_false(world->trouble);
    ran_del(&ran);
}

/* B-31: whatever many commands ask for, one renewal in 30 s. */
static void test_renewals_are_throttled(void **state)
{
    struct world *world = *state;
    struct ran ran;
    unsigned i;

    world->on_connect = refuse;
    world_session(world);
    world_soon(world->session);
    for (i = 0; i < 100; i++) {
        ran_new(&ran, world, "true");
        he2b_command_set_timeout(ran.command, i ? 600 * 1000 : 0);
        ran_go(&ran);
        world_run(world);
        assert_int_equal(ran.outcome, HE2B_ENDED);
        ran_del(&ran);
    }
    assert_int_equal(world_count(world, "command"), 100);
    /* one renewal, with what it repeats itself */
    assert_true(world->session->renew_after_ms > he2b_now_ms() + 1000);
}

static void maximum(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 400, "Max instance length exceeded");
}

static void short_lease(struct world *world)
{
    assert_int_equal(he2b_options_set(world->options, "lease_seconds", "60"), HE2B_OK);
    assert_int_equal(he2b_options_set(world->options, "command_grace_seconds", "0"), HE2B_OK);
}

static int run_long(struct world *world)
{
    struct ran ran;

    world_tick();
    ran_new(&ran, world, "true");
    he2b_command_set_timeout(ran.command, 61 * 1000);
    ran_go(&ran);
    world_run(world);
    ran_del(&ran);
    return ran.failure;
}

/* B-32: the plan's maximum is no refusal; the command runs, with a word about the end. */
static void test_plan_maximum(void **state)
{
    struct world *world = *state;

    short_lease(world);
    world_session(world);
    assert_int_equal(run_long(world), 0);
    world->on_connect = maximum;
    world->session->deadline_ms = he2b_now_ms() + 30000;
    assert_int_equal(run_long(world), 0);
    assert_non_null(strstr(world->messages, "Max instance length exceeded"));
    assert_non_null(strstr(world->messages, "ends in "));
    assert_false(world->trouble);
}

/* B-31: trouble on the way to the control plane stops no command that the known lease covers ... */
static void test_trouble_stops_no_command(void **state)
{
    struct world *world = *state;

    short_lease(world);
    world_session(world);
    world_soon(world->session);
    assert_int_equal(run_long(world), 0);
    world->on_connect = refuse;
    world->session->deadline_ms = he2b_now_ms() + 30000;
    assert_int_equal(run_long(world), 0);
    assert_int_equal(world_count(world, "command"), 2);
    /* ... and one whose lease is over, or not known, is not started */
    world->session->deadline_ms = he2b_now_ms() - 1;
    assert_int_equal(run_long(world), HE2B_ERR_SERVER);
    assert_int_equal(world_count(world, "command"), 2);
}

/* B-31, B-97: a sandbox that may be gone is asked for first; where nobody tells, its lease holds.
 */
static void test_doubt_forgets_no_lease(void **state)
{
    struct world *world = *state;

    short_lease(world);
    world_session(world);
    world_soon(world->session);
    assert_int_equal(run_long(world), 0);
    world->on_connect = refuse;
    world->session->deadline_ms = he2b_now_ms() + 600000;
    he2b_lifecycle_actions.doubt_sandbox(world->session);
    assert_int_equal(run_long(world), 0);
    assert_true(world_count(world, "connect") > 0);
    assert_int_equal(world_count(world, "command"), 2);
    assert_non_null(strstr(world->messages, "down"));
}

static void refuse_key(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 401, "key revoked");
}

/* B-27, B-31: a refusal is no trouble. */
static void test_refusal_stops_the_command(void **state)
{
    struct world *world = *state;

    short_lease(world);
    world_session(world);
    assert_int_equal(run_long(world), 0);
    world->on_connect = refuse_key;
    world->session->deadline_ms = he2b_now_ms() + 30000;
    assert_int_equal(run_long(world), HE2B_ERR_KEY);
    assert_int_equal(world_count(world, "command"), 1);
}

static void refuse_length(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 400, "Timeout cannot be greater than 1 hours");
}

/* B-33: what was asked for is named, and only the maximum of what already runs is no refusal. */
static void test_refused_length_is_named(void **state)
{
    struct world *world = *state;
    struct ran ran;

    short_lease(world);
    world_session(world);
    assert_int_equal(run_long(world), 0);
    world->on_connect = refuse_length;
    world->session->deadline_ms = he2b_now_ms() + 30000;
    ran_new(&ran, world, "true");
    he2b_command_set_timeout(ran.command, 7200 * 1000);
    ran_go(&ran);
    world_run(world);
    assert_int_equal(ran.failure, HE2B_ERR_REFUSED);
    assert_non_null(strstr(ran.failure_text, "connect to sandbox"));
    assert_non_null(strstr(ran.failure_text, "7260 s of lease were asked for"));
    assert_int_equal(world_count(world, "command"), 1);
    ran_del(&ran);
}

static void linger(struct world *world, struct peer_request *request, unsigned nth)
{
    if (nth == 1) {
        world_command(request, "", 0);
        return;
    }
    world_stop_soon(world);
    hold_command(world, request, nth);
}

/* The first one is refused, and the second one lets the command end. */
static void refuse_first(struct world *world, struct peer_request *request, unsigned nth)
{
    if (nth == 1) {
        world_error(request, 401, "key revoked");
        return;
    }
    peer_answer(request, 200, "application/json", "{\"sandboxID\":\"" WORLD_ID "\"}");
    peer_gate_raise(&world->released);
}

/* B-31: a command without a limit keeps its lease, although the next one could not be started and
 * the session is at rest since. */
static void test_renewal_without_anybody_who_waits(void **state)
{
    struct world *world = *state;
    struct ran ran;
    struct ran refused;

    world->on_command = linger;
    world->on_connect = refuse_first;
    world_session(world);
    world->session->renew_every_ms = 2;
    assert_int_equal(run_long(world), 0);
    ran_start(&ran, world, "make");
    world_run(world);
    ran.keep_running = true;
    world->session->deadline_ms = 0;
    ran_start(&refused, world, "true");
    world_run(world);
    assert_int_equal(refused.failure, HE2B_ERR_KEY);
    ran.keep_running = false;
    if (!ran.times)
        world_run(world);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    assert_int_equal(world_count(world, "connect"), 2);
    assert_false(world->trouble);
    ran_del(&ran);
    ran_del(&refused);
}

static void refuse_and_let_go(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    world_error(request, 401, "key revoked");
    peer_gate_raise(&world->released);
}

static void keep_key(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_header(request, "X-API-Key", world->scope, sizeof(world->scope));
    peer_answer(request, 200, "application/json", "{\"sandboxID\":\"" WORLD_ID "\"}");
}

/* FB-44: a key that is revoked while the sandbox lives: the command beside the refused renewal goes
 * on, nothing is made or killed, and a new key is used by the next call. */
static void test_key_is_rotated(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world_session(world);
    ran_whole(&ran, world, "true");
    ran_del(&ran);
    world->on_connect = refuse_and_let_go;
    world->on_command = hold_command;
    ran_new(&ran, world, "true");
    he2b_command_set_timeout(ran.command, 600 * 1000);
    ran_go(&ran);
    world_run(world);
    assert_int_equal(ran.outcome, HE2B_ENDED);
    ran_del(&ran);
    assert_int_equal(world_count(world, "connect"), 1);
    world->on_connect = keep_key;
    world->session->deadline_ms = 0;
    assert_int_equal(he2b_session_set_api_key(world->session, "e2b_new"), HE2B_OK);
    assert_int_equal(run_long(world), 0);
    assert_string_equal(world->scope, "e2b_new");
    assert_int_equal(world_count(world, "create"), 1);
    assert_int_equal(world_count(world, "kill"), 0);
}

static void resume_and_let_go(struct world *world, struct peer_request *request, unsigned nth)
{
    peer_answer(request, nth == 1 ? 201 : 200, "application/json",
                "{\"sandboxID\":\"" WORLD_ID "\"}");
    peer_gate_raise(&world->released);
}

/* B-35: a renewal beside a command that finds the sandbox paused and resumes it is a cold boot too:
 * the next command looks into the sandbox first, and whoever counts the boots hears of it. */
static void test_renewal_resumes(void **state)
{
    struct world *world = *state;
    struct ran ran;

    world_session(world);
    ran_whole(&ran, world, "true");
    ran_del(&ran);
    assert_int_equal(he2b_session_generation(world->session), 1);
    world->on_connect = resume_and_let_go;
    world->on_command = hold_command;
    ran_new(&ran, world, "true");
    he2b_command_set_timeout(ran.command, 600 * 1000);
    ran_go(&ran);
    world_run(world);
    ran_del(&ran);
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_ENDED);
    ran_del(&ran);
    assert_int_equal(world_count(world, "connect"), 2);
    assert_int_equal(world_count(world, "probe"), 2);
    assert_int_equal(he2b_session_generation(world->session), 2);
}

static const char *said_end; /* endAt of the next GET */

static void say_end(struct world *world, struct peer_request *request, unsigned nth)
{
    char body[256];

    (void)world;
    (void)nth;
    snprintf(body, sizeof(body),
             "{\"sandboxID\":\"" WORLD_ID "\",\"state\":\"running\",\"endAt\":\"%s\"}", said_end);
    peer_answer_with(request, 200, "application/json", "Date: Sat, 22 Aug 2026 10:01:00 GMT\r\n",
                     body);
}

struct look {
    struct world *world;
    he2b_timer *timer;
    bool prepared;
};

static void stop_when_looked(void *arg)
{
    struct look *look = arg;

    if (look->prepared && !look->world->session->deadline_look)
        world_stop(look->world);
    else
        assert_int_equal(he2b_timer_arm(look->timer, 1), HE2B_OK);
}

static void on_prepared(void *user, const he2b_failure *failure)
{
    bool *prepared = user;

    assert_null(failure);
    *prepared = true;
}

/* B-32, FB-48: what the server says of the end counts when it is less than what was asked for, by
 * the server's own clock; more than that is not believed. */
static void test_silent_cut(void **state)
{
    static const struct {
        const char *end_at;
        bool lowers;
    } cases[] = {
        {"2026-08-22T10:01:20Z", true},
        {"2026-08-22T12:00:00Z", false},
        {"no time", false},
    };
    struct world *world = *state;
    struct look look = {.world = world};
    size_t i;

    world->on_get = say_end;
    assert_int_equal(he2b_timer_new(&look.timer, world->loop, stop_when_looked, &look), HE2B_OK);
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t left_ms;

        said_end = cases[i].end_at;
        look.prepared = false;
        world_session(world);
        assert_int_equal(he2b_session_set_sandbox(world->session, WORLD_ID), HE2B_OK);
        assert_int_equal(he2b_session_prepare(world->session, 0, on_prepared, &look.prepared),
                         HE2B_OK);
        assert_int_equal(he2b_timer_arm(look.timer, 1), HE2B_OK);
        world_run(world);
        assert_int_equal(world_count(world, "get"), i + 1);
        left_ms = world->session->deadline_ms - he2b_now_ms();
        assert_true(cases[i].lowers ? left_ms <= 20000 : left_ms > 60000);
        he2b_session_del(world->session);
        world->session = NULL;
    }
    he2b_timer_del(look.timer);
}

static void say_end_late(struct world *world, struct peer_request *request, unsigned nth)
{
    peer_gate_wait(&world->released, 1);
    say_end(world, request, nth);
}

static void only_once(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    if (nth == 1)
        peer_answer(request, 200, "application/json", "{\"sandboxID\":\"" WORLD_ID "\"}");
    else
        world_error(request, 404, "sandbox not found");
}

/* B-32: what is said of a sandbox that was replaced meanwhile says nothing of the new one. */
static void test_end_of_another_sandbox(void **state)
{
    struct world *world = *state;
    struct look look = {.world = world, .prepared = true};
    struct ran ran;

    said_end = "2026-08-22T10:01:20Z";
    world->on_get = say_end_late;
    world->on_connect = only_once;
    world_session(world);
    ran_whole(&ran, world, "true");
    ran_del(&ran);
    world->session->deadline_ms = 0;
    ran_whole(&ran, world, "true");
    ran_del(&ran);
    assert_int_equal(world_count(world, "connect"), 1);
    world->session->deadline_ms = 0;
    ran_whole(&ran, world, "true");
    assert_int_equal(ran.outcome, HE2B_ENDED);
    ran_del(&ran);
    assert_int_equal(world_count(world, "create"), 2);
    peer_gate_raise(&world->released);
    assert_int_equal(he2b_timer_new(&look.timer, world->loop, stop_when_looked, &look), HE2B_OK);
    assert_int_equal(he2b_timer_arm(look.timer, 1), HE2B_OK);
    world_run(world);
    he2b_timer_del(look.timer);
    assert_true(world->session->deadline_ms - he2b_now_ms() > 60000);
}

static void on_answer(void *user, const he2b_failure *failure)
{
    (void)failure;
    world_stop(user);
}

/* B-30: a limit beyond all reason is a limit all the same: what is asked for is a number of seconds
 * that grows with it. */
static void test_limits_beyond_reason(void **state)
{
    static const int64_t limits[] = {INT64_MAX, INT64_MAX / 1000, INT64_MIN, -1};
    struct world *world = *state;
    struct ran ran;
    size_t i;

    for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        world_session(world);
        assert_int_equal(he2b_session_prepare(world->session, limits[i], on_answer, world), 0);
        world_run(world);
        assert_true(he2b_lease_ask(world->session, he2b_lease_need(world->session, limits[i])) >=
                    300);
        assert_true(world->session->deadline_ms > he2b_now_ms());
        ran_new(&ran, world, "true");
        he2b_command_set_timeout(ran.command, limits[i]);
        ran_go(&ran);
        world_run(world);
        assert_int_equal(ran.outcome, HE2B_ENDED);
        ran_del(&ran);
        he2b_session_del(world->session);
        world->session = NULL;
    }
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(test_failed_renewal_is_repeated),
        IN_WORLD(test_renewals_are_throttled),
        IN_WORLD(test_plan_maximum),
        IN_WORLD(test_trouble_stops_no_command),
        IN_WORLD(test_doubt_forgets_no_lease),
        IN_WORLD(test_refusal_stops_the_command),
        IN_WORLD(test_refused_length_is_named),
        IN_WORLD(test_renewal_without_anybody_who_waits),
        IN_WORLD(test_key_is_rotated),
        IN_WORLD(test_renewal_resumes),
        IN_WORLD(test_limits_beyond_reason),
        IN_WORLD(test_end_of_another_sandbox),
        IN_WORLD(test_silent_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
