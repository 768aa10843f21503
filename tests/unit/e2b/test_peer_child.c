/* The scripted peer as C tests have it: started, asked, released, ended (tests/peer/README.md). */
#include "tests/unit/e2b/played.h"

#include <stdio.h>

static const char made[] = SCENE_MADE;

static void test_it_passes_on_and_counts(void **state)
{
    struct scene *scene = *state;
    struct peer_child *child = played(scene, "expect DELETE /sandboxes/*\n  do reset\n"
                                             "expect DELETE /sandboxes/*\n  do trickle\n");

    SCRIPT(SCENE_OTHER, {204, NULL, ""});
    scene_kill(scene);
    assert_true(scene->got.ok);
    assert_int_equal(scene_asked(scene, SCENE_OTHER), 1);
    assert_int_equal(peer_child_count(child, "DELETE /sandboxes/" SCENE_ID), 2);
    assert_int_equal(peer_child_count(child, "DELETE /sandboxes/*"), 2);
    assert_int_equal(peer_child_count(child, "GET *"), 0);
    assert_int_equal(peer_child_count(child, "requests"), 2);
    assert_int_equal(peer_child_count(child, "connections"), 2);
    assert_int_equal(peer_child_count(child, "turns"), 2);
    assert_non_null(strstr(peer_child_ask(child, "requests"), "\"method\": \"DELETE\""));
    assert_true(peer_child_end(child));
    peer_child_del(child);
}

static void test_it_answers_alone(void **state)
{
    struct peer_child *child = peer_child_new("expect GET /other\n  times 0\n", NULL);
    char url[64];
    unsigned port;

    (void)state;
    assert_int_equal(sscanf(peer_child_url(child), "http://127.0.0.1:%u", &port), 1);
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", port);
    assert_string_equal(peer_child_url(child), url);
    assert_int_equal(peer_child_count(child, "requests"), 0);
    assert_true(peer_child_end(child));
    peer_child_del(child);
}

/* ---- two calls at once, answered in the other order ---- */

static void count_answer(void *user, const struct he2b_control_answer *answer)
{
    *(unsigned *)user += answer->ok;
}

static void test_answers_change_places(void **state)
{
    struct scene *scene = *state;
    struct peer_child *child = played(scene, "barrier killed\n"
                                             "when answered DELETE /sandboxes/* release killed\n"
                                             "expect POST /sandboxes/*/connect\n"
                                             "  do delay-answer-until killed\n");
    he2b_control *kill = NULL;
    unsigned killed = 0;

    SCRIPT(SCENE_OTHER, {200, NULL, made});
    assert_int_equal(
        he2b_control_kill(&kill, scene->loop, &scene->settings, SCENE_ID, count_answer, &killed),
        HE2B_OK);
    scene_connect(scene);
    assert_true(scene->got.ok);
    assert_int_equal(killed, 1);
    assert_true(peer_child_end(child));
    peer_child_del(child);
}

/* ---- barriers by hand ---- */

struct releaser {
    struct peer_child *child;
    he2b_timer *timer;
};

/* Not before the request has come: the loop that sends it stands still in here. */
static void release_when_held(void *arg)
{
    struct releaser *releaser = arg;

    if (!peer_child_count(releaser->child, "requests")) {
        assert_int_equal(he2b_timer_arm(releaser->timer, 1), HE2B_OK);
        return;
    }
    peer_child_await(releaser->child, "held");
    assert_int_equal(peer_child_count(releaser->child, "requests"), 1);
    peer_child_release(releaser->child, "held");
}

static void test_a_barrier_is_awaited_and_released(void **state)
{
    struct scene *scene = *state;
    struct peer_child *child =
        played(scene, "barrier held\n"
                      "expect POST /sandboxes/*/connect\n  do stall-until held\n");
    struct releaser releaser = {.child = child};
    he2b_control *control = NULL;

    SCRIPT(SCENE_OTHER, {200, NULL, made});
    assert_int_equal(he2b_control_connect(&control, scene->loop, &scene->settings, SCENE_ID, 300,
                                          scene_on_answer, scene),
                     HE2B_OK);
    assert_int_equal(he2b_timer_new(&releaser.timer, scene->loop, release_when_held, &releaser),
                     HE2B_OK);
    assert_int_equal(he2b_timer_arm(releaser.timer, 0), HE2B_OK);
    assert_int_equal(he2b_loop_run(scene->loop), HE2B_OK);
    assert_true(scene->got.ok);
    assert_true(peer_child_end(child));
    he2b_timer_del(releaser.timer);
    peer_child_del(child);
}

/* ---- what did not come ---- */

static void test_what_is_not_met_is_told(void **state)
{
    struct peer_child *child = peer_child_new("expect DELETE /sandboxes/*\n", NULL);

    (void)state;
    assert_false(peer_child_end(child));
    peer_child_del(child);
    /* without an end, as after an assertion that failed */
    peer_child_del(peer_child_new("", NULL));
    peer_child_del(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCENE(test_it_passes_on_and_counts), IN_SCENE(test_it_answers_alone),
        IN_SCENE(test_answers_change_places),   IN_SCENE(test_a_barrier_is_awaited_and_released),
        IN_SCENE(test_what_is_not_met_is_told),
    };

    return RUN_PLAYED(tests);
}
