/* How a session of a scope finds its sandbox, or may make it (B-20 to B-27, B-97). */
#include "e2b/sandbox_info.h"
#include "session/session.h"
#include "tests/unit/session/scoped.h"

#include <stdio.h>
#include <unistd.h>

/* B-21, FB-37: no answer that can be read is no "there is none": nothing is made, no lock kept. */
static void server_error(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 500, "down");
}

static void null_list(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_answer(request, 200, "application/json", "null");
}

static void object_list(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_answer(request, 200, "application/json", "{}");
}

static void html_list(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    peer_answer(request, 503, "text/html", "<html>no</html>");
}

static void test_unknown_makes_nothing(void **state)
{
    static const world_fn answers[] = {server_error, null_list, object_list, html_list};
    struct scoped *scoped = *state;
    size_t i;

    scoped_session(scoped, 0, false);
    for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        world_fn sound = scoped->world->on_list;

        scoped->world->on_list = answers[i];
        scoped_refused(scoped, i == 1 || i == 2 ? HE2B_ERR_PROTOCOL : HE2B_ERR_SERVER, "");
        assert_true(scoped_lease_free(scoped));
        assert_true(scoped_creation_free(scoped));
        assert_int_equal(world_count(scoped->world, "create"), 0);
        scoped->world->on_list = sound;
    }
    scoped_run(scoped);
    assert_int_equal(world_count(scoped->world, "create"), 1);
    assert_false(scoped->world->trouble);
}

static void many(struct world *world, struct peer_request *request, unsigned nth)
{
    char body[4096] = "[";
    size_t len = 1;
    unsigned i;

    (void)nth;
    for (i = 0; i < HE2B_CANDIDATES_MAX + 1; i++)
        len += (size_t)snprintf(
            body + len, sizeof(body) - len,
            "%s{\"sandboxID\":\"i%020u\",\"templateID\":\"base\",\"state\":\"paused\","
            "\"startedAt\":\"2026-01-01T00:00:00Z\",\"metadata\":{\"" HE2B_META_PLUGIN
            "\":\"" HE2B_META_PLUGIN_VALUE "\",\"" HE2B_META_SCOPE "\":\"%s\"}}",
            i ? "," : "", i, world->scope);
    snprintf(body + len, sizeof(body) - len, "]");
    peer_answer(request, 200, "application/json", body);
}

static void all_gone(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 404, "sandbox not found");
}

/* B-22: those that were listed and not tried may exist. */
static void test_more_than_are_tried(void **state)
{
    struct scoped *scoped = *state;

    scoped_session(scoped, 0, false);
    scoped->world->on_list = many;
    scoped->world->on_connect = all_gone;
    scoped_refused(scoped, HE2B_ERR_BUSY, "9 sandboxes were listed for this scope");
    assert_int_equal(world_count(scoped->world, "connect"), HE2B_CANDIDATES_MAX);
    assert_int_equal(world_count(scoped->world, "create"), 0);
    assert_true(scoped_lease_free(scoped));
    scoped->world->messages[0] = '\0';
}

static void keep_body(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    snprintf(world->messages, sizeof(world->messages), "%s", request->body);
    world->exists = true;
    peer_answer(request, 201, "application/json", "{\"sandboxID\":\"" WORLD_ID "\"}");
}

static void made_to_be_killed(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_answer(request, 200, "application/json",
                "{\"sandboxID\":\"" WORLD_ID "\",\"state\":\"running\","
                "\"lifecycle\":{\"onTimeout\":\"kill\",\"autoResume\":false}}");
    peer_gate_raise(&world->released);
}

static void wait_for_get(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    peer_gate_wait(&world->released, 1);
    world_command(request, "", 0);
}

/* FB-38: somebody made it with another end: it is used, and that is said. */
static void test_sandbox_with_another_end(void **state)
{
    struct scoped *scoped = *state;

    scoped->world->on_get = made_to_be_killed;
    scoped->world->on_command = wait_for_get;
    scoped_sandbox(scoped, "theirs");
    scoped_session(scoped, 0, false);
    scoped_run(scoped);
    scoped_run(scoped);
    assert_non_null(strstr(scoped->world->messages, "is killed, not paused"));
    scoped->world->messages[0] = '\0';
}

