/* A look-up is found, absent or unknown: all pages, each item checked again (B-21, B-22), and what
 * is read of one sandbox (B-32). */
#include "e2b/list_query.h"

#include "tests/unit/e2b/scene.h"

#include <stdio.h>

#define OURS "\"hermes_plugin\":\"e2b-terminal\""
#define ITEM(id, state, started, metadata)                                                         \
    "{\"sandboxID\":\"" id "\",\"templateID\":\"tpl\",\"alias\":\"base\",\"state\":\"" state       \
    "\",\"startedAt\":\"" started                                                                  \
    "\",\"endAt\":\"2026-08-22T10:05:00.5Z\",\"metadata\":{" metadata "}}"

static bool has_item(const struct scene *scene, size_t index, const char *id)
{
    return index < scene->list_count && strcmp(scene->items[index].sandbox_id, id) == 0;
}

/* ---- the query ---- */

/* The worked example of wire A.7. */
static void test_encoding(void **state)
{
    static const struct he2b_list_pair pairs[] = {
        {"pool", "x y"},
        {"k", "a+b&c=d/\xc3\xa9"},
    };
    struct he2b_buf out;

    (void)state;
    he2b_buf_init(&out, 1024);
    assert_int_equal(he2b_list_metadata(&out, pairs, 2), HE2B_OK);
    assert_string_equal(he2b_buf_str(&out),
                        "pool%3Dx%252520y%26k%3Da%25252Bb%252526c%25253Dd%25252F"
                        "%2525C3%2525A9");
    he2b_buf_free(&out);
}

static void test_query(void **state)
{
    const struct he2b_list_filter filter = {.scope = "0123456789abcdef", .attempt = "ff00"};
    struct scene *scene = *state;

    SCRIPT(SCENE_LIST, {200, NULL, "[]"});
    scene_list(scene, NULL);
    assert_true(scene->list_ok);
    assert_int_equal(scene->list_count, 0);
    assert_string_equal(scene->scripts[SCENE_LIST].path,
                        "/v2/sandboxes?state=running,paused&limit=100&metadata="
                        "hermes_plugin%3De2b-terminal");
    scene_list(scene, &filter);
    assert_string_equal(scene->scripts[SCENE_LIST].path,
                        "/v2/sandboxes?state=running,paused&limit=100&metadata="
                        "hermes_plugin%3De2b-terminal%26hermes_scope%3D0123456789abcdef%26"
                        "hermes_attempt%3Dff00");
}

/* ---- found ---- */

static void test_items(void **state)
{
    struct scene *scene = *state;

    SCRIPT(SCENE_LIST,
           {200, "Date: Sat, 22 Aug 2026 10:00:00 GMT\r\n",
            "[" ITEM("ione", "running", "2026-08-22T10:00:00.000000002Z",
                     OURS
                     ",\"hermes_scope\":\"abcdef0123456789\"") "," ITEM("itwo", "paused",
                                                                        "2026-08-22T12:00:01+02:00",
                                                                        OURS) "]"});
    scene_list(scene, NULL);
    assert_true(scene->list_ok);
    assert_int_equal(scene->list_count, 2);
    /* newest first, by time and not by text */
    assert_true(has_item(scene, 0, "itwo"));
    assert_true(has_item(scene, 1, "ione"));
    assert_string_equal(scene->items[1].template_id, "tpl");
    assert_string_equal(scene->items[1].alias, "base");
    assert_string_equal(scene->items[1].state, "running");
    assert_string_equal(scene->items[1].started_at, "2026-08-22T10:00:00.000000002Z");
    assert_string_equal(scene->items[1].scope, "abcdef0123456789");
    assert_true(scene->items[1].ours);
    assert_int_equal(scene->items[1].remaining_ms, 300500);
    assert_string_equal(scene->items[0].scope, "");
    assert_true(scene->items[0].remaining_ms == INT64_MIN);
}

/* A server that ignores the filter: what is not ours, or not asked for, is not adopted (B-21). */
static void test_foreign_items(void **state)
{
    const struct he2b_list_filter filter = {.scope = "0123456789abcdef"};
    struct scene *scene = *state;

    SCRIPT(
        SCENE_LIST,
        {200, NULL,
         "[{\"sandboxID\":\"inone\",\"state\":\"running\"},"
         "{\"sandboxID\":\"inull\",\"state\":\"running\",\"metadata\":null},"
         "{\"sandboxID\":\"Not An Id\",\"metadata\":{\"a\":\"b\"}}," ITEM("iother", "running", "2026-08-22T10:00:09Z", "\"hermes_plugin\":\"x\",\"hermes_scope\":\"0123456789abcdef\"") "," ITEM(
             "iscope", "running", "2026-08-22T10:00:08Z",
             OURS
             ",\"hermes_scope\":\"ffffffffffffffff\"") "," ITEM("ishort", "running",
                                                                "2026-08-22T10:00:08Z",
                                                                OURS) "," ITEM("imine", "running",
                                                                               "2026-08-22T10:00:"
                                                                               "00Z",
                                                                               OURS
                                                                               ",\"hermes_scope\":"
                                                                               "\"0123456789abcdef"
                                                                               "\"") "]"});
    scene_list(scene, &filter);
    assert_true(scene->list_ok);
    assert_int_equal(scene->list_count, 1);
    assert_true(has_item(scene, 0, "imine"));
}

