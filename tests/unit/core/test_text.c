#include "core/text.h"
#include "tests/unit/unit.h"

static void check(const char *text, size_t len, const char *expected)
{
    char out[64];

    assert_int_equal(he2b_text_line(out, sizeof(out), text, len), strlen(expected));
    assert_string_equal(out, expected);
}

/* B-100: no forged lines, no terminal control, no reversed text. */
static void dangerous_bytes_are_shown(void **state)
{
    (void)state;
    check("plain", 5, "plain");
    check("h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80", 15,
          "h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80");
    check("a\x1b[31mb", 7, "a\\x1B[31mb");
    check("a\0b", 3, "a\\x00b");
    check("a\x7f", 2, "a\\x7F");
    check("\xe2\x80\xaegnp", 6, "\\xE2\\x80\\xAEgnp");
    check("\xc2\x85x", 3, "\\xC2\\x85x");
    check("\xff\xc3", 2, "\\xFF\\xC3");
    check("\xc0\xaf", 2, "\\xC0\\xAF");
    check("\xed\xa0\x80", 3, "\\xED\\xA0\\x80");
}

static void white_space_becomes_one_line(void **state)
{
    (void)state;
    check("  two\r\n\tlines \n", 15, "two lines");
    check(" \n ", 3, "");
    check("", 0, "");
}

static void what_does_not_fit_ends_in_dots(void **state)
{
    char out[8];

    (void)state;
    he2b_text_line(out, sizeof(out), "1234567", 7);
    assert_string_equal(out, "1234567");
    he2b_text_line(out, sizeof(out), "12345678", 8);
    assert_string_equal(out, "1234...");
    he2b_text_line(out, sizeof(out), "123\xc3\xa9\xc3\xa9\xc3\xa9", 9);
    assert_string_equal(out, "123...");
    he2b_text_line(out, 4, "abcdef", 6);
    assert_string_equal(out, "...");
}

static void test_is_utf8(void **state)
{
    (void)state;
    assert_true(he2b_text_is_utf8("", 0));
    assert_true(he2b_text_is_utf8("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 10));
    assert_false(he2b_text_is_utf8("a\xe4", 2));
    assert_false(he2b_text_is_utf8("\xe2\x82", 2));
    assert_false(he2b_text_is_utf8("\xed\xa0\x80", 3));
    assert_false(he2b_text_is_utf8("\xc0\xaf", 2));
}

static void names_become_utf8(void **state)
{
    char out[16];

    (void)state;
    assert_int_equal(he2b_text_utf8(out, sizeof(out), "a\xff\xc3\xa9\n", 5), 7);
    assert_string_equal(out, "a\xef\xbf\xbd\xc3\xa9\n");
    assert_int_equal(he2b_text_utf8(out, 4, "ab\xc3\xa9", 4), 2);
    assert_string_equal(out, "ab");
    assert_int_equal(he2b_text_utf8(out, 1, "ab", 2), 0);
    assert_string_equal(out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dangerous_bytes_are_shown),
        cmocka_unit_test(white_space_becomes_one_line),
        cmocka_unit_test(what_does_not_fit_ends_in_dots),
        cmocka_unit_test(test_is_utf8),
        cmocka_unit_test(names_become_utf8),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