/* B-26, B-10, B-11: paused at the end of its lease, without memory, and found by its scope. */
static void test_what_is_made(void **state)
{
    struct scoped *scoped = *state;

    scoped->world->on_create = keep_body;
    scoped_session(scoped, 0, false);
    scoped_run(scoped);
    assert_non_null(strstr(scoped->world->messages, "\"autoPause\":true"));
    assert_non_null(strstr(scoped->world->messages, "\"autoPauseMemory\":false"));
    assert_non_null(strstr(scoped->world->messages, scoped->world->scope));
    assert_null(strstr(scoped->world->messages, scoped->home));
    scoped->world->messages[0] = '\0';
}

/* B-23: who is no writer makes none. */
static void test_a_follower_makes_nothing(void **state)
{
    struct scoped *scoped = *state;

    scoped_session(scoped, 0, false);
    scoped_take_lease(scoped);
    scoped_refused(scoped, HE2B_ERR_ROLE, "another live Hermes session");
    assert_string_equal(scoped_log(scoped), "list");
    he2b_lock_release(&scoped->stranger);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "list create restamp command");
}

static void two_sandboxes(struct world *world, struct peer_request *request, unsigned nth)
{
    char body[1024];

    (void)nth;
    snprintf(body, sizeof(body),
             "[{\"sandboxID\":\"" WORLD_ID "\",\"templateID\":\"base\",\"state\":\"paused\","
             "\"startedAt\":\"2026-01-01T00:00:00Z\",\"metadata\":{\"" HE2B_META_PLUGIN
             "\":\"" HE2B_META_PLUGIN_VALUE "\",\"" HE2B_META_SCOPE "\":\"%s\"}},"
             "{\"sandboxID\":\"newest\",\"templateID\":\"base\",\"state\":\"running\","
             "\"startedAt\":\"2026-01-02T00:00:00Z\",\"metadata\":{\"" HE2B_META_PLUGIN
             "\":\"" HE2B_META_PLUGIN_VALUE "\",\"" HE2B_META_SCOPE "\":\"%s\"}}]",
             world->scope, world->scope);
    peer_answer(request, 200, "application/json", body);
}

static void newest_is_gone(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    if (strstr(request->path, "/newest/"))
        world_error(request, 404, "sandbox not found");
    else
        peer_answer(request, 201, "application/json", "{\"sandboxID\":\"" WORLD_ID "\"}");
}

/* B-22: the newest first; one that is gone by now is passed over. */
static void test_newest_wins_and_the_next_follows(void **state)
{
    struct scoped *scoped = *state;

    scoped->world->on_list = two_sandboxes;
    scoped->world->on_connect = newest_is_gone;
    scoped_session(scoped, 0, false);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "list connect connect unstamp restamp command");
    assert_string_equal(he2b_session_sandbox_id(scoped->world->session), WORLD_ID);
    assert_non_null(strstr(scoped->world->messages, "2 sandboxes of this scope exist"));
    scoped->world->messages[0] = '\0';
}

static void gone(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)world;
    (void)nth;
    world_error(request, 404, "sandbox not found");
}

/* ... and when all of them are, one is made. */
static void test_all_are_gone(void **state)
{
    struct scoped *scoped = *state;

    scoped->world->on_list = two_sandboxes;
    scoped->world->on_connect = gone;
    scoped_session(scoped, 0, false);
    scoped_run(scoped);
    assert_string_equal(scoped_log(scoped), "list connect connect create restamp command");
    scoped->world->messages[0] = '\0';
}

