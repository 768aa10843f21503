/* A create whose outcome is not known is settled by its attempt token, so that one create never
 * leaves two sandboxes (B-22, B-25, FB-25). */
#include "tests/unit/e2b/scene.h"

#include <stdio.h>

/* What the list shows of the attempt, and of somebody else's. */
#define ITEM(id, attempt)                                                                          \
    "{\"sandboxID\":\"" id "\",\"state\":\"running\",\"startedAt\":\"2026-08-22T10:00:00Z\","      \
    "\"metadata\":{\"hermes_plugin\":\"e2b-terminal\",\"hermes_attempt\":\"" attempt "\"}}"
static const char shown[] = "[" ITEM(SCENE_ID, "$ATTEMPT") "]";
static const char foreign[] = "[" ITEM("iforeign", "0123") "]";
static const char made[] = SCENE_MADE;

/* ---- what appears is adopted ---- */

static void test_it_was_made(void **state)
{
    static const struct scene_answer lost[] = {
        {SCENE_RESET, NULL, NULL}, /* before the head */
        {SCENE_CLOSE, NULL, NULL},
        {SCENE_HALF, NULL, made}, /* inside the body */
        {502, NULL, "<html>bad gateway</html>"},
        {504, NULL, ""},
        {201, NULL, "null"}, /* made, and no word of which */
        {201, NULL, "<html>welcome</html>"},
    };
    struct scene *scene = *state;
    size_t i;

    for (i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
        SCRIPT(SCENE_LIST, {200, NULL, shown});
        SCRIPT(SCENE_OTHER, {200, NULL, made});
        scene_script(scene, SCENE_CREATE, &lost[i], 1);
        scene_create(scene, NULL);
        assert_true(scene->got.ok);
        assert_string_equal(scene->got.endpoint.sandbox_id, SCENE_ID);
        assert_string_equal(scene->got.endpoint.access_token, "token");
        assert_int_equal(scene->got.lease_s, 300);
        assert_int_equal(scene_asked(scene, SCENE_CREATE), 1);
        assert_int_equal(scene_asked(scene, SCENE_LIST), 1);
        assert_string_equal(scene->scripts[SCENE_OTHER].path, "/sandboxes/" SCENE_ID "/connect");
        assert_string_equal(scene->scripts[SCENE_OTHER].body, "{\"timeout\":300}");
    }
}

/* The answer comes after the limit: the sandbox is there all the same. */
static void test_late_answer(void **state)
{
    struct scene *scene = *state;

    scene->times.answer = 200;
    SCRIPT(SCENE_LIST, {200, NULL, shown});
    SCRIPT(SCENE_OTHER, {201, NULL, made});
    SCRIPT(SCENE_CREATE, {SCENE_SILENT, NULL, NULL});
    scene_create(scene, NULL);
    assert_true(scene->got.ok);
    assert_int_equal(scene->got.status, 201);
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 1);
}

/* The list shows it only later, and it fails in between: it is looked for again. */
static void test_it_appears_later(void **state)
{
    struct scene *scene = *state;

    SCRIPT(SCENE_LIST, {200, NULL, "[]"}, {200, NULL, foreign}, {200, NULL, "null"},
           {503, NULL, "<html>"}, {200, NULL, "[]"}, {200, NULL, shown});
    SCRIPT(SCENE_OTHER, {200, NULL, made});
    SCRIPT(SCENE_CREATE, {SCENE_RESET, NULL, NULL});
    scene_create(scene, NULL);
    assert_true(scene->got.ok);
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 1);
    assert_int_equal(scene_asked(scene, SCENE_LIST), 6);
    /* the filter names the attempt, and nothing else is adopted */
    assert_non_null(strstr(scene->scripts[SCENE_LIST].path, "hermes_attempt%3D"));
    assert_non_null(strstr(scene->scripts[SCENE_LIST].path, scene->first_key));
    assert_string_equal(scene->got.endpoint.sandbox_id, SCENE_ID);
}

/* ---- nothing appears ---- */