static void test_two_pages(void **state)
{
    struct scene *scene = *state;

    SCRIPT(SCENE_LIST,
           {200, "X-Next-Token: MjAyNi0wOA==+/&\r\n",
            "[" ITEM("ione", "running", "2026-08-22T10:00:01Z", OURS) "]"},
           {200, NULL,
            "[" ITEM("ione", "running", "2026-08-22T10:00:01Z",
                     OURS) "," ITEM("itwo", "running", "2026-08-22T10:00:00Z", OURS) "]"});
    scene_list(scene, NULL);
    assert_true(scene->list_ok);
    assert_int_equal(scene_asked(scene, SCENE_LIST), 2);
    assert_non_null(strstr(scene->scripts[SCENE_LIST].path,
                           "&metadata=hermes_plugin%3De2b-terminal"
                           "&nextToken=MjAyNi0wOA%3D%3D%2B%2F%26"));
    /* one that moved between the pages counts once */
    assert_int_equal(scene->list_count, 2);
    /* an empty page is not the last one */
    SCRIPT(SCENE_LIST, {200, "X-Next-Token: a\r\n", "[]"},
           {200, NULL, "[" ITEM("itwo", "running", "2026-08-22T10:00:00Z", OURS) "]"});
    scene_list(scene, NULL);
    assert_int_equal(scene->list_count, 1);
}

/* Trouble on the way is not the end of it. */
static void test_trouble(void **state)
{
    struct scene *scene = *state;

    SCRIPT(SCENE_LIST, {SCENE_RESET, NULL, NULL}, {SCENE_HALF, NULL, "[]    "},
           {503, NULL, "<html>"}, {500, NULL, "{\"code\":500,\"message\":\"x\"}"},
           {429, NULL, "busy"}, {200, NULL, "[]"});
    scene_list(scene, NULL);
    assert_true(scene->list_ok);
    assert_int_equal(scene_asked(scene, SCENE_LIST), 6);
}

/* ---- unknown ---- */

struct unknown {
    struct scene_answer answer;
    int code;
    const char *cause;
    bool at_once;
};

static void test_unknown(void **state)
{
    static const struct unknown cases[] = {
        {{401, NULL, "{\"code\":401,\"message\":\"Invalid API key\\nsorry\"}"},
         HE2B_ERR_KEY,
         "Invalid API key sorry",
         true},
        {{403, NULL, "{\"code\":403,\"message\":\"banned\"}"}, HE2B_ERR_REFUSED, "banned", true},
        {{404, NULL, "404 page not found"}, HE2B_ERR_REFUSED, "HTTP 404", true},
        {{429, NULL, "{\"code\":429,\"message\":\"slow\"}"}, HE2B_ERR_BUSY, "slow", false},
        {{500, NULL, "{\"code\":500,\"message\":\"sorry\"}"}, HE2B_ERR_SERVER, "sorry", false},
        {{503, NULL, "<html>busy</html>"}, HE2B_ERR_SERVER, "HTTP 503", false},
        {{SCENE_RESET, NULL, NULL}, HE2B_ERR_LOST, "", false},
        {{SCENE_SILENT, NULL, NULL}, HE2B_ERR_LOST, "no complete answer", false},
        {{SCENE_HALF, NULL, "[]      "}, HE2B_ERR_LOST, "", false},
        {{200, NULL, "null"}, HE2B_ERR_PROTOCOL, "not a list", true},
        {{200, NULL, "{\"sandboxes\":[]}"}, HE2B_ERR_PROTOCOL, "not a list", true},
        {{200, NULL, "[null]"}, HE2B_ERR_PROTOCOL, "not a list", true},
        {{200, NULL, "[[]]"}, HE2B_ERR_PROTOCOL, "not a list", true},
        {{200, NULL, "<html>Welcome to the hotel</html>"}, HE2B_ERR_PROTOCOL, "not a list", true},
        {{200, NULL, ""}, HE2B_ERR_PROTOCOL, "not a list", true},
        /* ours, but which? */
        {{200, NULL, "[{\"sandboxID\":\"../x\",\"metadata\":{" OURS "}}]"},
         HE2B_ERR_PROTOCOL,
         "not a list",
         true},
    };
    struct scene *scene = *state;
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        scene->times.repeat_for = 50;
        scene->times.answer = cases[i].answer.status == SCENE_SILENT ? 100 : 10000;
        scene_script(scene, SCENE_LIST, &cases[i].answer, 1);
        scene_list(scene, NULL);
        assert_false(scene->list_ok);
        assert_int_equal(scene->list_count, 0);
        assert_int_equal(scene->got.failure.code, cases[i].code);
        assert_string_equal(scene->got.failure.action, "list sandboxes");
        assert_non_null(strstr(scene->got.failure.cause, cases[i].cause));
        if (cases[i].at_once)
            assert_int_equal(scene_asked(scene, SCENE_LIST), 1);
        assert_int_equal(scene_asked(scene, SCENE_CREATE), 0);
    }
}