/* B-24: another process makes the sandbox; this one waits, and finds it. */
static void test_waits_for_the_creation_lock(void **state)
{
    struct scoped *scoped = *state;
    struct ran ran;

    scoped->log_steps = true;
    scoped->hold_kind = HE2B_STEP_ELECT;
    scoped_session(scoped, 0, false);
    scoped_take_creation(scoped);
    ran_start(&ran, scoped->world, "true");
    world_run(scoped->world);
    /* taken: it is tried again after a moment, and in between this session asks for nothing */
    scoped->hold_kind = HE2B_STEP_ELECT;
    he2b_step_do(scoped->held);
    he2b_step_done(scoped->held, HE2B_STEP_DONE, NULL);
    scoped->held = NULL;
    world_run(scoped->world);
    assert_string_equal(scoped_log(scoped), "elect elect");
    scoped_sandbox(scoped, "of the other");
    he2b_lock_release(&scoped->creator);
    he2b_step_do(scoped->held);
    he2b_step_done(scoped->held, HE2B_STEP_DONE, NULL);
    scoped->held = NULL;
    world_run(scoped->world);
    assert_int_equal(ran.failure, 0);
    assert_string_equal(scoped_log(scoped), "list connect mark unstamp restamp clear command");
    ran_del(&ran);
}

/* Nobody waits any more: the search ends, and holds no lock. */
static void hold_list(struct world *world, struct peer_request *request, unsigned nth)
{
    (void)nth;
    world_stop_soon(world);
    peer_gate_wait(&world->released, 1);
    peer_answer(request, 200, "application/json", "[]");
}

static void on_prepared(void *user, const he2b_failure *failure)
{
    int *code = user;

    *code = failure ? he2b_failure_code(failure) : 0;
}

static void stop_at_release(void *user, he2b_step *step)
{
    struct scoped *scoped = user;
    bool release = he2b_step_kind(step) == HE2B_STEP_RELEASE;

    he2b_step_do(step);
    he2b_step_done(step, HE2B_STEP_DONE, NULL);
    if (release)
        world_stop(scoped->world);
}

static void stop_now(void *arg)
{
    world_stop(arg);
}

static void test_search_that_nobody_waits_for(void **state)
{
    struct scoped *scoped = *state;
    he2b_session *session;
    int code = 1;

    scoped->world->on_list = hold_list;
    session = scoped_session(scoped, 0, false);
    assert_int_equal(he2b_session_on_step(session, stop_at_release, scoped), HE2B_OK);
    assert_int_equal(he2b_session_prepare(session, 0, on_prepared, &code), HE2B_OK);
    world_run(scoped->world);
    assert_false(scoped_creation_free(scoped));
    he2b_session_cancel(session, &code);
    world_run(scoped->world);
    assert_int_equal(code, HE2B_ERR_CANCELLED);
    assert_true(scoped_creation_free(scoped));
    assert_true(scoped_lease_free(scoped));
    peer_gate_raise(&scoped->world->released);
    assert_int_equal(world_count(scoped->world, "create"), 0);
}

/* B-64: a search given up while the creation lock is another's wakes up no more. */
static void test_wait_for_the_creation_lock_is_given_up(void **state)
{
    struct scoped *scoped = *state;
    he2b_session *session = scoped_session(scoped, 0, false);
    int code = 1;

    assert_int_equal(he2b_session_on_step(session, stop_at_release, scoped), HE2B_OK);
    scoped_take_creation(scoped);
    assert_int_equal(he2b_session_prepare(session, 0, on_prepared, &code), HE2B_OK);
    while (!session->lock_timer || !he2b_timer_armed(session->lock_timer)) {
        assert_int_equal(he2b_loop_post(scoped->world->loop, stop_now, scoped->world), HE2B_OK);
        world_run(scoped->world);
    }
    he2b_session_cancel(session, &code);
    world_run(scoped->world);
    assert_int_equal(code, HE2B_ERR_CANCELLED);
    assert_false(he2b_timer_armed(session->lock_timer));
    assert_int_equal(world_count(scoped->world, "list"), 0);
}

struct second {
    struct scoped *scoped;
    int code;
    unsigned times;
};

static void on_second(void *user, const he2b_failure *failure)
{
    struct second *second = user;

    second->times++;
    if (failure)
        print_error("%d %s\n", he2b_failure_code(failure), he2b_failure_text(failure));
    second->code = failure ? HE2B_ERR_ARG : 0;
    world_stop(second->scoped->world);
}

