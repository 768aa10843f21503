#include "local/query.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static he2b_json *metadata(const char *text)
{
    he2b_json *json = NULL;
    assert_int_equal(he2b_json_parse(&json, text, strlen(text)), 0);
    return json;
}

static bool matches(const char *value, const char *text)
{
    struct query_filter *filter = query_filter_new(value, strlen(value));
    he2b_json *json = text ? metadata(text) : NULL;

    assert_non_null(filter);
    bool result = query_filter_match(filter, json);
    query_filter_del(filter);
    he2b_json_del(json);
    return result;
}

/* wire A.7: the worked example, as it is on the wire */
static void test_the_worked_example(void **state)
{
    static const char value[] =
        "pool%3Dx%252520y%26k%3Da%25252Bb%252526c%25253Dd%25252F%2525C3%2525A9";

    (void)state;
    assert_true(matches(value, "{\"pool\":\"x y\",\"k\":\"a+b&c=d/\\u00e9\",\"more\":\"1\"}"));
    assert_false(matches(value, "{\"pool\":\"x y\"}"));
    assert_false(matches(value, "{\"pool\":\"x+y\",\"k\":\"a+b&c=d/\\u00e9\"}"));
}

/* wire H: the Python SDK leaves "/" alone in the inner quoting */
static void test_a_slash_that_is_quoted_once_less(void **state)
{
    (void)state;
    assert_true(matches("k%3Dd%252Fe", "{\"k\":\"d/e\"}"));
    assert_true(matches("k%3Dd/e", "{\"k\":\"d/e\"}"));
}

static void test_plain_words_and_all_pairs(void **state)
{
    (void)state;
    assert_true(matches("pool%3Da%26env%3Dprod", "{\"pool\":\"a\",\"env\":\"prod\"}"));
    assert_true(matches("pool=a", "{\"pool\":\"a\"}"));
    assert_false(matches("pool%3Da%26env%3Dprod", "{\"pool\":\"a\",\"env\":\"test\"}"));
    assert_true(matches("k%3D", "{\"k\":\"\"}"));
}

/* A sandbox without metadata never matches. */
static void test_no_metadata(void **state)
{
    (void)state;
    assert_false(matches("a%3Db", NULL));
}

/* wire A.7: "Error parsing metadata" */
static void test_broken_filters(void **state)
{
    static const char *const cases[] = {"",          "pool", "a%3Db%26",  "a%3Db%3Dc", "%zz",
                                        "a%3D%25zz", "a=%2", "a%3D%2500", "%26a%3Db"};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_null(query_filter_new(cases[i], strlen(cases[i])));
}

static void test_parameters(void **state)
{
    static const char target[] = "/files?path=%2Fa%20b+c&empty=&flag&pathology=1&path=second";
    char *value;

    (void)state;
    assert_true(query_get(target, "path", &value));
    assert_string_equal(value, "/a b c");
    free(value);
    assert_true(query_get(target, "empty", &value));
    assert_string_equal(value, "");
    free(value);
    assert_true(query_get(target, "flag", &value));
    assert_string_equal(value, "");
    free(value);
    assert_true(query_get(target, "absent", &value));
    assert_null(value);
    assert_true(query_get("/files", "path", &value));
    assert_null(value);
    assert_false(query_get("/files?path=%4", "path", &value));
    assert_false(query_get("/files?path=a%00b", "path", &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_worked_example),
        cmocka_unit_test(test_a_slash_that_is_quoted_once_less),
        cmocka_unit_test(test_plain_words_and_all_pairs),
        cmocka_unit_test(test_no_metadata),
        cmocka_unit_test(test_broken_filters),
        cmocka_unit_test(test_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
