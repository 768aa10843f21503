#include "core/secrets.h"
#include "tests/unit/unit.h"

#include <stdio.h>

static const struct he2b_secrets secrets = {
    .api_key = "any-format-key",
    .access_token = "deadbeefdeadbeefdeadbeef",
};

static void check(const char *text, const char *expected)
{
    char buffer[256];

    snprintf(buffer, sizeof(buffer), "%s", text);
    he2b_redact(buffer, &secrets);
    assert_string_equal(buffer, expected);
}

/* B-100 */
static void secrets_are_removed(void **state)
{
    (void)state;
    check("key any-format-key refused, any-format-key", "key *** refused, ***");
    check("token deadbeefdeadbeefdeadbeef!", "token ***!");
    check("e2b_0123456789abcdef and e2b_ABCDEF0123", "*** and ***");
    check("Authorization: Bearer abc.def-ghi_jkl ok", "Authorization: Bearer *** ok");
    check("bearer abcdefgh", "bearer ***");
    check("http://user:pass@host/p https://u@h", "http://***@host/p https://@h");
}

static void ordinary_text_is_unchanged(void **state)
{
    static const char *const ordinary[] = {
        "",
        "e2b_local e2b_ e2b_12",
        "a bearer of news",
        "https://host/a@b",
        "mail a@b.c",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(ordinary) / sizeof(ordinary[0]); i++)
        check(ordinary[i], ordinary[i]);
}

static void short_or_missing_secrets_are_not_looked_for(void **state)
{
    const struct he2b_secrets few = {.api_key = "abc", .access_token = NULL};
    char text[] = "abcabc";

    (void)state;
    he2b_redact(text, &few);
    assert_string_equal(text, "abcabc");
    he2b_redact(text, NULL);
    assert_string_equal(text, "abcabc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_are_removed),
        cmocka_unit_test(ordinary_text_is_unchanged),
        cmocka_unit_test(short_or_missing_secrets_are_not_looked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
