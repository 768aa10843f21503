/* Servers that ask to wait: how long, how often, and in which words it is given up (B-27). */
#include "tests/unit/e2b/scene.h"

#include <stdio.h>

static const char made[] = SCENE_MADE;

#define BUSY "{\"code\":429,\"message\":\"Rate limit exceeded\"}"
#define FULL                                                                                       \
    "{\"code\":429,\"message\":\"you have reached the maximum number of concurrent E2B "           \
    "sandboxes (20). Please contact us\"}"
#define WAIT "{\"code\":409,\"message\":\"being killed\"}"

static int64_t create_in(struct scene *scene)
{
    int64_t began = he2b_now_ms();

    scene_create(scene, NULL);
    return he2b_now_ms() - began;
}

/* ---- Retry-After ---- */

static void test_it_is_obeyed(void **state)
{
    static const char *const headers[] = {
        "Retry-After: 1\r\n",
        "Date: Sat, 22 Aug 2026 10:00:00 GMT\r\nRetry-After: Sat, 22 Aug 2026 10:00:01 GMT\r\n",
    };
    struct scene *scene = *state;
    size_t i;

    for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        SCRIPT(SCENE_CREATE, {429, headers[i], BUSY}, {201, NULL, made});
        assert_true(create_in(scene) >= 1000);
        assert_true(scene->got.ok);
        assert_int_equal(scene_asked(scene, SCENE_CREATE), 2);
        assert_true(scene->same_key);
    }
}

/* Without one that can be read the waits are our own, short ones here. */
static void test_it_is_nonsense(void **state)
{
    static const char *const headers[] = {
        NULL,
        "Retry-After: soon\r\n",
        "Retry-After: -86400\r\n",
        "Retry-After: 1e9\r\n",
        "Retry-After: \r\n",
        /* a date, but no clock to read it by */
        "Retry-After: Sat, 22 Aug 2099 10:00:01 GMT\r\n",
    };
    struct scene *scene = *state;
    size_t i;

    for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        SCRIPT(SCENE_CREATE, {429, headers[i], BUSY}, {429, headers[i], "<html>"},
               {201, NULL, made});
        scene_create(scene, NULL);
        assert_true(scene->got.ok);
        assert_int_equal(scene_asked(scene, SCENE_CREATE), 3);
    }
}

/* Longer than anybody waits: told at once, with how long. */
static void test_it_is_too_long(void **state)
{
    struct scene *scene = *state;

    SCRIPT(SCENE_CREATE, {429, "Retry-After: 86400\r\n", BUSY});
    assert_true(create_in(scene) < 5000);
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 1);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_BUSY);
    assert_int_equal(scene->got.failure.status, 429);
    assert_non_null(strstr(scene->got.failure.cause, "Rate limit exceeded"));
    assert_non_null(strstr(scene->got.failure.hint, "wait 86400 s"));
    /* a balancer's, without words */
    SCRIPT(SCENE_CREATE, {429, "Retry-After: 3600\r\n", "<html>"});
    scene_create(scene, NULL);
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 1);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_BUSY);
    assert_non_null(strstr(scene->got.failure.hint, "wait 3600 s"));
}

static void test_should_retry_false(void **state)
{
    static const struct scene_answer answers[] = {
        {429, "Should-Retry: false\r\n", BUSY},
        {503, "Should-Retry: false\r\n", "<html>"},
        {409, "should-retry: FALSE\r\nRetry-After: 0\r\n", WAIT},
    };
    struct scene *scene = *state;
    size_t i;

    for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        scene_script(scene, SCENE_CREATE, &answers[i], 1);
        scene_create(scene, NULL);
        assert_false(scene->got.ok);
        assert_int_equal(scene_asked(scene, SCENE_CREATE), 1);
    }
}

/* ---- for ever ---- */

/* The bound is one of time. */
static void test_busy_for_ever(void **state)
{
    struct scene *scene = *state;

    scene->times.repeat_for = 100;
    SCRIPT(SCENE_CREATE, {429, NULL, BUSY});
    scene_create(scene, NULL);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_BUSY);
    assert_true(scene_asked(scene, SCENE_CREATE) >= 2);
    assert_true(scene_asked(scene, SCENE_CREATE) < 50);
    assert_true(scene->same_key);
}

/* Only the end of another sandbox would change that: three creates in all (wire A.14). */
static void test_too_many_sandboxes(void **state)
{
    struct scene *scene = *state;

    SCRIPT(SCENE_CREATE, {429, NULL, FULL});
    scene_create(scene, NULL);
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 3);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_BUSY);
    assert_non_null(strstr(scene->got.failure.cause, "maximum number of concurrent"));
    assert_non_null(strstr(scene->got.failure.hint, "limit is 20 sandboxes"));
    SCRIPT(SCENE_CREATE, {429, NULL, FULL}, {429, NULL, FULL}, {201, NULL, made});
    scene_create(scene, NULL);
    assert_true(scene->got.ok);
}

/* FB-32: a transition is waited for, within a bound, and is never "gone". */
static void test_conflict(void **state)
{
    struct scene *scene = *state;

    SCRIPT(SCENE_OTHER, {409, NULL, WAIT}, {409, NULL, WAIT}, {200, NULL, made});
    scene_connect(scene);
    assert_true(scene->got.ok);
    assert_int_equal(scene_asked(scene, SCENE_OTHER), 3);
    SCRIPT(SCENE_CREATE, {409, NULL, WAIT}, {409, NULL, WAIT}, {201, NULL, made});
    scene_create(scene, NULL);
    assert_true(scene->got.ok);
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 3);
    assert_true(scene->same_key);
    scene->times.repeat_for = 100;
    SCRIPT(SCENE_OTHER, {409, NULL, WAIT});
    scene_connect(scene);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_BUSY);
    assert_int_equal(scene->got.failure.status, 409);
    assert_true(scene_asked(scene, SCENE_OTHER) >= 2);
    assert_non_null(strstr(scene->got.failure.cause, "being killed"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCENE(test_it_is_obeyed),   IN_SCENE(test_it_is_nonsense),
        IN_SCENE(test_it_is_too_long), IN_SCENE(test_should_retry_false),
        IN_SCENE(test_busy_for_ever),  IN_SCENE(test_too_many_sandboxes),
        IN_SCENE(test_conflict),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
