/* What a create says: ephemeral and persistent, and whose metadata wins (B-4, B-25). */
#include "e2b/create_body.h"

#include "tests/unit/unit.h"

static void check(const struct he2b_settings *settings, const char *scope, const char *expected)
{
    he2b_json *body = NULL;

    assert_int_equal(he2b_create_body(&body, settings, "aa11", scope, 300), HE2B_OK);
    assert_string_equal(he2b_json_text(body, NULL), expected);
    he2b_json_del(body);
}

static void test_ephemeral(void **state)
{
    char name[] = "base";
    struct he2b_settings settings = {
        .template_id = name, .secure = true, .allow_internet_access = true};

    (void)state;
    check(&settings, NULL,
          "{\"templateID\":\"base\",\"timeout\":300,\"autoPause\":false,\"secure\":true,"
          "\"allow_internet_access\":true,\"metadata\":{\"hermes_plugin\":\"e2b-terminal\","
          "\"hermes_attempt\":\"aa11\"}}");
}

/* Paused without its memory, never woken by traffic: no autoResume at all. */
static void test_persistent(void **state)
{
    char name[] = "base";
    struct he2b_settings settings = {.template_id = name};

    (void)state;
    check(&settings, "32c2fbc13a928d31de575b952ea485f4",
          "{\"templateID\":\"base\",\"timeout\":300,\"autoPause\":true,\"autoPauseMemory\":false,"
          "\"secure\":false,\"allow_internet_access\":false,\"metadata\":{"
          "\"hermes_plugin\":\"e2b-terminal\","
          "\"hermes_scope\":\"32c2fbc13a928d31de575b952ea485f4\",\"hermes_attempt\":\"aa11\"}}");
}

/* No pair of the user's says who a sandbox is. */
static void test_identity_wins(void **state)
{
    char name[] = "base";
    struct he2b_settings settings = {.template_id = name, .metadata = he2b_json_new_object()};

    (void)state;
    he2b_json_add_string(settings.metadata, "hermes_scope", "0123456789abcdef");
    he2b_json_add_string(settings.metadata, "hermes_plugin", "other");
    he2b_json_add_string(settings.metadata, "hermes_attempt", "other");
    he2b_json_add_string(settings.metadata, "team", "red");
    check(&settings, NULL,
          "{\"templateID\":\"base\",\"timeout\":300,\"autoPause\":false,\"secure\":false,"
          "\"allow_internet_access\":false,\"metadata\":{\"team\":\"red\","
          "\"hermes_plugin\":\"e2b-terminal\",\"hermes_attempt\":\"aa11\"}}");
    he2b_json_del(settings.metadata);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ephemeral),
        cmocka_unit_test(test_persistent),
        cmocka_unit_test(test_identity_wins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
