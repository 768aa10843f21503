#include "core/json.h"
#include "he2b.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static int parse(he2b_json **ret, const char *text)
{
    return he2b_json_parse(ret, text, strlen(text));
}

static void values_are_read_by_type(void **state)
{
    he2b_json *json = NULL;
    int64_t number = 5;
    bool yes = false;
    size_t len;

    (void)state;
    assert_int_equal(parse(&json,
                           " {\"s\":\"a\\u0000b\",\"i\":7,\"l\":\"13\",\"b\":true,\"n\":null,"
                           "\"a\":[1,null],\"o\":{\"exit_code\":3},\"big\":9223372036854775808,"
                           "\"f\":1.5,\"t\":\"12abc\"} "),
                     HE2B_OK);
    assert_null(he2b_json_get_string(json, "s"));
    assert_non_null(he2b_json_string(he2b_json_get(json, "s"), &len));
    assert_int_equal(len, 3);
    assert_true(he2b_json_int(he2b_json_get(json, "i"), &number));
    assert_int_equal(number, 7);
    assert_true(he2b_json_int(he2b_json_get(json, "l"), &number));
    assert_int_equal(number, 13);
    assert_false(he2b_json_int(he2b_json_get(json, "big"), &number));
    assert_false(he2b_json_int(he2b_json_get(json, "f"), &number));
    assert_false(he2b_json_int(he2b_json_get(json, "t"), &number));
    assert_false(he2b_json_int(he2b_json_get(json, "missing"), &number));
    assert_int_equal(number, 13);
    assert_true(he2b_json_bool(he2b_json_get(json, "b"), &yes));
    assert_true(yes);
    assert_false(he2b_json_bool(he2b_json_get(json, "i"), &yes));
    /* wire C.7: null is absent, and either name will do */
    assert_null(he2b_json_get(json, "n"));
    assert_int_equal(he2b_json_array_size(he2b_json_get(json, "a")), 2);
    assert_true(he2b_json_is_null(he2b_json_at(he2b_json_get(json, "a"), 1)));
    assert_null(he2b_json_at(he2b_json_get(json, "a"), 2));
    assert_true(
        he2b_json_int(he2b_json_get2(he2b_json_get(json, "o"), "exitCode", "exit_code"), &number));
    assert_int_equal(number, 3);
    he2b_json_del(json);
}

static void what_is_no_json_is_an_error(void **state)
{
    static const char *const broken[] = {
        "",       "{",          "[1,]",     "{\"a\":1}x",        "// c\n{}",
        "<html>", "{\"a\":01}", "\"\xff\"", "{\"a\\u0000b\":1}", "nul",
    };
    char deep[200];
    he2b_json *json = NULL;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
        assert_int_equal(parse(&json, broken[i]), HE2B_ERR_PROTOCOL);
    assert_int_equal(he2b_json_parse(&json, "{}\0", 3), HE2B_ERR_PROTOCOL);
    memset(deep, '[', 99);
    memset(deep + 99, ']', 99);
    assert_int_equal(he2b_json_parse(&json, deep, 198), HE2B_ERR_PROTOCOL);
    assert_null(json);
}

static void bare_values_are_whole_texts(void **state)
{
    he2b_json *json = NULL;
    int64_t number;

    (void)state;
    assert_int_equal(parse(&json, "null"), HE2B_OK);
    assert_true(he2b_json_is_null(json));
    assert_null(he2b_json_get(json, "a"));
    he2b_json_del(json);
    assert_int_equal(parse(&json, "42"), HE2B_OK);
    assert_true(he2b_json_int(json, &number));
    assert_int_equal(number, 42);
    he2b_json_del(json);
    /* a value may hold an escaped NUL, a key may not */
    assert_int_equal(parse(&json, "{\"a\":\"\\u0000\"}"), HE2B_OK);
    he2b_json_del(json);
}

static bool count(void *user, const char *key, const he2b_json *member)
{
    (void)key;
    (void)member;
    return ++*(int *)user < 2;
}

static void writing(void **state)
{
    he2b_json *json = he2b_json_new_object();
    he2b_json *list = he2b_json_new_array();
    int seen = 0;

    (void)state;
    assert_int_equal(he2b_json_append(list, he2b_json_new_string("a/b\n", 4)), HE2B_OK);
    assert_int_equal(he2b_json_add(json, "list", list), HE2B_OK);
    assert_int_equal(he2b_json_add_int(json, "n", -3), HE2B_OK);
    assert_int_equal(he2b_json_add_bool(json, "b", false), HE2B_OK);
    assert_int_equal(he2b_json_add(json, "none", NULL), HE2B_ERR_NOMEM);
    assert_string_equal(he2b_json_text(json, NULL), "{\"list\":[\"a/b\\n\"],\"n\":-3,\"b\":false}");
    he2b_json_each(json, count, &seen);
    assert_int_equal(seen, 2);
    he2b_json_del(json);
    he2b_json_del(NULL);
}

static void a_copy_is_a_value_of_its_own(void **state)
{
    he2b_json *json = NULL;
    he2b_json *copy;

    (void)state;
    assert_int_equal(parse(&json, "{\"a\":[1,{\"b\":null}]}"), HE2B_OK);
    copy = he2b_json_copy(he2b_json_get(json, "a"));
    he2b_json_del(json);
    assert_string_equal(he2b_json_text(copy, NULL), "[1,{\"b\":null}]");
    he2b_json_del(copy);
    assert_null(he2b_json_copy(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read_by_type),
        cmocka_unit_test(what_is_no_json_is_an_error),
        cmocka_unit_test(bare_values_are_whole_texts),
        cmocka_unit_test(writing),
        cmocka_unit_test(a_copy_is_a_value_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
