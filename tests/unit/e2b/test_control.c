/* Create, connect, kill: what is repeated, what is told at once, in which words (B-25, B-27). */
#include "tests/unit/e2b/scene.h"

#include <stdio.h>

/* The tests of this file know one server that answers one after the other, whatever it is asked. */
static void script_all(struct scene *scene, const struct scene_answer *answers, unsigned count)
{
    scene_script(scene, SCENE_CREATE, answers, count);
    scene_script(scene, SCENE_OTHER, answers, count);
}

#define SCRIPT_ALL(...)                                                                            \
    script_all(scene, (const struct scene_answer[]){__VA_ARGS__},                                  \
               sizeof((const struct scene_answer[]){__VA_ARGS__}) / sizeof(struct scene_answer))

static const char made[] = SCENE_MADE;

/* ---- good answers ---- */

static void test_create(void **state)
{
    struct scene *scene = *state;

    SCRIPT_ALL({201, NULL, made});
    scene_create(scene, NULL);
    assert_true(scene->got.ok);
    assert_string_equal(scene->got.endpoint.sandbox_id, SCENE_ID);
    assert_string_equal(scene->got.endpoint.access_token, "token");
    assert_string_equal(scene->got.endpoint.domain, "d.example");
    assert_int_equal(scene->got.lease_s, 300);
    assert_true(scene->got.sent_ms > 0);
    assert_string_equal(scene->paths, "POST /sandboxes");
}

/* wire A.8: 200 means that it ran, 201 that it was resumed */
static void test_connect(void **state)
{
    struct scene *scene = *state;

    SCRIPT_ALL({201, NULL, made});
    scene_connect(scene);
    assert_true(scene->got.ok);
    assert_int_equal(scene->got.status, 201);
    assert_string_equal(scene->paths, "POST /sandboxes/" SCENE_ID "/connect");
}

static void test_kill(void **state)
{
    struct scene *scene = *state;

    SCRIPT_ALL({204, NULL, ""});
    scene_kill(scene);
    assert_true(scene->got.ok);
    assert_string_equal(scene->paths, "DELETE /sandboxes/" SCENE_ID);
    SCRIPT_ALL({404, NULL, "{\"code\":404,\"message\":\"not found\"}"});
    scene_kill(scene);
    assert_true(scene->got.ok);
    /* somebody else's 404 does not say that it is gone (B-91) */
    SCRIPT_ALL({404, NULL, "<html>nothing here</html>"});
    scene_kill(scene);
    assert_false(scene->got.ok);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_REFUSED);
    assert_non_null(strstr(scene->got.failure.text, "E2B_API_URL"));
}

/* ---- refusals: at once, in the server's words, with what they concern ---- */

struct refusal {
    struct scene_answer answer;
    int code;
    const char *cause;
    const char *hint;
};

static void test_refusals_of_create(void **state)
{
    static const struct refusal refusals[] = {
        {{400, NULL, "{\"code\":400,\"message\":\"Timeout cannot be greater than 1 hours\"}"},
         HE2B_ERR_REFUSED,
         "Timeout cannot be greater than 1 hours",
         "s of lease were asked for; check the settings template and lease_seconds"},
        {{401, NULL, "{\"code\":401,\"message\":\"Invalid API key " SCENE_KEY "\"}"},
         HE2B_ERR_KEY,
         "Invalid API key",
         "E2B_API_KEY"},
        {{403, NULL, "{\"code\":403,\"message\":\"no access\"}"},
         HE2B_ERR_REFUSED,
         "no access",
         "template"},
        {{404, NULL, "{\"code\":404,\"message\":\"template 'x' not found\"}"},
         HE2B_ERR_REFUSED,
         "template 'x' not found",
         "template"},
        {{301, "Location: http://example.org/\r\n", ""}, HE2B_ERR_PROTOCOL, "301", "E2B_API_URL"},
        {{200, NULL, "<html><title>Welcome to the hotel</title></html>"},
         HE2B_ERR_PROTOCOL,
         "does not describe a sandbox",
         "E2B_API_URL"},
        {{201, NULL, "{}"}, HE2B_ERR_PROTOCOL, "does not describe a sandbox", "E2B_API_URL"},
        {{201, NULL, "{\"sandboxID\":\"../x\"}"},
         HE2B_ERR_PROTOCOL,
         "does not describe a sandbox",
         "E2B_API_URL"},
        {{201, NULL, "{\"sandboxID\":\"" SCENE_ID "\",\"envdAccessToken\":\"a\\r\\nX: y\"}"},
         HE2B_ERR_PROTOCOL,
         "does not describe a sandbox",
         "E2B_API_URL"},
        {{201, NULL, "{\"sandboxID\":\"" SCENE_ID "\",\"domain\":\"evil.example/@x\"}"},
         HE2B_ERR_PROTOCOL,
         "does not describe a sandbox",
         "E2B_API_URL"},
        {{418, NULL, "{\"code\":418,\"message\":\"line\\none\\u001b[2J\"}"},
         HE2B_ERR_REFUSED,
         "line one\\x1B[2J",
         ""},
        {{500, NULL, "{\"code\":500,\"message\":\"Failed to create sandbox\"}"},
         HE2B_ERR_SERVER,
         "Failed to create sandbox",
         ""},
    };
    struct scene *scene = *state;
    size_t i;

    /* what is no list either is not asked for long */
    scene->times.repeat_for = 40;
    for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        script_all(scene, &refusals[i].answer, 1);
        scene_create(scene, NULL);
        assert_false(scene->got.ok);
        /* what says that it made something is looked for before it is given up (B-25) */
        assert_int_equal(scene_asked(scene, SCENE_CREATE), 1);
        assert_true(refusals[i].answer.status == 201 || scene->asked == 1);
        assert_int_equal(scene->got.failure.code, refusals[i].code);
        assert_string_equal(scene->got.failure.action, "create sandbox");
        assert_non_null(strstr(scene->got.failure.cause, refusals[i].cause));
        assert_non_null(strstr(scene->got.failure.hint, refusals[i].hint));
        assert_null(strstr(scene->got.failure.text, SCENE_KEY));
        assert_null(strchr(scene->got.failure.text, '\n'));
    }
}

