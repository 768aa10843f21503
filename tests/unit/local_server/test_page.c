#include "local/page.h"
#include "tests/unit/unit.h"

static const struct page_place early = {.started = 1787392800123456789, .id = "iaaaa"};
static const struct page_place late = {.started = 1787392801000000000, .id = "ibbbb"};

/* wire A.7: newest first, then by id; ascending is the exact reverse */
static void test_order(void **state)
{
    struct page_place twin = early;

    (void)state;
    assert_true(page_compare(&late, &early, false) < 0);
    assert_true(page_compare(&late, &early, true) > 0);
    twin.id[1] = 'z';
    assert_true(page_compare(&early, &twin, false) < 0);
    assert_true(page_compare(&early, &twin, true) > 0);
    /* by microseconds: what is below does not count */
    twin.started += 200;
    assert_true(page_compare(&early, &twin, false) < 0);
    assert_int_equal(page_compare(&early, &early, false), 0);
}

static void test_tokens_bring_the_place_back(void **state)
{
    char token[PAGE_TOKEN_SIZE];
    struct page_place place;

    (void)state;
    for (int ascending = 0; ascending < 2; ascending++) {
        page_token(token, &early, ascending);
        assert_int_equal(strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789-_="),
                         strlen(token));
        assert_true(page_token_parse(&place, token, ascending));
        assert_int_equal(place.started, early.started);
        assert_string_equal(place.id, early.id);
        assert_false(page_token_parse(&place, token, !ascending));
    }
}

/* 2026-08-22T10:00:00Z__iabc, made with another program */
static void test_a_foreign_token(void **state)
{
    struct page_place place;

    (void)state;
    assert_true(page_token_parse(&place, "MjAyNi0wOC0yMlQxMDowMDowMFpfX2lhYmM=", false));
    assert_int_equal(place.started, 1787392800000000000);
    assert_string_equal(place.id, "iabc");
}

static void test_garbage(void **state)
{
    static const char *const cases[] = {
        "",
        "x",
        "%%%",
        "aGVsbG8=",
        "X19pYWJj",
        "MjAyNi0wOC0yMlQxMDowMDowMFpfXw==",         /* no id */
        "MjAyNi0wOC0yMlQxMDowMDowMFpfX0lBQkM=",     /* IABC */
        "MjAyNi0wOC0yMlQxMDowMDowMFpfX2lhYmMtZGVm", /* iabc-def */
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "A"
        "AAAAAAAAAAAAAAAAAAAAA",
    };
    struct page_place place = {.started = 7};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_false(page_token_parse(&place, cases[i], false));
    assert_int_equal(place.started, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_tokens_bring_the_place_back),
        cmocka_unit_test(test_a_foreign_token),
        cmocka_unit_test(test_garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
