/* B-71, B-72, B-74: the host's files on their way into a sandbox. */
#include "he2b.h"
#include "host/push.h"
#include "host/walk.h"
#include "tests/unit/host/box.h"
#include "tests/unit/host/tarball.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void shell(const struct box *box, const char *command)
{
    char line[512];

    snprintf(line, sizeof(line), "cd '%s' && %s", box->home, command);
    assert_int_equal(system(line), 0);
}

static const char *in(const struct box *box, char ret[128], const char *path)
{
    snprintf(ret, 128, "%s/%s", box->home, path);
    return ret;
}

static int stop_at_two(void *user, size_t files, int64_t bytes)
{
    (void)user;
    (void)bytes;
    return files == 2;
}

static void test_files(void **state)
{
    static const char *const paths[] = {"skills/a",           "skills/gone", "skills/fifo",
                                        "skills/folder",      ".env",        "skills/env",
                                        "skills/config.yaml", "skills/z"};
    struct box *box = *state;
    struct tarball tar = {0};
    struct he2b_push push = {.home = box->home, .sink = tarball_sink, .sink_user = &tar};
    struct he2b_push_file files[8];
    struct he2b_manifest manifest;
    char names[8][128];
    size_t i;

    shell(box, "mkdir -p skills/folder out && cd skills && echo a > a && echo z > z && mkfifo fifo "
               "&& echo SECRET > ../.env && ln -s ../.env env && echo c > config.yaml");
    for (i = 0; i < 8; i++)
        files[i] = (struct he2b_push_file){in(box, names[i], paths[i]), paths[i], HE2B_KIND_SKILL};
    he2b_manifest_init(&manifest);
    alarm(BOX_DEADLINE_SECONDS); /* opening the FIFO would wait for ever */
    assert_int_equal(he2b_push_files(&push, files, 8, &manifest), HE2B_OK);
    alarm(0);
    assert_int_equal(push.sent, 3);
    assert_int_equal(push.missing, 3);
    assert_int_equal(push.own, 2);
    assert_int_equal(push.bytes, 6);
    assert_non_null(strstr(push.why, "skills/gone: No such file"));
    assert_non_null(he2b_manifest_get(&manifest, "skills/z"));
    assert_null(he2b_manifest_get(&manifest, "skills/env"));
    tarball_to(&tar, "test \"$(tar -tzf - | tr '\\n' ' ')\" = 'skills/a skills/config.yaml "
                     "skills/z '");
    tarball_free(&tar);

    push.progress = stop_at_two;
    assert_int_equal(he2b_push_files(&push, files, 8, NULL), HE2B_ERR_CANCELLED);
    tarball_free(&tar);
    push.progress = NULL;
    tar.error = EPIPE;
    assert_int_equal(he2b_push_files(&push, files, 8, NULL), HE2B_ERR_STEP);
    assert_non_null(strstr(push.why, strerror(EPIPE)));
    tarball_free(&tar);
    he2b_manifest_free(&manifest);
}

static int note(void *user, const char *path)
{
    char *list = user;

    strcat(strcat(list, path), " ");
    return strcmp(path, "stop") == 0 ? 7 : 0;
}

static void test_walk(void **state)
{
    struct box *box = *state;
    char list[1024] = "";
    char path[128];

    assert_int_equal(he2b_walk(in(box, path, "none"), note, list), -ENOENT);
    shell(box,
          "mkdir -p a/b/c d && : > a/b/c/f && ln -s / a/link && mkfifo d/p && ln -s a/b/c/f l");
    assert_int_equal(he2b_walk(box->home, note, list), 0);
    assert_string_equal(list, "a/b/c/f ");
    shell(box, ": > stop");
    assert_int_equal(he2b_walk(box->home, note, list), 7);
    shell(box, "rm stop; i=0; while [ $i -lt 140 ]; do mkdir e && cd e && i=$((i+1)); done");
    assert_int_equal(he2b_walk(box->home, note, list), HE2B_ERR_OVERFLOW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_files, box_make, box_drop),
        cmocka_unit_test_setup_teardown(test_walk, box_make, box_drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
