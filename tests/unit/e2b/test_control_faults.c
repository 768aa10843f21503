/* Create and list behind a control plane that misbehaves, as tests/peer/scripts play it; each with
 * the creates that were sent and those that reached the server (B-22, B-25, B-27). The waits are
 * short ones here; as a person meets the faults: tests/e2e/test_control_faults.py. */
#include "tests/unit/e2b/played.h"

#include <stdio.h>

#define SCOPE "32c2fbc13a928d31de575b952ea485f4"

static const char made[] = SCENE_MADE;
static const char shown[] =
    "[{\"sandboxID\":\"" SCENE_ID "\",\"state\":\"running\",\"startedAt\":\"2026-08-22T10:00:00Z\","
    "\"metadata\":{\"hermes_plugin\":\"e2b-terminal\",\"hermes_scope\":\"" SCOPE "\","
    "\"hermes_attempt\":\"$ATTEMPT\"}}]";

/* A server on which a create works, and shows. */
static struct peer_child *before_a_good_server(struct scene *scene, const char *script)
{
    SCRIPT(SCENE_CREATE, {201, NULL, made});
    SCRIPT(SCENE_LIST, {200, NULL, shown});
    SCRIPT(SCENE_OTHER, {200, NULL, made});
    return played(scene, script);
}

static void end(struct peer_child *child)
{
    assert_true(peer_child_end(child));
    peer_child_del(child);
}

/* ---- a look-up that does not tell: unknown, never absent (B-22) ---- */

struct unknown {
    const char *script;
    int code;
    const char *words;
};

static const struct unknown unknowns[] = {
    {"10-look-up-null", HE2B_ERR_PROTOCOL, "not a list of sandboxes"},
    {"11-look-up-object", HE2B_ERR_PROTOCOL, "not a list of sandboxes"},
    {"12-look-up-half", HE2B_ERR_LOST, "transfer closed"},
    {"13-look-up-silence", HE2B_ERR_LOST, "no complete answer within"},
    {"14-look-up-401", HE2B_ERR_KEY, "Invalid API key Please check it"},
    {"15-look-up-403", HE2B_ERR_REFUSED, "team is banned"},
    {"16-look-up-429", HE2B_ERR_BUSY, "HTTP 429"},
    {"17-look-up-500", HE2B_ERR_SERVER, "Error listing sandboxes"},
    {"18-look-up-503-html", HE2B_ERR_SERVER, "HTTP 503"},
};

enum {
    UNKNOWNS = sizeof(unknowns) / sizeof(unknowns[0]),
};

/* Silence ends at the limit of one request, the others long before. */
static void shorten(struct scene *scene, const struct unknown *unknown)
{
    scene->times.answer = strstr(unknown->script, "silence") ? 100 : 10000;
    scene->times.repeat_for = 60;
    scene->times.look_until = 30;
}

static void test_look_up_of_a_scope(void **state)
{
    const struct he2b_list_filter filter = {.scope = SCOPE};
    struct scene *scene = *state;
    char script[128];
    size_t i;

    for (i = 0; i < UNKNOWNS; i++) {
        struct peer_child *child;

        shorten(scene, &unknowns[i]);
        snprintf(script, sizeof(script), "include %s", unknowns[i].script);
        child = before_a_good_server(scene, script);
        scene_list(scene, &filter);
        assert_false(scene->list_ok);
        assert_int_equal(scene->list_count, 0);
        assert_int_equal(scene->got.failure.code, unknowns[i].code);
        assert_string_equal(scene->got.failure.action, "list sandboxes");
        assert_non_null(strstr(scene->got.failure.cause, unknowns[i].words));
        assert_int_equal(peer_child_count(child, "POST *"), 0);
        assert_int_equal(scene_asked(scene, SCENE_CREATE), 0);
        end(child);
    }
}

/* A create is lost, and no look tells whether it was made: no other attempt. */
static void test_look_up_of_a_lost_create(void **state)
{
    struct scene *scene = *state;
    char script[256];
    size_t i;

    for (i = 0; i < UNKNOWNS; i++) {
        struct peer_child *child;

        shorten(scene, &unknowns[i]);
        snprintf(script, sizeof(script), "include 20-create-lost-before-head\ninclude %s",
                 unknowns[i].script);
        child = before_a_good_server(scene, script);
        scene_create(scene, SCOPE);
        assert_int_equal(scene->got.failure.code, HE2B_ERR_LOST);
        assert_string_equal(scene->got.failure.action, "create sandbox");
        assert_non_null(strstr(scene->got.failure.cause, "list sandboxes: "));
        assert_non_null(strstr(scene->got.failure.cause, unknowns[i].words));
        assert_non_null(strstr(scene->got.failure.hint, "its lease ends in a pause"));
        assert_int_equal(peer_child_count(child, "POST /sandboxes"), 1);
        assert_int_equal(scene_asked(scene, SCENE_CREATE), 1);
        end(child);
    }
}

/* ---- a create that is made and not heard of: one sandbox (B-25) ---- */

struct lost {
    const char *script;
    unsigned looks;
};

