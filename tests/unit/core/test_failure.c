#include "core/failure.h"
#include "tests/unit/unit.h"

static void parts_and_whole(void **state)
{
    struct he2b_failure failure;

    (void)state;
    he2b_failure_set(&failure, NULL, HE2B_ERR_REFUSED, 404, "create sandbox", "check the setting",
                     "template '%s' not found", "x\n");
    assert_int_equal(he2b_failure_code(&failure), HE2B_ERR_REFUSED);
    assert_int_equal(he2b_failure_status(&failure), 404);
    assert_string_equal(he2b_failure_text(&failure),
                        "create sandbox: template 'x ' not found (check the setting)");
    he2b_failure_set(&failure, NULL, HE2B_ERR_GONE, 0, "connect", NULL, "%s", "");
    assert_string_equal(he2b_failure_text(&failure), "connect: the sandbox no longer exists");
    he2b_failure_set_hint(&failure, "make a new one");
    assert_string_equal(he2b_failure_hint(&failure), "make a new one");
    assert_string_equal(he2b_failure_text(&failure),
                        "connect: the sandbox no longer exists (make a new one)");
}

/* B-100: a secret that the bound would cut in two is still found. */
static void secrets_at_the_bound(void **state)
{
    const struct he2b_secrets secrets = {.api_key = "e2b_0123456789", .access_token = NULL};
    struct he2b_failure failure;
    char text[HE2B_FAILURE_CAUSE_MAX + 100];
    size_t at;

    (void)state;
    for (at = HE2B_FAILURE_CAUSE_MAX - 30; at < HE2B_FAILURE_CAUSE_MAX + 5; at++) {
        memset(text, 'x', sizeof(text));
        memcpy(text + at, "e2b_0123456789", 15);
        he2b_failure_set(&failure, &secrets, HE2B_ERR_SERVER, 500, "a", NULL, "%s", text);
        assert_null(strstr(failure.text, "e2b_0"));
        assert_in_range(strlen(failure.cause), 1, HE2B_FAILURE_CAUSE_MAX - 1);
    }
}

static void every_error_has_a_name_and_a_sentence(void **state)
{
    (void)state;
#define X(name, value, text)                                                                       \
    assert_string_equal(he2b_error_name(value), "HE2B_" #name);                                    \
    assert_string_equal(he2b_strerror(value), text);
    HE2B_ERRORS(X)
#undef X
    assert_string_equal(he2b_error_name(12345), "HE2B_ERR_?");
    assert_non_null(he2b_strerror(12345));
    assert_string_equal(he2b_version(), HE2B_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_and_whole),
        cmocka_unit_test(secrets_at_the_bound),
        cmocka_unit_test(every_error_has_a_name_and_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
