/* Each allocation of a recovery, a push and a manifest fails in turn: an error, no leak, and the
 * host's files as they were, or whole new ones. */
#include "he2b.h"
#include "host/deletions.h"
#include "host/push.h"
#include "host/recovery.h"
#include "tests/unit/host/box.h"
#include "tests/unit/host/tarball.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool counting;
static size_t fail_at; /* 0: none */
static size_t allocations;

static bool fails(void)
{
    if (!counting || ++allocations != fail_at)
        return false;
    errno = ENOMEM;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t len);
char *__real_realpath(const char *path, char *into);
locale_t __real_newlocale(int mask, const char *name, locale_t base);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);
char *__wrap_realpath(const char *path, char *into);
locale_t __wrap_newlocale(int mask, const char *name, locale_t base);
int __wrap_asprintf(char **ret, const char *format, ...) __attribute__((format(printf, 2, 3)));

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t len)
{
    return fails() ? NULL : __real_strndup(text, len);
}

char *__wrap_realpath(const char *path, char *into)
{
    return fails() ? NULL : __real_realpath(path, into);
}

locale_t __wrap_newlocale(int mask, const char *name, locale_t base)
{
    return fails() ? (locale_t)0 : __real_newlocale(mask, name, base);
}

int __wrap_asprintf(char **ret, const char *format, ...)
{
    va_list args;
    int n;

    if (fails())
        return -1;
    va_start(args, format);
    n = vasprintf(ret, format, args);
    va_end(args);
    return n;
}

static char *in(const struct box *box, const char *path)
{
    static char whole[512];

    snprintf(whole, sizeof(whole), "%s/%s", box->home, path);
    return whole;
}

/* The test's own memory does not count. */
static int sink(void *user, const void *data, size_t len)
{
    int r;

    counting = false;
    r = tarball_sink(user, data, len);
    counting = true;
    return r;
}

/* All of it; returns the first error. */
static int play(const struct box *box, struct tarball *tar, struct tarball *sent)
{
    static const char *const credentials[] = {"skills/c/t", NULL};
    const struct he2b_recovery_options options = {
        .home = box->home, .sandbox_id = "sbx", .credentials = credentials};
    char path[512];
    struct he2b_push push = {.home = box->home, .sink = sink, .sink_user = sent};
    const struct he2b_push_file file = {path, "skills/mine", HE2B_KIND_SKILL};
    struct he2b_manifest manifest;
    struct he2b_manifest again;
    struct he2b_names now;
    struct he2b_deletions deletions = {0};
    struct he2b_buf text;
    char hash[HE2B_SHA256_HEX_MAX];
    he2b_recovery *recovery = NULL;
    int r;

    strcpy(path, in(box, "skills/mine"));
    tar->at = 0;
    he2b_manifest_init(&manifest);
    he2b_manifest_init(&again);
    he2b_names_init(&now);
    he2b_buf_init(&text, 100000);
    counting = true;
    r = he2b_push_files(&push, &file, 1, &manifest);
    if (r == HE2B_OK)
        r = he2b_manifest_write(&manifest, &text, hash);
    if (r == HE2B_OK)
        r = he2b_manifest_read(&again, text.data, text.len, hash);
    if (r == HE2B_OK)
        r = he2b_names_put(&now, "skills/mine", 1);
    if (r == HE2B_OK)
        r = he2b_recovery_new(&recovery, &options);
    if (r == HE2B_OK)
        r = he2b_recovery_read(recovery, tarball_source, tar);
    if (r == HE2B_OK)
        r = he2b_deletions_find(&deletions, &again, &now, recovery, box->home);
    if (r == HE2B_OK)
        r = he2b_recovery_apply(recovery);
    counting = false;
    he2b_recovery_del(recovery);
    he2b_deletions_free(&deletions);
    he2b_names_free(&now);
    he2b_manifest_free(&again);
    he2b_manifest_free(&manifest);
    he2b_buf_free(&text);
    return r;
}

static void test_each(void **state)
{
    struct box *box = *state;
    struct tarball tar = {0};
    char line[256];
    char text[1024];
    size_t i;
    int r;

    tarball_file(&tar, "skills/new", "new");
    tarball_file(&tar, "skills/mine", "theirs");
    tarball_file(&tar, "skills/c/t", "stolen");
    tarball_header(&tar, '1', "skills/hard", "skills/new", 0644, 0);
    tarball_file(&tar, "../x", "x");
    tarball_end(&tar);
    for (i = 1; i < 1000; i++) {
        struct tarball sent = {0};

        snprintf(line, sizeof(line),
                 "cd '%s' && rm -rf skills cache && mkdir skills && printf mine > skills/mine",
                 box->home);
        assert_int_equal(system(line), 0);
        allocations = 0;
        fail_at = i;
        r = play(box, &tar, &sent);
        fail_at = 0;
        tarball_free(&sent);
        box_read(in(box, "skills/mine"), text);
        assert_string_equal(text, "mine");
        if (access(in(box, "skills/new"), F_OK) == 0) {
            box_read(in(box, "skills/new"), text);
            assert_string_equal(text, "new");
        }
        if (allocations < i)
            break;
        /* A name in a report may be left out; nothing else may. */
        if (r != HE2B_ERR_NOMEM && r != HE2B_OK)
            fail_msg("allocation %zu: %d", i, r);
        if (r == HE2B_OK) {
            box_read(in(box, "cache/e2b-recovered/sbx/skills/mine"), text);
            assert_string_equal(text, "theirs");
            box_read(in(box, "skills/hard"), text);
            assert_string_equal(text, "new");
        }
    }
    print_message("%zu allocations\n", i - 1);
    assert_true(i > 40 && i < 1000);
    assert_int_equal(r, HE2B_OK);
    tarball_free(&tar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each, box_make, box_drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