/* One more attempt, with a token of its own. */
static void test_nothing_was_made(void **state)
{
    struct scene *scene = *state;
    char first[64];

    scene->times.look_until = 60;
    SCRIPT(SCENE_LIST, {200, NULL, foreign});
    SCRIPT(SCENE_CREATE, {SCENE_RESET, NULL, NULL}, {201, NULL, made});
    scene_create(scene, NULL);
    assert_true(scene->got.ok);
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 2);
    assert_true(scene_asked(scene, SCENE_LIST) >= 2);
    assert_int_equal(scene_asked(scene, SCENE_OTHER), 0);
    assert_int_equal(strlen(scene->first_key), 32);
    assert_int_equal(strlen(scene->key), 32);
    assert_string_not_equal(scene->first_key, scene->key);
    memcpy(first, scene->first_key, sizeof(first));
    assert_null(strstr(scene->scripts[SCENE_CREATE].body, first));
    assert_non_null(strstr(scene->scripts[SCENE_CREATE].body, scene->key));
}

static void test_lost_twice(void **state)
{
    struct scene *scene = *state;

    scene->times.look_until = 40;
    SCRIPT(SCENE_LIST, {200, NULL, "[]"});
    SCRIPT(SCENE_CREATE, {SCENE_RESET, NULL, NULL});
    scene_create(scene, NULL);
    assert_false(scene->got.ok);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_LOST);
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 2);
    assert_non_null(strstr(scene->got.failure.hint, "no sandbox of either attempt"));
    /* the second one is looked for as well */
    SCRIPT(SCENE_LIST, {200, NULL, "[]"});
    SCRIPT(SCENE_CREATE, {SCENE_RESET, NULL, NULL});
    scene->times.look_until = 0;
    SCRIPT(SCENE_LIST, {200, NULL, "[]"}, {200, NULL, shown});
    SCRIPT(SCENE_OTHER, {200, NULL, made});
    scene_create(scene, NULL);
    assert_true(scene->got.ok);
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 2);
}

/* ---- the looks do not tell: no other attempt (B-22) ---- */

static void test_looks_do_not_tell(void **state)
{
    static const struct scene_answer unknown[] = {
        {SCENE_RESET, NULL, NULL},
        {SCENE_HALF, NULL, "[]     "},
        {SCENE_SILENT, NULL, NULL},
        {200, NULL, "null"},
        {200, NULL, "{}"},
        {200, "X-Next-Token: more\r\n", "[]"},
        {401, NULL, "{\"code\":401,\"message\":\"no\"}"},
        {403, NULL, "{\"code\":403,\"message\":\"no\"}"},
        {404, NULL, "404 page not found"},
        {429, NULL, "{\"code\":429,\"message\":\"slow down\"}"},
        {500, NULL, "{\"code\":500,\"message\":\"trouble\"}"},
        {503, NULL, "<html>busy</html>"},
    };
    struct scene *scene = *state;
    size_t i;

    scene->times.look_until = 30;
    scene->times.repeat_for = 40;
    for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        scene->times.answer = unknown[i].status == SCENE_SILENT ? 100 : 10000;
        scene_script(scene, SCENE_LIST, &unknown[i], 1);
        SCRIPT(SCENE_CREATE, {504, NULL, ""});
        scene_create(scene, NULL);
        assert_false(scene->got.ok);
        assert_int_equal(scene->got.failure.code, HE2B_ERR_LOST);
        assert_string_equal(scene->got.failure.action, "create sandbox");
        assert_non_null(strstr(scene->got.failure.cause, "list sandboxes"));
        assert_non_null(strstr(scene->got.failure.hint, "may have been made; its lease ends it"));
        assert_int_equal(scene_asked(scene, SCENE_CREATE), 1);
    }
}

/* ---- it appears, and then? ---- */

static void test_found_and_gone(void **state)
{
    struct scene *scene = *state;

    SCRIPT(SCENE_LIST, {200, NULL, shown});
    SCRIPT(SCENE_OTHER, {404, NULL, "{\"code\":404,\"message\":\"no such sandbox\"}"});
    SCRIPT(SCENE_CREATE, {SCENE_RESET, NULL, NULL}, {201, NULL, made});
    scene_create(scene, NULL);
    assert_true(scene->got.ok);
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 2);
}

static void test_found_and_not_connected(void **state)
{
    struct scene *scene = *state;

    SCRIPT(SCENE_LIST, {200, NULL, shown});
    SCRIPT(SCENE_OTHER, {400, NULL, "{\"code\":400,\"message\":\"Max instance length exceeded\"}"});
    SCRIPT(SCENE_CREATE, {SCENE_RESET, NULL, NULL});
    scene_create(scene, "0123456789abcdef");
    assert_int_equal(scene->got.failure.code, HE2B_ERR_LOST);
    assert_non_null(strstr(scene->got.failure.cause, SCENE_ID));
    assert_non_null(strstr(scene->got.failure.cause, "Max instance length"));
    assert_non_null(strstr(scene->got.failure.hint, "its lease ends in a pause"));
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 1);
}

