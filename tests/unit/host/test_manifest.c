/* B-75: the manifest that lies beside the stamp. */
#include "he2b.h"
#include "host/manifest.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

static const uint8_t one[HE2B_SHA256_SIZE] = {1};
static const uint8_t two[HE2B_SHA256_SIZE] = {0xff, 2};

static void fill(struct he2b_manifest *manifest)
{
    he2b_manifest_init(manifest);
    assert_int_equal(he2b_manifest_put(manifest, "skills/b", one, HE2B_KIND_SKILL), HE2B_OK);
    assert_int_equal(he2b_manifest_put(manifest, "auth.json", two, HE2B_KIND_CREDENTIAL), HE2B_OK);
    assert_int_equal(he2b_manifest_put(manifest, "skills/a\n\\\xff b", two, HE2B_KIND_SKILL),
                     HE2B_OK);
    assert_int_equal(he2b_manifest_put(manifest, "cache/x", two, HE2B_KIND_OTHER), HE2B_OK);
}

static void test_text(void **state)
{
    struct he2b_manifest manifest;
    struct he2b_manifest again;
    struct he2b_buf text;
    char hash[HE2B_SHA256_HEX_MAX];
    char read_hash[HE2B_SHA256_HEX_MAX];
    const struct he2b_manifest_file *file;

    (void)state;
    fill(&manifest);
    he2b_manifest_remove(&manifest, "cache/x");
    he2b_manifest_remove(&manifest, "never");
    he2b_buf_init(&text, 100000);
    assert_int_equal(he2b_manifest_write(&manifest, &text, hash), HE2B_OK);
    assert_non_null(strstr(text.data, "hermes-e2b state 1\n"));
    assert_non_null(strstr(text.data, " credential auth.json\n"));
    assert_non_null(strstr(text.data, " skill skills/a\\n\\\\\xff b\n"));
    assert_null(strstr(text.data, "cache/x"));
    assert_true(strstr(text.data, "auth.json") < strstr(text.data, "skills/a"));
    assert_true(strstr(text.data, "skills/a") < strstr(text.data, "skills/b"));
    assert_int_equal(strncmp(text.data + text.len - 65, hash, 64), 0);

    he2b_manifest_init(&again);
    assert_int_equal(he2b_manifest_read(&again, text.data, text.len, read_hash), HE2B_OK);
    assert_string_equal(read_hash, hash);
    assert_int_equal(again.count, 3);
    file = he2b_manifest_get(&again, "skills/a\n\\\xff b");
    assert_non_null(file);
    assert_int_equal(file->kind, HE2B_KIND_SKILL);
    assert_memory_equal(file->sum, two, sizeof(two));
    assert_int_equal(he2b_manifest_get(&again, "auth.json")->kind, HE2B_KIND_CREDENTIAL);
    he2b_manifest_free(&again);
    he2b_manifest_free(&manifest);
    he2b_buf_free(&text);
}

/* Cut or changed anywhere it is none, and then nothing may be deleted. */
static void test_damage(void **state)
{
    struct he2b_manifest manifest;
    struct he2b_manifest again;
    struct he2b_buf text;
    char hash[HE2B_SHA256_HEX_MAX];
    size_t i;

    (void)state;
    fill(&manifest);
    he2b_buf_init(&text, 100000);
    assert_int_equal(he2b_manifest_write(&manifest, &text, hash), HE2B_OK);
    he2b_manifest_init(&again);
    for (i = 0; i < text.len; i++) {
        assert_int_equal(he2b_manifest_read(&again, text.data, i, hash), HE2B_ERR_PROTOCOL);
        text.data[i] ^= 1;
        assert_int_equal(he2b_manifest_read(&again, text.data, text.len, hash), HE2B_ERR_PROTOCOL);
        text.data[i] ^= 1;
    }
    assert_int_equal(he2b_manifest_read(&again, text.data, text.len, hash), HE2B_OK);
    he2b_manifest_free(&again);
    he2b_manifest_free(&manifest);
    he2b_buf_free(&text);
}

/* A sandbox can hash what it makes up, too: what it says leads nowhere else. */
static void test_made_up(void **state)
{
    static const char hex[] = "0000000000000000000000000000000000000000000000000000000000000000";
    static const char *const lines[] = {
        "%s skill ../x\n",
        "%s skill /etc/passwd\n",
        "%s skill \n",
        "%s skill a//b\n",
        "%s other a\\x\n",
        "%s root x\n",
        "%s skill\n",
        "%s\n",
        "%s skill a/./b\n",
        "%s skill a/\n",
        "\n",
        "twice",
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct he2b_manifest manifest;
        char text[1024] = "hermes-e2b state 1\n";
        uint8_t sum[HE2B_SHA256_SIZE];
        char hash[HE2B_SHA256_HEX_MAX];

        he2b_manifest_init(&manifest);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        if (strcmp(lines[i], "twice") == 0)
            snprintf(text + strlen(text), 500, "%s skill x\n%s other x\n", hex, hex);
        else
            snprintf(text + strlen(text), 500, lines[i], hex);
#pragma GCC diagnostic pop
        he2b_sha256_of(text, strlen(text), sum);
        he2b_sha256_hex(hash, sum);
        strcat(strcat(text, hash), "\n");
        if (he2b_manifest_read(&manifest, text, strlen(text), hash) != HE2B_ERR_PROTOCOL)
            fail_msg("%s", lines[i]);
        assert_int_equal(manifest.count, 0);
    }
}

static void test_what_is_put(void **state)
{
    struct he2b_manifest manifest;
    char name[16];
    int i;

    (void)state;
    fill(&manifest);
    assert_int_equal(he2b_manifest_put(&manifest, "../x", one, HE2B_KIND_SKILL), HE2B_ERR_ARG);
    assert_int_equal(he2b_manifest_put(&manifest, "skills/b", two, HE2B_KIND_OTHER), HE2B_OK);
    assert_int_equal(manifest.count, 4);
    assert_int_equal(he2b_manifest_get(&manifest, "skills/b")->kind, HE2B_KIND_OTHER);
    he2b_manifest_remove(&manifest, "skills/b");
    assert_null(he2b_manifest_get(&manifest, "skills/b"));
    assert_int_equal(he2b_manifest_put(&manifest, "skills/b", one, HE2B_KIND_SKILL), HE2B_OK);
    assert_non_null(he2b_manifest_get(&manifest, "skills/b"));
    for (i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        assert_int_equal(he2b_manifest_put(&manifest, name, one, HE2B_KIND_SKILL), HE2B_OK);
    }
    for (i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        assert_string_equal(he2b_manifest_get(&manifest, name)->path, name);
    }
    he2b_manifest_free(&manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_made_up),
        cmocka_unit_test(test_what_is_put),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