static void test_refusals_of_connect(void **state)
{
    struct scene *scene = *state;

    SCRIPT_ALL({404, NULL, "{\"code\":404,\"message\":\"sandbox not found\"}"});
    scene_connect(scene);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_GONE);
    /* B-34 */
    SCRIPT_ALL({200, NULL, "{\"sandboxID\":\"another\"}"});
    scene_connect(scene);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_PROTOCOL);
}

/* wire H: v2 only where the v1 route itself does not exist */
static void test_server_with_v2_only(void **state)
{
    struct scene *scene = *state;

    SCRIPT_ALL({404, NULL, "404 page not found"}, {201, NULL, made});
    scene_create(scene, NULL);
    assert_true(scene->got.ok);
    assert_string_equal(scene->paths, "POST /sandboxes|POST /v2/sandboxes");
    assert_true(scene->same_key);
    SCRIPT_ALL({405, NULL, ""}, {200, NULL, made});
    scene_connect(scene);
    assert_true(scene->got.ok);
    assert_string_equal(scene->paths, "POST /sandboxes/" SCENE_ID
                                      "/connect|POST /v2/sandboxes/" SCENE_ID "/connect");
    /* neither: somebody else's server */
    SCRIPT_ALL({404, NULL, "<html>nothing here</html>"});
    scene_create(scene, NULL);
    assert_int_equal(scene->asked, 2);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_REFUSED);
    assert_non_null(strstr(scene->got.failure.text, "E2B_API_URL"));
}

/* ---- waiting ---- */

/* B-25, B-27, FB-33: asked again after a wait, as the same attempt. */
static void test_busy_server(void **state)
{
    struct scene *scene = *state;

    SCRIPT_ALL({429, "Retry-After: 0\r\n", "{\"code\":429,\"message\":\"Rate limit exceeded\"}"},
               {503, NULL, "<html>busy</html>"}, {409, NULL, "{\"code\":409,\"message\":\"wait\"}"},
               {201, NULL, made});
    scene_create(scene, NULL);
    assert_true(scene->got.ok);
    assert_int_equal(scene->asked, 4);
    assert_int_equal(strlen(scene->first_key), 32);
    assert_true(scene->same_key);
}

/* Connect and kill may be said twice. */
static void test_others_are_repeated(void **state)
{
    struct scene *scene = *state;

    SCRIPT_ALL({0, NULL, NULL}, {502, NULL, "<html>"}, {200, NULL, made});
    scene_connect(scene);
    assert_true(scene->got.ok);
    assert_int_equal(scene->asked, 3);
    SCRIPT_ALL({0, NULL, NULL}, {500, NULL, "{\"code\":500,\"message\":\"x\"}"}, {204, NULL, ""});
    scene_kill(scene);
    assert_true(scene->got.ok);
    assert_int_equal(scene->asked, 3);
}

static void test_nobody_there(void **state)
{
    struct scene *scene = *state;
    he2b_control *control = NULL;

    assert_int_equal(he2b_options_set(scene->options, "api_url", "http://127.0.0.1:1"), HE2B_OK);
    he2b_settings_done(&scene->settings);
    assert_int_equal(he2b_settings_copy(&scene->settings, scene->options), HE2B_OK);
    scene->settings.control_times = &scene->times;
    SCRIPT_ALL({201, NULL, made});
    scene_create(scene, NULL);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_UNREACHABLE);
    assert_non_null(strstr(scene->got.failure.text, "127.0.0.1"));
    assert_non_null(strstr(scene->got.failure.hint, "E2B_API_URL"));
    /* cancelled: nobody is told */
    scene->times_told = 0;
    assert_int_equal(he2b_control_kill(&control, scene->loop, &scene->settings, SCENE_ID,
                                       scene_on_answer, scene),
                     HE2B_OK);
    he2b_control_cancel(control);
    he2b_control_cancel(NULL);
    assert_int_equal(scene->times_told, 0);
}

static void test_no_key(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(he2b_settings_set_key(&scene->settings, NULL), HE2B_OK);
    SCRIPT_ALL({201, NULL, made});
    scene_create(scene, NULL);
    assert_int_equal(scene->asked, 0);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_KEY);
}

static void test_tokens_differ(void **state)
{
    char one[HE2B_ATTEMPT_MAX];
    char other[HE2B_ATTEMPT_MAX];

    (void)state;
    assert_int_equal(he2b_attempt_token(one), HE2B_OK);
    assert_int_equal(he2b_attempt_token(other), HE2B_OK);
    assert_int_equal(strlen(one), 32);
    assert_int_equal(strspn(one, "0123456789abcdef"), 32);
    assert_string_not_equal(one, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCENE(test_create),
        IN_SCENE(test_connect),
        IN_SCENE(test_kill),
        IN_SCENE(test_refusals_of_create),
        IN_SCENE(test_refusals_of_connect),
        IN_SCENE(test_server_with_v2_only),
        IN_SCENE(test_busy_server),
        IN_SCENE(test_others_are_repeated),
        IN_SCENE(test_nobody_there),
        IN_SCENE(test_no_key),
        cmocka_unit_test(test_tokens_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
