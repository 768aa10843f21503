/* Calls of the control plane through the scripted peer: answers that come late, in pieces or not at
 * all, and what is then sent (B-25, B-27). */
#include "e2b/control.h"

#include "tests/peer/peer_child.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

#define ID   "i0123456789abcdefghij"
#define MADE "{\"sandboxID\":\"" ID "\",\"envdAccessToken\":\"token\"}\n"

struct scene {
    struct peer_child *peer;
    he2b_loop *loop;
    he2b_options *options;
    struct he2b_settings settings;
    unsigned times;
    struct he2b_control_answer got;
};

static int setup(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));

    assert_non_null(scene);
    assert_int_equal(he2b_loop_new(&scene->loop), HE2B_OK);
    assert_int_equal(he2b_options_new(&scene->options, NULL, NULL), HE2B_OK);
    assert_int_equal(he2b_options_set(scene->options, "api_key", "e2b_0123456789abcdef"), HE2B_OK);
    *state = scene;
    return 0;
}

static int teardown(void **state)
{
    struct scene *scene = *state;

    he2b_settings_done(&scene->settings);
    he2b_options_del(scene->options);
    he2b_loop_del(scene->loop);
    peer_child_del(scene->peer);
    free(scene);
    return 0;
}

static void play(struct scene *scene, const char *script)
{
    scene->peer = peer_child_new(script, NULL);
    assert_int_equal(he2b_options_set(scene->options, "api_url", peer_child_url(scene->peer)),
                     HE2B_OK);
    assert_int_equal(he2b_settings_copy(&scene->settings, scene->options), HE2B_OK);
}

static void on_answer(void *user, const struct he2b_control_answer *answer)
{
    struct scene *scene = user;

    scene->times++;
    scene->got = *answer;
    he2b_loop_stop(scene->loop);
}

static void create(struct scene *scene)
{
    he2b_control *control = NULL;

    assert_int_equal(he2b_control_create(&control, scene->loop, &scene->settings, "attempt", NULL, 300,
                                         on_answer, scene),
                     HE2B_OK);
    assert_int_equal(he2b_loop_run(scene->loop), HE2B_OK);
    assert_int_equal(scene->times, 1);
}

static void connect_to(struct scene *scene)
{
    he2b_control *control = NULL;

    assert_int_equal(
        he2b_control_connect(&control, scene->loop, &scene->settings, ID, 300, on_answer, scene),
        HE2B_OK);
    assert_int_equal(he2b_loop_run(scene->loop), HE2B_OK);
    assert_int_equal(scene->times, 1);
}

static void test_busy_then_made_byte_by_byte(void **state)
{
    struct scene *scene = *state;

    play(scene, "expect POST /sandboxes\n"
                "  do answer 429 application/json {\"code\":429,\"message\":\"slow down\"}\n"
                "  do header Retry-After: 0\n"
                "expect POST /sandboxes\n"
                "  do answer 201 application/json " MADE "  do trickle\n");
    create(scene);
    assert_true(scene->got.ok);
    assert_string_equal(scene->got.endpoint.sandbox_id, ID);
    assert_string_equal(scene->got.endpoint.access_token, "token");
    assert_int_equal(peer_child_count(scene->peer, "POST /sandboxes"), 2);
    assert_int_equal(peer_child_count(scene->peer, "requests"), 2);
    assert_int_equal(peer_child_count(scene->peer, "turns"), 2);
    assert_non_null(strstr(peer_child_ask(scene->peer, "requests"), "\"attempt\""));
    assert_true(peer_child_end(scene->peer));
}

/* A connect only extends: it is sent again, whatever became of the answer. */
static void test_connect_whose_answers_are_lost(void **state)
{
    struct scene *scene = *state;

    play(scene, "expect POST /sandboxes/*/connect\n"
                "  do answer 200 application/json " MADE "  do cut-after 10\n"
                "expect POST /sandboxes/*/connect\n"
                "  do reset\n"
                "expect POST /sandboxes/*/connect\n"
                "  do answer 200 application/json " MADE);
    connect_to(scene);
    assert_true(scene->got.ok);
    assert_int_equal(peer_child_count(scene->peer, "POST /sandboxes/" ID "/connect"), 3);
    assert_int_equal(peer_child_count(scene->peer, "turns"), 3);
    assert_true(peer_child_end(scene->peer));
}

/* Two calls at once, answered in the other order. */
static void test_two_answers_change_places(void **state)
{
    struct scene *scene = *state;
    struct scene other = {.loop = scene->loop};
    he2b_control *kill = NULL;

    play(scene, "barrier killed\n"
                "when answered DELETE /sandboxes/* release killed\n"
                "expect POST /sandboxes/*/connect\n"
                "  do answer 200 application/json " MADE "  do delay-answer-until killed\n"
                "expect DELETE /sandboxes/*\n"
                "  do answer 204\n");
    assert_int_equal(he2b_control_kill(&kill, scene->loop, &scene->settings, ID, on_answer, &other),
                     HE2B_OK);
    connect_to(scene);
    assert_true(scene->got.ok);
    assert_int_equal(other.times, 1);
    assert_true(other.got.ok);
    assert_true(peer_child_end(scene->peer));
}

static void test_what_is_not_met_is_told(void **state)
{
    struct scene *scene = *state;

    play(scene, "barrier open\n"
                "expect DELETE /sandboxes/*\n");
    peer_child_release(scene->peer, "open");
    peer_child_await(scene->peer, "open");
    assert_false(peer_child_end(scene->peer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_busy_then_made_byte_by_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(test_connect_whose_answers_are_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_answers_change_places, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_not_met_is_told, setup, teardown),
    };

    if (peer_child_missing()) {
        printf("SKIP: %s\n", peer_child_missing());
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
