/* Questions about sandboxes without a session (B-21, B-22, B-31), and who writes a scope (B-60). */
#include "he2b.h"

#include "tests/unit/peer/peer.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID    "i0123456789abcdefghij"
#define SCOPE "32c2fbc13a928d31de575b952ea485f4"
#define ITEM                                                                                       \
    "{\"sandboxID\":\"" ID "\",\"templateID\":\"tpl\",\"alias\":\"base\",\"state\":\"running\","   \
    "\"startedAt\":\"2026-08-22T10:00:00Z\",\"endAt\":\"2026-08-22T10:05:00Z\",\"metadata\":{"     \
    "\"hermes_plugin\":\"e2b-terminal\",\"hermes_scope\":\"" SCOPE "\",\"n\":7}}"

struct scene {
    struct peer *peer;
    he2b_loop *loop;
    he2b_options *options;
    he2b_catalog *catalog;
    /* what the peer answers; a status of 0: nothing */
    int status;
    const char *body;
    char asked[600];
    char sent[64];

    unsigned told;
    int code;
    size_t count;
    char id[128];
    char scope[80];
    char pairs[256];
    int64_t remaining_ms;
    bool delete_inside;
};

static void serve(struct peer_request *request, void *user)
{
    struct scene *scene = user;

    snprintf(scene->asked, sizeof(scene->asked), "%s %s", request->method, request->path);
    snprintf(scene->sent, sizeof(scene->sent), "%.63s", request->body);
    if (scene->status)
        peer_answer_with(request, scene->status, "application/json",
                         "Date: Sat, 22 Aug 2026 10:01:00 GMT\r\n", scene->body);
    else
        peer_wait_closed(request);
}

static int setup(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));

    scene->peer = peer_new(serve, scene);
    assert_int_equal(he2b_loop_new(&scene->loop), HE2B_OK);
    assert_int_equal(he2b_options_new(&scene->options, NULL, NULL), HE2B_OK);
    assert_int_equal(he2b_options_set(scene->options, "api_key", "e2b_00"), HE2B_OK);
    assert_int_equal(he2b_options_set(scene->options, "api_url", peer_url(scene->peer)), HE2B_OK);
    *state = scene;
    return 0;
}

static int teardown(void **state)
{
    struct scene *scene = *state;

    he2b_catalog_del(scene->catalog);
    he2b_options_del(scene->options);
    he2b_loop_del(scene->loop);
    peer_del(scene->peer);
    free(scene);
    return 0;
}

static void add_pair(void *user, const char *key, const char *value)
{
    struct scene *scene = user;
    size_t used = strlen(scene->pairs);

    snprintf(scene->pairs + used, sizeof(scene->pairs) - used, "%s=%s;", key, value);
}

static void on_done(void *user, const he2b_failure *failure, const he2b_sandbox_info *const *items,
                    size_t count)
{
    struct scene *scene = user;

    scene->told++;
    scene->code = failure ? he2b_failure_code(failure) : HE2B_OK;
    scene->count = count;
    if (scene->delete_inside) {
        he2b_catalog_del(scene->catalog);
        scene->catalog = NULL;
    }
    if (count) {
        snprintf(scene->id, sizeof(scene->id), "%s", he2b_sandbox_info_id(items[0]));
        snprintf(scene->scope, sizeof(scene->scope), "%s", he2b_sandbox_info_scope(items[0]));
        scene->remaining_ms = he2b_sandbox_info_remaining_ms(items[0]);
        he2b_sandbox_info_each_metadata(items[0], add_pair, scene);
        assert_true(he2b_sandbox_info_ours(items[0]));
        assert_string_equal(he2b_sandbox_info_state(items[0]), "running");
        assert_string_equal(he2b_sandbox_info_template(items[0]), "tpl");
        assert_string_equal(he2b_sandbox_info_alias(items[0]), "base");
        assert_string_equal(he2b_sandbox_info_started_at(items[0]), "2026-08-22T10:00:00Z");
        assert_string_equal(he2b_sandbox_info_end_at(items[0]), "2026-08-22T10:05:00Z");
    }
    he2b_loop_stop(scene->loop);
}

