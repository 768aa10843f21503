/* B-75: what was deleted on the host while nothing ran goes in the sandbox, and nothing else. */
#include "he2b.h"
#include "host/deletions.h"
#include "tests/unit/host/box.h"
#include "tests/unit/host/tarball.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void pushed(struct he2b_manifest *manifest, const char *path, const char *text,
                   enum he2b_manifest_kind kind)
{
    uint8_t sum[HE2B_SHA256_SIZE];

    he2b_sha256_of(text, strlen(text), sum);
    assert_int_equal(he2b_manifest_put(manifest, path, sum, kind), HE2B_OK);
}

struct scene {
    struct he2b_manifest manifest;
    struct he2b_names now;
    struct he2b_deletions deletions;
    he2b_recovery *recovery;
};

/* Everything was pushed once; the host still lists skills/kept alone. */
static void play(struct scene *scene, const struct box *box)
{
    const struct he2b_recovery_options options = {.home = box->home, .sandbox_id = "sbx"};
    struct tarball tar = {0};

    *scene = (struct scene){0};
    he2b_manifest_init(&scene->manifest);
    he2b_names_init(&scene->now);
    pushed(&scene->manifest, "auth.json", "secret", HE2B_KIND_CREDENTIAL);
    pushed(&scene->manifest, "skills/token", "secret", HE2B_KIND_CREDENTIAL);
    pushed(&scene->manifest, "skills/gone", "gone", HE2B_KIND_SKILL);
    pushed(&scene->manifest, "skills/edited", "before", HE2B_KIND_SKILL);
    pushed(&scene->manifest, "skills/kept", "kept", HE2B_KIND_SKILL);
    pushed(&scene->manifest, "memories/gone", "gone", HE2B_KIND_OTHER);
    pushed(&scene->manifest, "cache/images/x", "x", HE2B_KIND_OTHER);
    assert_int_equal(he2b_names_put(&scene->now, "skills/kept", 0), HE2B_OK);
    tarball_file(&tar, "skills/token", "edited secret");
    tarball_file(&tar, "skills/gone", "gone");
    tarball_file(&tar, "skills/edited", "after");
    tarball_file(&tar, "skills/kept", "kept");
    tarball_file(&tar, "skills/new", "new");
    tarball_file(&tar, "memories/gone", "gone");
    tarball_end(&tar);
    assert_int_equal(he2b_recovery_new(&scene->recovery, &options), HE2B_OK);
    assert_int_equal(he2b_recovery_read(scene->recovery, tarball_source, &tar), HE2B_OK);
    assert_int_equal(he2b_deletions_find(&scene->deletions, &scene->manifest, &scene->now,
                                         scene->recovery, box->home),
                     HE2B_OK);
    assert_int_equal(he2b_recovery_apply(scene->recovery), HE2B_OK);
    tarball_free(&tar);
}

static void end(struct scene *scene)
{
    he2b_recovery_del(scene->recovery);
    he2b_deletions_free(&scene->deletions);
    he2b_names_free(&scene->now);
    he2b_manifest_free(&scene->manifest);
}

static bool there(const struct box *box, const char *path)
{
    char whole[512];

    snprintf(whole, sizeof(whole), "%s/%s", box->home, path);
    return access(whole, F_OK) == 0;
}

static void shell(const struct box *box, const char *command)
{
    char line[512];

    snprintf(line, sizeof(line), "cd '%s' && %s", box->home, command);
    assert_int_equal(system(line), 0);
}

static void test_gone(void **state)
{
    struct box *box = *state;
    struct scene scene;

    shell(box, "mkdir skills memories && echo -n kept > skills/kept && : > memories/m");
    play(&scene, box);
    assert_int_equal(scene.deletions.count, 4);
    assert_string_equal(scene.deletions.paths[0], "auth.json");
    assert_string_equal(scene.deletions.paths[1], "memories/gone");
    assert_string_equal(scene.deletions.paths[2], "skills/gone");
    assert_string_equal(scene.deletions.paths[3], "skills/token");
    assert_false(scene.deletions.no_skills);
    /* what is deleted is not resurrected, what was edited in the sandbox comes home */
    assert_false(there(box, "skills/gone"));
    assert_false(there(box, "skills/token"));
    assert_false(there(box, "memories/gone"));
    assert_true(there(box, "skills/edited"));
    assert_true(there(box, "skills/new"));
    end(&scene);
}

/* Perhaps the disk is not mounted: only credentials go, which never come home anyway. */
static void test_bare_roots(void **state)
{
    struct box *box = *state;
    struct scene scene;

    shell(box, "mkdir skills");
    play(&scene, box);
    assert_int_equal(scene.deletions.count, 2);
    assert_string_equal(scene.deletions.paths[0], "auth.json");
    assert_string_equal(scene.deletions.paths[1], "skills/token");
    assert_true(scene.deletions.no_skills);
    assert_true(scene.deletions.no_memories);
    assert_true(there(box, "skills/gone"));
    assert_true(there(box, "memories/gone"));
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_gone, box_make, box_drop),
        cmocka_unit_test_setup_teardown(test_bare_roots, box_make, box_drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
