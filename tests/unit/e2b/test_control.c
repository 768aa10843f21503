/* Create, connect, kill: what is repeated, what is told at once, in which words (B-25, B-27). */
#include "e2b/control.h"

#include "tests/unit/peer/peer.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

#define ID  "i0123456789abcdefghij"
#define KEY "e2b_0123456789abcdef"

/* One answer of the server; a status of 0 resets the connection, -1 closes it. */
struct answer {
    int status;
    const char *headers;
    const char *body;
};

enum {
    ANSWERS_MAX = 4,
};

struct scene {
    struct peer *peer;
    he2b_loop *loop;
    he2b_options *options;
    struct he2b_settings settings;
    struct answer answers[ANSWERS_MAX]; /* the last is given again and again */
    unsigned count;

    pthread_mutex_t lock;
    unsigned asked;
    char paths[512];
    char key[64]; /* Idempotency-Key of the first */
    bool same_key;

    unsigned times;
    struct he2b_control_answer got;
};

static void serve(struct peer_request *request, void *user)
{
    struct scene *scene = user;
    const struct answer *answer;
    char key[64] = "";

    pthread_mutex_lock(&scene->lock);
    answer = &scene->answers[scene->asked < scene->count ? scene->asked : scene->count - 1];
    snprintf(scene->paths + strlen(scene->paths), sizeof(scene->paths) - strlen(scene->paths),
             "%s%s %s", scene->asked ? "|" : "", request->method, request->path);
    peer_header(request, "Idempotency-Key", key, sizeof(key));
    if (scene->asked == 0)
        memcpy(scene->key, key, sizeof(key));
    scene->same_key = scene->same_key && strcmp(scene->key, key) == 0;
    scene->asked++;
    pthread_mutex_unlock(&scene->lock);
    if (answer->status > 0)
        peer_answer_with(request, answer->status, "application/json",
                         answer->headers ? answer->headers : "", answer->body);
    else if (answer->status == 0)
        peer_reset(request);
    else
        request->close = true;
}

static int setup(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));

    pthread_mutex_init(&scene->lock, NULL);
    scene->same_key = true;
    scene->peer = peer_new(serve, scene);
    assert_int_equal(he2b_loop_new(&scene->loop), HE2B_OK);
    assert_int_equal(he2b_options_new(&scene->options, NULL, NULL), HE2B_OK);
    assert_int_equal(he2b_options_set(scene->options, "api_key", KEY), HE2B_OK);
    assert_int_equal(he2b_options_set(scene->options, "api_url", peer_url(scene->peer)), HE2B_OK);
    assert_int_equal(he2b_settings_copy(&scene->settings, scene->options), HE2B_OK);
    *state = scene;
    return 0;
}

static int teardown(void **state)
{
    struct scene *scene = *state;

    he2b_settings_done(&scene->settings);
    he2b_options_del(scene->options);
    he2b_loop_del(scene->loop);
    peer_del(scene->peer);
    free(scene);
    return 0;
}

static void on_answer(void *user, const struct he2b_control_answer *answer)
{
    struct scene *scene = user;

    scene->times++;
    scene->got = *answer;
    he2b_loop_stop(scene->loop);
}

static void script(struct scene *scene, const struct answer *answers, unsigned count)
{
    memcpy(scene->answers, answers, count * sizeof(*answers));
    scene->count = count;
    scene->asked = 0;
    scene->times = 0;
    scene->paths[0] = '\0';
}