static void run(struct scene *scene, int error)
{
    assert_int_equal(error, HE2B_OK);
    assert_int_equal(scene->told, 0);
    assert_int_equal(he2b_loop_run(scene->loop), HE2B_OK);
    assert_int_equal(scene->told, 1);
    scene->told = 0;
    he2b_catalog_del(scene->catalog);
    scene->catalog = NULL;
}

static void answer(struct scene *scene, int status, const char *body)
{
    scene->status = status;
    scene->body = body;
}

/* ---- the questions ---- */

static void test_list(void **state)
{
    struct scene *scene = *state;

    answer(scene, 200, "[" ITEM "]");
    run(scene,
        he2b_catalog_list(&scene->catalog, scene->loop, scene->options, SCOPE, on_done, scene));
    assert_int_equal(scene->count, 1);
    assert_string_equal(scene->id, ID);
    assert_string_equal(scene->scope, SCOPE);
    assert_int_equal(scene->remaining_ms, 240000);
    /* only texts are pairs */
    assert_string_equal(scene->pairs, "hermes_plugin=e2b-terminal;hermes_scope=" SCOPE ";");
    assert_non_null(strstr(scene->asked, "hermes_scope%3D" SCOPE));
    answer(scene, 200, "[]");
    run(scene,
        he2b_catalog_list(&scene->catalog, scene->loop, scene->options, NULL, on_done, scene));
    assert_int_equal(scene->code, HE2B_OK);
    assert_int_equal(scene->count, 0);
    assert_null(strstr(scene->asked, "hermes_scope"));
    answer(scene, 200, "null");
    run(scene,
        he2b_catalog_list(&scene->catalog, scene->loop, scene->options, NULL, on_done, scene));
    assert_int_equal(scene->code, HE2B_ERR_PROTOCOL);
}

static void test_the_others(void **state)
{
    struct scene *scene = *state;

    answer(scene, 200, ITEM);
    run(scene, he2b_catalog_get(&scene->catalog, scene->loop, scene->options, ID, on_done, scene));
    assert_string_equal(scene->id, ID);
    assert_string_equal(scene->asked, "GET /sandboxes/" ID);
    answer(scene, 200, "{\"sandboxID\":\"" ID "\"}");
    run(scene,
        he2b_catalog_connect(&scene->catalog, scene->loop, scene->options, ID, 77, on_done, scene));
    assert_int_equal(scene->code, HE2B_OK);
    assert_string_equal(scene->asked, "POST /sandboxes/" ID "/connect");
    assert_string_equal(scene->sent, "{\"timeout\":77}");
    answer(scene, 204, "");
    run(scene,
        he2b_catalog_pause(&scene->catalog, scene->loop, scene->options, ID, on_done, scene));
    assert_int_equal(scene->code, HE2B_OK);
    assert_string_equal(scene->asked, "POST /sandboxes/" ID "/pause");
    run(scene, he2b_catalog_kill(&scene->catalog, scene->loop, scene->options, ID, on_done, scene));
    assert_int_equal(scene->code, HE2B_OK);
    assert_string_equal(scene->asked, "DELETE /sandboxes/" ID);
    answer(scene, 404, "{\"code\":404,\"message\":\"no such sandbox\"}");
    run(scene, he2b_catalog_get(&scene->catalog, scene->loop, scene->options, ID, on_done, scene));
    assert_int_equal(scene->code, HE2B_ERR_GONE);
}

static void test_what_is_no_id(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(
        he2b_catalog_get(&scene->catalog, scene->loop, scene->options, "../x", on_done, scene),
        HE2B_ERR_ARG);
    assert_int_equal(
        he2b_catalog_kill(&scene->catalog, scene->loop, scene->options, "", on_done, scene),
        HE2B_ERR_ARG);
    assert_null(scene->catalog);
    assert_string_equal(scene->asked, "");
}

/* ---- its end ---- */

static void test_deleted_inside(void **state)
{
    struct scene *scene = *state;

    scene->delete_inside = true;
    answer(scene, 200, "[" ITEM "]");
    run(scene,
        he2b_catalog_list(&scene->catalog, scene->loop, scene->options, NULL, on_done, scene));
    assert_string_equal(scene->id, ID);
    answer(scene, 200, ITEM);
    run(scene, he2b_catalog_get(&scene->catalog, scene->loop, scene->options, ID, on_done, scene));
    assert_string_equal(scene->id, ID);
    /* at the limit too */
    answer(scene, 0, NULL);
    assert_int_equal(
        he2b_catalog_get(&scene->catalog, scene->loop, scene->options, ID, on_done, scene),
        HE2B_OK);
    run(scene, he2b_catalog_set_limit(scene->catalog, 20));
    assert_int_equal(scene->code, HE2B_ERR_LOST);
}