static void test_create_lost(void **state)
{
    static const struct lost losses[] = {
        {"20-create-lost-before-head", 1},
        {"21-create-lost-inside-head", 1},
        {"22-create-lost-inside-body", 1},
        {"23-create-lost-behind-a-balancer", 1},
        {"24-create-lost-by-garbage", 1},
        {"25-create-shown-late", 2},
        {"26-create-late", 1},
    };
    struct scene *scene = *state;
    char script[128];
    size_t i;

    for (i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        struct peer_child *child;

        scene->times.answer = strcmp(losses[i].script, "26-create-late") == 0 ? 1000 : 10000;
        snprintf(script, sizeof(script), "include %s", losses[i].script);
        child = before_a_good_server(scene, script);
        scene_create(scene, SCOPE);
        assert_true(scene->got.ok);
        assert_string_equal(scene->got.endpoint.sandbox_id, SCENE_ID);
        assert_int_equal(peer_child_count(child, "POST /sandboxes"), 1);
        assert_int_equal(peer_child_count(child, "GET /v2/sandboxes"), losses[i].looks);
        assert_int_equal(peer_child_count(child, "POST /sandboxes/*/connect"), 1);
        assert_int_equal(scene_asked(scene, SCENE_CREATE), 1);
        /* what was sent is a persistent one of this scope */
        assert_non_null(strstr(scene->scripts[SCENE_CREATE].body, "\"hermes_scope\":\"" SCOPE));
        assert_non_null(strstr(scene->scripts[SCENE_CREATE].body, "\"autoPauseMemory\":false"));
        end(child);
    }
}

/* Only where every look says that there is none a second attempt is made, and no third. */
static void test_create_never_made(void **state)
{
    struct scene *scene = *state;
    struct peer_child *child =
        before_a_good_server(scene, "expect POST /sandboxes\n  do reset\n"
                                    "expect GET /v2/sandboxes\n  do replace-body []\n  always\n");

    scene->times.look_until = 60;
    scene_create(scene, SCOPE);
    assert_true(scene->got.ok);
    assert_int_equal(peer_child_count(child, "POST /sandboxes"), 2);
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 1);
    end(child);
    child =
        before_a_good_server(scene, "expect POST /sandboxes\n  do reset\n  times 2\n"
                                    "expect GET /v2/sandboxes\n  do replace-body []\n  always\n");
    scene_create(scene, SCOPE);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_LOST);
    assert_int_equal(peer_child_count(child, "POST /sandboxes"), 2);
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 0);
    end(child);
}

/* ---- a create that is put off (B-27) ---- */

struct put_off {
    const char *script;
    unsigned sent;
    int64_t at_least_ms;
};

static void test_create_put_off(void **state)
{
    static const struct put_off waits[] = {
        {"30-create-409-twice", 3, 0},
        {"32-create-retry-after-seconds", 2, 1000},
        {"33-create-retry-after-date", 2, 1000},
        {"34-create-retry-after-nonsense", 3, 0},
    };
    struct scene *scene = *state;
    char script[128];
    size_t i;

    for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        struct peer_child *child;
        int64_t began;

        snprintf(script, sizeof(script), "include %s", waits[i].script);
        child = before_a_good_server(scene, script);
        began = he2b_now_ms();
        scene_create(scene, SCOPE);
        assert_true(scene->got.ok);
        assert_true(he2b_now_ms() - began >= waits[i].at_least_ms);
        assert_int_equal(peer_child_count(child, "POST /sandboxes"), waits[i].sent);
        assert_int_equal(peer_child_count(child, "requests"), waits[i].sent);
        assert_int_equal(scene_asked(scene, SCENE_CREATE), 1);
        end(child);
    }
}

static void test_create_put_off_for_ever(void **state)
{
    struct scene *scene = *state;
    struct peer_child *child;
    unsigned sent;

    scene->times.repeat_for = 500;
    child = before_a_good_server(scene, "include 31-create-409-for-ever");
    scene_create(scene, SCOPE);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_BUSY);
    assert_int_equal(scene->got.failure.status, 409);
    assert_non_null(strstr(scene->got.failure.cause, "another start is in flight"));
    sent = peer_child_count(child, "POST /sandboxes");
    assert_in_range(sent, 2, 100);
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 0);
    end(child);
    child = before_a_good_server(scene, "include 35-create-retry-after-a-day");
    scene_create(scene, SCOPE);
    assert_int_equal(scene->got.failure.code, HE2B_ERR_BUSY);
    assert_non_null(strstr(scene->got.failure.hint, "wait 86400 s"));
    assert_int_equal(peer_child_count(child, "requests"), 1);
    assert_int_equal(scene_asked(scene, SCENE_CREATE), 0);
    end(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCENE(test_look_up_of_a_scope), IN_SCENE(test_look_up_of_a_lost_create),
        IN_SCENE(test_create_lost),        IN_SCENE(test_create_never_made),
        IN_SCENE(test_create_put_off),     IN_SCENE(test_create_put_off_for_ever),
    };

    return RUN_PLAYED(tests);
}