static void create(struct scene *scene)
{
    he2b_control *control = NULL;
    char attempt[HE2B_ATTEMPT_MAX];

    assert_int_equal(he2b_attempt_token(attempt), HE2B_OK);
    assert_int_equal(he2b_control_create(&control, scene->loop, &scene->settings, attempt, 300,
                                         on_answer, scene),
                     HE2B_OK);
    assert_int_equal(scene->times, 0);
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

static void kill_it(struct scene *scene)
{
    he2b_control *control = NULL;

    assert_int_equal(
        he2b_control_kill(&control, scene->loop, &scene->settings, ID, on_answer, scene), HE2B_OK);
    assert_int_equal(he2b_loop_run(scene->loop), HE2B_OK);
    assert_int_equal(scene->times, 1);
}

#define SCRIPT(...)                                                                                \
    script(scene, (const struct answer[]){__VA_ARGS__},                                            \
           sizeof((const struct answer[]){__VA_ARGS__}) / sizeof(struct answer))

static const char made[] = "{\"sandboxID\":\"" ID "\",\"envdAccessToken\":\"token\","
                           "\"domain\":\"d.example\"}";

/* ---- good answers ---- */

static void test_create(void **state)
{
    struct scene *scene = *state;

    SCRIPT({201, NULL, made});
    create(scene);
    assert_true(scene->got.ok);
    assert_string_equal(scene->got.endpoint.sandbox_id, ID);
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

    SCRIPT({201, NULL, made});
    connect_to(scene);
    assert_true(scene->got.ok);
    assert_int_equal(scene->got.status, 201);
    assert_string_equal(scene->paths, "POST /sandboxes/" ID "/connect");
}

static void test_kill(void **state)
{
    struct scene *scene = *state;

    SCRIPT({204, NULL, ""});
    kill_it(scene);
    assert_true(scene->got.ok);
    assert_string_equal(scene->paths, "DELETE /sandboxes/" ID);
    SCRIPT({404, NULL, "{\"code\":404,\"message\":\"not found\"}"});
    kill_it(scene);
    assert_true(scene->got.ok);
}

/* ---- refusals: at once, in the server's words, with what they concern ---- */

struct refusal {
    struct answer answer;
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
         "lease_seconds"},
        {{401, NULL, "{\"code\":401,\"message\":\"Invalid API key " KEY "\"}"},
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
        {{201, NULL, "{\"sandboxID\":\"" ID "\",\"envdAccessToken\":\"a\\r\\nX: y\"}"},
         HE2B_ERR_PROTOCOL,
         "does not describe a sandbox",
         "E2B_API_URL"},
        {{201, NULL, "{\"sandboxID\":\"" ID "\",\"domain\":\"evil.example/@x\"}"},
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

    for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        script(scene, &refusals[i].answer, 1);
        create(scene);
        assert_false(scene->got.ok);
        assert_int_equal(scene->asked, 1);
        assert_int_equal(scene->got.failure.code, refusals[i].code);
        assert_string_equal(scene->got.failure.action, "create sandbox");
        assert_non_null(strstr(scene->got.failure.cause, refusals[i].cause));
        assert_non_null(strstr(scene->got.failure.hint, refusals[i].hint));
        assert_null(strstr(scene->got.failure.text, KEY));
        assert_null(strchr(scene->got.failure.text, '\n'));
    }
}

static void test_refusals_of_connect(void **state)
{
    struct scene *scene = *state;

    SCRIPT({404, NULL, "{\"code\":404,\"message\":\"sandbox not found\"}"});
    connect_to(scene);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_GONE);
    /* B-34 */
    SCRIPT({200, NULL, "{\"sandboxID\":\"another\"}"});
    connect_to(scene);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_PROTOCOL);
}

/* wire H: v2 only where the v1 route itself does not exist */
static void test_server_with_v2_only(void **state)
{
    struct scene *scene = *state;

    SCRIPT({404, NULL, "404 page not found"}, {201, NULL, made});
    create(scene);
    assert_true(scene->got.ok);
    assert_string_equal(scene->paths, "POST /sandboxes|POST /v2/sandboxes");
    assert_true(scene->same_key);
    SCRIPT({405, NULL, ""}, {200, NULL, made});
    connect_to(scene);
    assert_true(scene->got.ok);
    assert_string_equal(scene->paths,
                        "POST /sandboxes/" ID "/connect|POST /v2/sandboxes/" ID "/connect");
    /* neither: somebody else's server */
    SCRIPT({404, NULL, "<html>nothing here</html>"});
    create(scene);
    assert_int_equal(scene->asked, 2);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_REFUSED);
    assert_non_null(strstr(scene->got.failure.text, "E2B_API_URL"));
}