static void test_limit(void **state)
{
    struct scene *scene = *state;

    answer(scene, 0, NULL);
    assert_int_equal(
        he2b_catalog_list(&scene->catalog, scene->loop, scene->options, NULL, on_done, scene),
        HE2B_OK);
    run(scene, he2b_catalog_set_limit(scene->catalog, 20));
    assert_int_equal(scene->code, HE2B_ERR_LOST);
    /* one that is answered has none */
    answer(scene, 200, "[]");
    assert_int_equal(
        he2b_catalog_list(&scene->catalog, scene->loop, scene->options, NULL, on_done, scene),
        HE2B_OK);
    run(scene, he2b_catalog_set_limit(scene->catalog, 10000));
    assert_int_equal(scene->code, HE2B_OK);
}

static void stop(void *arg)
{
    struct scene *scene = arg;

    he2b_loop_stop(scene->loop);
}

/* Deleted before it is answered: nobody is told. */
static void test_deleted(void **state)
{
    struct scene *scene = *state;

    answer(scene, 200, "[]");
    assert_int_equal(
        he2b_catalog_list(&scene->catalog, scene->loop, scene->options, NULL, on_done, scene),
        HE2B_OK);
    he2b_catalog_del(scene->catalog);
    scene->catalog = NULL;
    he2b_catalog_del(NULL);
    assert_int_equal(he2b_loop_post(scene->loop, stop, scene), HE2B_OK);
    assert_int_equal(he2b_loop_run(scene->loop), HE2B_OK);
    assert_int_equal(scene->told, 0);
}

static void test_ca_file(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(he2b_options_set(scene->options, "ca_file", "/some/file.pem"), HE2B_OK);
    assert_string_equal(he2b_catalog_ca_file(scene->options), "/some/file.pem");
}

/* ---- who writes a scope ---- */

static void test_writer(void **state)
{
    char home[] = "/tmp/he2b-catalog-XXXXXX";
    char path[256];
    int fd;

    (void)state;
    assert_non_null(mkdtemp(home));
    /* nobody ever was there, and a look leaves nothing */
    assert_int_equal(he2b_scope_writer(home, SCOPE), HE2B_OK);
    assert_int_equal(rmdir(home), 0);
    assert_int_equal(mkdir(home, 0700), 0);
    snprintf(path, sizeof(path), "%s/cache", home);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/cache/e2b", home);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/cache/e2b/" SCOPE ".writer.lock", home);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(he2b_scope_writer(home, SCOPE), HE2B_OK);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(he2b_scope_writer(home, SCOPE), HE2B_ERR_BUSY);
    assert_int_equal(he2b_scope_writer(home, "ffffffffffffffff"), HE2B_OK);
    /* the look did not free it */
    assert_int_equal(he2b_scope_writer(home, SCOPE), HE2B_ERR_BUSY);
    close(fd);
    assert_int_equal(he2b_scope_writer(home, SCOPE), HE2B_OK);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof(path), "%s/cache/e2b", home);
    assert_int_equal(rmdir(path), 0);
    snprintf(path, sizeof(path), "%s/cache", home);
    assert_int_equal(rmdir(path), 0);
    /* a folder that is none */
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(he2b_scope_writer(home, SCOPE), HE2B_ERR_SYSTEM);
    assert_int_equal(errno, ENOTDIR);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(home), 0);
    assert_int_equal(he2b_scope_writer("relative", SCOPE), HE2B_ERR_SETTING);
    assert_int_equal(he2b_scope_writer("", SCOPE), HE2B_ERR_SETTING);
}

#define IN_SCENE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCENE(test_list),    IN_SCENE(test_the_others),     IN_SCENE(test_what_is_no_id),
        IN_SCENE(test_limit),   IN_SCENE(test_deleted),        IN_SCENE(test_deleted_inside),
        IN_SCENE(test_ca_file), cmocka_unit_test(test_writer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