/* ---- nobody wants it any more ---- */

struct ender {
    struct scene *scene;
    he2b_control *control;
    he2b_timer *timer;
    enum scene_route wait_for;
};

static void end_when_asked(void *arg)
{
    struct ender *ender = arg;

    if (scene_asked(ender->scene, ender->wait_for))
        he2b_control_end(ender->control);
    else
        assert_int_equal(he2b_timer_arm(ender->timer, 1), HE2B_OK);
}

static void create_and_end(struct scene *scene, enum scene_route wait_for)
{
    struct ender ender = {.scene = scene, .wait_for = wait_for};

    assert_int_equal(he2b_timer_new(&ender.timer, scene->loop, end_when_asked, &ender), HE2B_OK);
    assert_int_equal(he2b_control_create(&ender.control, scene->loop, &scene->settings,
                                         "00112233445566778899aabbccddeeff", NULL, 300,
                                         scene_on_answer, scene),
                     HE2B_OK);
    assert_int_equal(he2b_timer_arm(ender.timer, 0), HE2B_OK);
    assert_int_equal(he2b_loop_run(scene->loop), HE2B_OK);
    assert_int_equal(scene->times_told, 1);
    scene->times_told = 0;
    he2b_timer_del(ender.timer);
}

/* What was found is told, so that it can be killed; no more attempts are made. */
static void test_ended(void **state)
{
    struct scene *scene = *state;

    scene->times.answer = 1000;
    SCRIPT(SCENE_LIST, {200, NULL, shown});
    SCRIPT(SCENE_CREATE, {SCENE_RESET, NULL, NULL});
    SCRIPT(SCENE_OTHER, {SCENE_SILENT, NULL, NULL});
    create_and_end(scene, SCENE_OTHER);
    assert_true(scene->got.ok);
    assert_string_equal(scene->got.endpoint.sandbox_id, SCENE_ID);
    assert_int_equal(scene_asked(scene, SCENE_OTHER), 1);
    /* between two looks */
    scene->times.look_every = 1000000;
    scene->times.look_until = 1000000;
    SCRIPT(SCENE_LIST, {200, NULL, "[]"});
    SCRIPT(SCENE_CREATE, {SCENE_RESET, NULL, NULL});
    create_and_end(scene, SCENE_LIST);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_LOST);
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 1);
    assert_int_equal(scene_asked(scene, SCENE_LIST), 1);
}

static void cancel_when_asked(void *arg)
{
    struct ender *ender = arg;

    if (scene_asked(ender->scene, ender->wait_for)) {
        he2b_control_cancel(ender->control);
        he2b_loop_stop(ender->scene->loop);
    } else {
        assert_int_equal(he2b_timer_arm(ender->timer, 1), HE2B_OK);
    }
}

static void test_cancelled(void **state)
{
    static const enum scene_route routes[] = {SCENE_CREATE, SCENE_LIST, SCENE_OTHER};
    struct scene *scene = *state;
    size_t i;

    for (i = 0; i < 3; i++) {
        struct ender ender = {.scene = scene, .wait_for = routes[i]};

        SCRIPT(SCENE_LIST, {200, NULL, shown});
        SCRIPT(SCENE_OTHER, {SCENE_SILENT, NULL, NULL});
        SCRIPT(SCENE_CREATE, {SCENE_RESET, NULL, NULL});
        assert_int_equal(he2b_timer_new(&ender.timer, scene->loop, cancel_when_asked, &ender),
                         HE2B_OK);
        assert_int_equal(he2b_control_create(&ender.control, scene->loop, &scene->settings,
                                             "00112233445566778899aabbccddeeff", NULL, 300,
                                             scene_on_answer, scene),
                         HE2B_OK);
        assert_int_equal(he2b_timer_arm(ender.timer, 0), HE2B_OK);
        assert_int_equal(he2b_loop_run(scene->loop), HE2B_OK);
        assert_int_equal(scene->times_told, 0);
        he2b_timer_del(ender.timer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCENE(test_it_was_made),
        IN_SCENE(test_late_answer),
        IN_SCENE(test_it_appears_later),
        IN_SCENE(test_nothing_was_made),
        IN_SCENE(test_lost_twice),
        IN_SCENE(test_looks_do_not_tell),
        IN_SCENE(test_found_and_gone),
        IN_SCENE(test_found_and_not_connected),
        IN_SCENE(test_ended),
        IN_SCENE(test_cancelled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
