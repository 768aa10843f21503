/* B-10 to B-12: what a scope is called, on the server and in file names. */
#include "core/scope.h"
#include "tests/unit/unit.h"

static const struct he2b_scope known = {
    .home = "/home/u/.hermes",
    .task = "default",
    .template_id = "base",
    .persistent = true,
    .internet = true,
    .secure = true,
};

static void test_known_digest(void **state)
{
    char digest[HE2B_SCOPE_MAX];

    (void)state;
    he2b_scope_digest(digest, &known);
    assert_string_equal(digest, "32c2fbc13a928d31de575b952ea485f4");
}

static void test_no_task_is_default(void **state)
{
    struct he2b_scope scope = known;
    char digest[HE2B_SCOPE_MAX];

    (void)state;
    scope.task = NULL;
    he2b_scope_digest(digest, &scope);
    assert_string_equal(digest, "32c2fbc13a928d31de575b952ea485f4");
    scope.task = "";
    he2b_scope_digest(digest, &scope);
    assert_string_equal(digest, "32c2fbc13a928d31de575b952ea485f4");
}

static void differs(struct he2b_scope scope)
{
    char expected[HE2B_SCOPE_MAX];
    char digest[HE2B_SCOPE_MAX];

    he2b_scope_digest(expected, &known);
    he2b_scope_digest(digest, &scope);
    assert_string_not_equal(digest, expected);
}

static void test_each_part_counts(void **state)
{
    struct he2b_scope scope;

    (void)state;
    scope = known;
    scope.home = "/home/v/.hermes";
    differs(scope);
    scope = known;
    scope.task = "other";
    differs(scope);
    scope = known;
    scope.template_id = "bash";
    differs(scope);
    scope = known;
    scope.persistent = false;
    differs(scope);
    scope = known;
    scope.internet = false;
    differs(scope);
    scope = known;
    scope.secure = false;
    differs(scope);
}

/* The words of the other values: computed with sha256sum. */
static void test_words_of_the_other_values(void **state)
{
    const struct he2b_scope scope = {.home = "/h", .task = "t", .template_id = "x"};
    char digest[HE2B_SCOPE_MAX];

    (void)state;
    he2b_scope_digest(digest, &scope);
    assert_string_equal(digest, "933423c55227e409787ddaf70f44653c");
}

/* A text cannot move from one part to its neighbour unseen. */
static void test_parts_are_separate(void **state)
{
    struct he2b_scope left = known;
    struct he2b_scope right = known;
    char a[HE2B_SCOPE_MAX];
    char b[HE2B_SCOPE_MAX];

    (void)state;
    left.task = "ab";
    left.template_id = "c";
    right.task = "a";
    right.template_id = "bc";
    he2b_scope_digest(a, &left);
    he2b_scope_digest(b, &right);
    assert_string_not_equal(a, b);
}

static void name_is(const char *scope, const char *expected)
{
    char name[HE2B_SCOPE_NAME_MAX];

    he2b_scope_name(name, scope);
    assert_string_equal(name, expected);
}

static void test_a_digest_is_its_own_name(void **state)
{
    static const char longest[] =
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    (void)state;
    name_is("32c2fbc13a928d31de575b952ea485f4", "32c2fbc13a928d31de575b952ea485f4");
    name_is("01234567", "01234567");
    name_is(longest, longest);
}

static void test_anything_else_is_hashed(void **state)
{
    static const char *const texts[] = {
        "0123456",
        "01234567g",
        "ABCDEF0123",
        "../../../../etc/passwd",
        "/etc/passwd",
        "01234567/x",
        "01234567\n",
        "..",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0",
    };
    size_t i;

    (void)state;
    name_is("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    name_is("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char name[HE2B_SCOPE_NAME_MAX];

        he2b_scope_name(name, texts[i]);
        assert_int_equal(strlen(name), 64);
        assert_int_equal(strspn(name, "0123456789abcdef"), 64);
        assert_string_not_equal(name, texts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_digest),
        cmocka_unit_test(test_no_task_is_default),
        cmocka_unit_test(test_each_part_counts),
        cmocka_unit_test(test_words_of_the_other_values),
        cmocka_unit_test(test_parts_are_separate),
        cmocka_unit_test(test_a_digest_is_its_own_name),
        cmocka_unit_test(test_anything_else_is_hashed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