/* ---- waiting ---- */

/* B-25, B-27, FB-33: asked again after a wait, as the same attempt. */
static void test_busy_server(void **state)
{
    struct scene *scene = *state;

    SCRIPT({429, "Retry-After: 0\r\n", "{\"code\":429,\"message\":\"Rate limit exceeded\"}"},
           {503, NULL, "<html>busy</html>"}, {409, NULL, "{\"code\":409,\"message\":\"wait\"}"},
           {201, NULL, made});
    create(scene);
    assert_true(scene->got.ok);
    assert_int_equal(scene->asked, 4);
    assert_int_equal(strlen(scene->key), 32);
    assert_true(scene->same_key);
}

static void test_wait_that_is_too_long(void **state)
{
    struct scene *scene = *state;

    SCRIPT({429, "Retry-After: 86400\r\n", "{\"code\":429,\"message\":\"Rate limit exceeded\"}"});
    create(scene);
    assert_int_equal(scene->asked, 1);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_BUSY);
    assert_non_null(strstr(scene->got.failure.cause, "Rate limit exceeded"));
    SCRIPT({429, "Should-Retry: false\r\n", "{\"code\":429,\"message\":\"20 sandboxes run\"}"});
    create(scene);
    assert_int_equal(scene->asked, 1);
    assert_non_null(strstr(scene->got.failure.cause, "20 sandboxes run"));
}

/* ---- not known ---- */

/* B-25: a create whose outcome is not known is never sent again. */
static void test_create_is_lost(void **state)
{
    static const struct answer lost[] = {
        {0, NULL, NULL},
        {-1, NULL, NULL},
        {502, NULL, "<html>bad gateway</html>"},
        {504, NULL, ""},
    };
    struct scene *scene = *state;
    size_t i;

    for (i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
        script(scene, &lost[i], 1);
        create(scene);
        assert_int_equal(scene->asked, 1);
        assert_int_equal(scene->got.failure.code, HE2B_ERR_LOST);
        assert_non_null(strstr(scene->got.failure.hint, "may have been made"));
    }
}

/* Connect and kill may be said twice. */
static void test_others_are_repeated(void **state)
{
    struct scene *scene = *state;

    SCRIPT({0, NULL, NULL}, {502, NULL, "<html>"}, {200, NULL, made});
    connect_to(scene);
    assert_true(scene->got.ok);
    assert_int_equal(scene->asked, 3);
    SCRIPT({0, NULL, NULL}, {500, NULL, "{\"code\":500,\"message\":\"x\"}"}, {204, NULL, ""});
    kill_it(scene);
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
    SCRIPT({201, NULL, made});
    create(scene);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_UNREACHABLE);
    assert_non_null(strstr(scene->got.failure.text, "127.0.0.1"));
    assert_non_null(strstr(scene->got.failure.hint, "E2B_API_URL"));
    /* cancelled: nobody is told */
    scene->times = 0;
    assert_int_equal(
        he2b_control_kill(&control, scene->loop, &scene->settings, ID, on_answer, scene), HE2B_OK);
    he2b_control_cancel(control);
    he2b_control_cancel(NULL);
    assert_int_equal(scene->times, 0);
}

static void test_no_key(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(he2b_settings_set_key(&scene->settings, NULL), HE2B_OK);
    SCRIPT({201, NULL, made});
    create(scene);
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

#define IN_SCENE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

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
        IN_SCENE(test_wait_that_is_too_long),
        IN_SCENE(test_create_is_lost),
        IN_SCENE(test_others_are_repeated),
        IN_SCENE(test_nobody_there),
        IN_SCENE(test_no_key),
        cmocka_unit_test(test_tokens_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