static void test_endless_pages(void **state)
{
    static char headers[HE2B_HTTP_CAPTURED_MAX + 64];
    struct scene *scene = *state;

    SCRIPT(SCENE_LIST, {200, "X-Next-Token: again\r\n",
                        "[" ITEM("ione", "running", "2026-08-22T10:00:01Z", OURS) "]"});
    scene_list(scene, NULL);
    assert_false(scene->list_ok);
    assert_int_equal(scene->list_count, 0);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_PROTOCOL);
    assert_non_null(strstr(scene->got.failure.cause, "no end"));
    assert_int_equal(scene_asked(scene, SCENE_LIST), HE2B_LIST_PAGES_MAX);
    /* a token that does not fit is not cut to another one */
    snprintf(headers, sizeof(headers), "X-Next-Token: %0*d\r\n", HE2B_HTTP_CAPTURED_MAX, 7);
    SCRIPT(SCENE_LIST, {200, headers, "[]"});
    scene_list(scene, NULL);
    assert_false(scene->list_ok);
    assert_int_equal(scene_asked(scene, SCENE_LIST), 1);
    assert_non_null(strstr(scene->got.failure.cause, "page token"));
}

/* A page that fails takes the whole list with it. */
static void test_second_page_fails(void **state)
{
    struct scene *scene = *state;

    SCRIPT(SCENE_LIST,
           {200, "X-Next-Token: more\r\n",
            "[" ITEM("ione", "running", "2026-08-22T10:00:01Z", OURS) "]"},
           {400, NULL, "{\"code\":400,\"message\":\"Invalid next token\"}"});
    scene_list(scene, NULL);
    assert_false(scene->list_ok);
    assert_int_equal(scene->list_count, 0);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_REFUSED);
}

/* ---- one ---- */

static void test_get(void **state)
{
    struct scene *scene = *state;

    SCRIPT(SCENE_OTHER, {200, "Date: Sat, 22 Aug 2026 10:05:10 GMT\r\n",
                         ITEM(SCENE_ID, "running", "2026-08-22T10:00:00Z", OURS)});
    scene_get(scene);
    assert_true(scene->got.ok);
    assert_string_equal(scene->paths, "GET /sandboxes/" SCENE_ID);
    assert_string_equal(scene->got.info.sandbox_id, SCENE_ID);
    assert_true(scene->got.info.ours);
    assert_int_equal(scene->got.info.remaining_ms, -9500);
    /* without the server's clock nothing is known (B-32) */
    SCRIPT(SCENE_OTHER, {200, NULL, ITEM(SCENE_ID, "running", "2026-08-22T10:00:00Z", "")});
    scene_get(scene);
    assert_true(scene->got.info.remaining_ms == INT64_MIN);
    assert_false(scene->got.info.ours);
    SCRIPT(SCENE_OTHER, {404, NULL, "{\"code\":404,\"message\":\"no such\"}"});
    scene_get(scene);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_GONE);
    /* somebody else's 404 does not say that it is gone */
    SCRIPT(SCENE_OTHER, {404, NULL, "<html>not found</html>"});
    scene_get(scene);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_REFUSED);
    /* B-34 */
    SCRIPT(SCENE_OTHER, {200, NULL, ITEM("iother", "running", "2026-08-22T10:00:00Z", OURS)});
    scene_get(scene);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_PROTOCOL);
}

static void test_pause(void **state)
{
    struct scene *scene = *state;

    SCRIPT(SCENE_OTHER, {204, NULL, ""});
    scene_pause(scene);
    assert_true(scene->got.ok);
    assert_string_equal(scene->paths, "POST /sandboxes/" SCENE_ID "/pause");
    assert_string_equal(scene->scripts[SCENE_OTHER].body, "{\"memory\":false}");
    SCRIPT(SCENE_OTHER, {409, NULL,
                         "{\"code\":409,\"message\":\"Error pausing sandbox - sandbox '" SCENE_ID
                         "' is already paused\"}"});
    scene_pause(scene);
    assert_true(scene->got.ok);
    assert_int_equal(scene_asked(scene, SCENE_OTHER), 1);
    /* not now is another matter */
    scene->times.repeat_for = 50;
    SCRIPT(SCENE_OTHER, {409, NULL, "{\"code\":409,\"message\":\"is being killed\"}"});
    scene_pause(scene);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_BUSY);
    SCRIPT(SCENE_OTHER, {404, NULL, "{\"code\":404,\"message\":\"no such\"}"});
    scene_pause(scene);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_GONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encoding),
        IN_SCENE(test_query),
        IN_SCENE(test_items),
        IN_SCENE(test_foreign_items),
        IN_SCENE(test_two_pages),
        IN_SCENE(test_trouble),
        IN_SCENE(test_unknown),
        IN_SCENE(test_endless_pages),
        IN_SCENE(test_second_page_fails),
        IN_SCENE(test_get),
        IN_SCENE(test_pause),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