/* Who comes while a search that nobody wanted, or one that failed, gives its locks up is told
 * nothing of that: it is looked for once more (B-64). */
static void test_a_newcomer_while_the_role_is_dropped(void **state)
{
    struct scoped *scoped = *state;
    struct second second = {.scoped = scoped, .code = 1};
    he2b_session *session;
    int code = 1;
    unsigned failed;

    for (failed = 0; failed < 2; failed++) {
        world_fn sound = scoped->world->on_list;

        scoped->world->exists = false;
        scoped->world->on_list = failed ? server_error : hold_list;
        session = scoped_session(scoped, failed, false);
        assert_int_equal(he2b_session_prepare(session, 0, on_prepared, &code), HE2B_OK);
        scoped->hold_kind = HE2B_STEP_RELEASE;
        world_run(scoped->world);
        if (!failed) {
            he2b_session_cancel(session, &code);
            world_run(scoped->world);
            assert_int_equal(code, HE2B_ERR_CANCELLED);
            peer_gate_raise(&scoped->world->released);
        }
        assert_string_equal(he2b_session_state(session), "dropping");
        scoped->world->on_list = sound;
        second.code = 1;
        assert_int_equal(he2b_session_prepare(session, 0, on_second, &second), HE2B_OK);
        he2b_step_do(scoped->held);
        he2b_step_done(scoped->held, HE2B_STEP_DONE, NULL);
        scoped->held = NULL;
        world_run(scoped->world);
        assert_int_equal(second.times, failed + 1);
        assert_int_equal(second.code, 0);
        assert_int_equal(code, failed ? HE2B_ERR_SERVER : HE2B_ERR_CANCELLED);
        assert_int_equal(world_close(scoped->world), 0);
    }
}

static void ask_once_more(void *arg)
{
    struct second *second = arg;

    assert_int_equal(he2b_session_prepare(second->scoped->world->session, 0, on_second, second),
                     HE2B_OK);
    peer_gate_raise(&second->scoped->world->released);
}

static void on_cancelled(void *user, const he2b_failure *failure)
{
    struct second *second = user;

    assert_int_equal(he2b_failure_code(failure), HE2B_ERR_CANCELLED);
    assert_int_equal(he2b_loop_post(second->scoped->world->loop, ask_once_more, second), HE2B_OK);
}

/* ... nor is a search given up that somebody waits for again. */
static void test_a_newcomer_to_an_abandoned_search(void **state)
{
    struct scoped *scoped = *state;
    struct second second = {.scoped = scoped, .code = 1};

    scoped->world->on_list = hold_list;
    scoped_session(scoped, 0, false);
    assert_int_equal(he2b_session_prepare(scoped->world->session, 0, on_cancelled, &second),
                     HE2B_OK);
    world_run(scoped->world);
    he2b_session_cancel(scoped->world->session, &second);
    world_run(scoped->world);
    /* stopped once more by the list, if it was sent again */
    if (!second.times)
        world_run(scoped->world);
    assert_int_equal(second.times, 1);
    assert_int_equal(second.code, 0);
    assert_int_equal(world_count(scoped->world, "list"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCOPE(test_unknown_makes_nothing),
        IN_SCOPE(test_more_than_are_tried),
        IN_SCOPE(test_sandbox_with_another_end),
        IN_SCOPE(test_what_is_made),
        IN_SCOPE(test_a_follower_makes_nothing),
        IN_SCOPE(test_newest_wins_and_the_next_follows),
        IN_SCOPE(test_all_are_gone),
        IN_SCOPE(test_waits_for_the_creation_lock),
        IN_SCOPE(test_search_that_nobody_waits_for),
        IN_SCOPE(test_wait_for_the_creation_lock_is_given_up),
        IN_SCOPE(test_a_newcomer_while_the_role_is_dropped),
        IN_SCOPE(test_a_newcomer_to_an_abandoned_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
