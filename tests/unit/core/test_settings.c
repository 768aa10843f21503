#include "core/settings.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

struct log {
    int count;
    char last[400];
};

static void note(void *user, int level, const char *text)
{
    struct log *log = user;

    assert_int_equal(level, HE2B_LOG_WARNING);
    log->count++;
    snprintf(log->last, sizeof(log->last), "%s", text);
}

static void defaults(void **state)
{
    struct he2b_settings settings;
    he2b_options *options;

    (void)state;
    assert_int_equal(he2b_options_new(&options, NULL, NULL), HE2B_OK);
    assert_int_equal(he2b_settings_copy(&settings, options), HE2B_OK);
    assert_null(settings.api_key);
    assert_string_equal(settings.api_url, "https://api.e2b.app");
    assert_null(settings.sandbox_url);
    assert_string_equal(settings.template_id, "base");
    assert_string_equal(settings.cwd, "/home/user");
    assert_false(settings.cwd_chosen);
    assert_int_equal(settings.lease_seconds, 300);
    assert_int_equal(settings.command_grace_seconds, 30);
    assert_true(settings.allow_internet_access);
    assert_true(settings.secure);
    he2b_settings_done(&settings);
    he2b_options_del(options);
}

/* B-3: the default or the safer value, one WARNING that names key and value. */
static void unreadable_values(void **state)
{
    static const struct {
        const char *name;
        const char *value;
        const char *becomes;
    } rows[] = {
        {"lease_seconds", "30m", "300"},
        {"lease_seconds", "-1", "300"},
        {"lease_seconds", "1e12", "300"},
        {"lease_seconds", "0", "60"},
        {"lease_seconds", "59", "60"},
        {"command_grace_seconds", "x", "30"},
        {"allow_internet_access", "maybe", "false"},
        {"secure", "2", "true"},
        {"template", "a\nb", "base"},
    };
    struct log log = {0};
    he2b_options *options;
    size_t i;

    (void)state;
    assert_int_equal(he2b_options_new(&options, note, &log), HE2B_OK);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        log.count = 0;
        assert_int_equal(he2b_options_set(options, rows[i].name, rows[i].value), HE2B_OK);
        assert_string_equal(he2b_options_get(options, rows[i].name), rows[i].becomes);
        assert_int_equal(log.count, 1);
        assert_non_null(strstr(log.last, rows[i].name));
        assert_null(strchr(log.last, '\n'));
    }
    assert_int_equal(he2b_options_set(options, "no_such", "1"), HE2B_ERR_ARG);
    assert_null(he2b_options_get(options, "no_such"));
    he2b_options_del(options);
}

static void switches_in_any_case(void **state)
{
    static const char *const yes[] = {"true", "1", "YES", "On", "True"};
    static const char *const no[] = {"false", "0", "No", "OFF"};
    he2b_options *options;
    size_t i;

    (void)state;
    assert_int_equal(he2b_options_new(&options, NULL, NULL), HE2B_OK);
    for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        he2b_options_set(options, "allow_internet_access", yes[i]);
        assert_string_equal(he2b_options_get(options, "allow_internet_access"), "true");
    }
    for (i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        he2b_options_set(options, "secure", no[i]);
        assert_string_equal(he2b_options_get(options, "secure"), "false");
    }
    he2b_options_del(options);
}

/* B-6 */
static void keys_and_urls(void **state)
{
    struct log log = {0};
    struct he2b_settings settings;
    he2b_options *options;

    (void)state;
    assert_int_equal(he2b_options_new(&options, note, &log), HE2B_OK);
    assert_int_equal(he2b_options_set(options, "api_key", " abc\r\n"), HE2B_OK);
    assert_int_equal(he2b_options_set(options, "api_key", "a\r\nX-Other: b"), HE2B_ERR_SETTING);
    assert_null(he2b_options_get(options, "api_key"));
    assert_int_equal(he2b_options_set(options, "api_url", "http://127.0.0.1:9/e2b/"), HE2B_OK);
    assert_int_equal(he2b_options_set(options, "sandbox_url", "ftp://x"), HE2B_ERR_SETTING);
    assert_int_equal(he2b_options_set(options, "sandbox_url", "x.example"), HE2B_ERR_SETTING);
    assert_int_equal(he2b_options_set(options, "sandbox_url", "https://"), HE2B_ERR_SETTING);
    assert_int_equal(he2b_options_set(options, "sandbox_url", "https://a b"), HE2B_ERR_SETTING);
    assert_int_equal(he2b_options_set(options, "domain", "my.example"), HE2B_OK);
    assert_int_equal(he2b_options_add_metadata(options, "a", "1"), HE2B_OK);
    assert_int_equal(he2b_options_add_metadata(options, "", "1"), HE2B_ERR_ARG);
    assert_int_equal(log.count, 0);
    assert_int_equal(he2b_settings_copy(&settings, options), HE2B_OK);
    assert_string_equal(settings.api_key, "abc");
    assert_string_equal(settings.api_url, "http://127.0.0.1:9/e2b");
    assert_string_equal(he2b_json_get_string(settings.metadata, "a"), "1");
    assert_int_equal(he2b_settings_set_key(&settings, " new "), HE2B_OK);
    assert_string_equal(settings.api_key, "new");
    assert_int_equal(he2b_settings_set_key(&settings, "x\ny"), HE2B_ERR_SETTING);
    assert_string_equal(settings.api_key, "new");
    assert_int_equal(he2b_settings_set_key(&settings, ""), HE2B_OK);
    assert_null(settings.api_key);
    he2b_settings_done(&settings);
    assert_int_equal(he2b_options_set(options, "api_url", ""), HE2B_OK);
    assert_int_equal(he2b_settings_copy(&settings, options), HE2B_OK);
    assert_string_equal(settings.api_url, "https://api.my.example");
    he2b_settings_done(&settings);
    he2b_options_del(options);
    he2b_options_del(NULL);
}

static void environment(void **state)
{
    he2b_options *options;

    (void)state;
    setenv("E2B_API_URL", "http://localhost:3000/", 1);
    setenv("E2B_DOMAIN", "", 1);
    unsetenv("E2B_API_KEY");
    unsetenv("E2B_SANDBOX_URL");
    assert_int_equal(he2b_options_new(&options, NULL, NULL), HE2B_OK);
    assert_int_equal(he2b_options_from_environment(options), HE2B_OK);
    assert_string_equal(he2b_options_get(options, "api_url"), "http://localhost:3000");
    assert_string_equal(he2b_options_get(options, "domain"), "e2b.app");
    setenv("E2B_SANDBOX_URL", "nonsense", 1);
    assert_int_equal(he2b_options_from_environment(options), HE2B_ERR_SETTING);
    he2b_options_del(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(unreadable_values),
        cmocka_unit_test(switches_in_any_case),
        cmocka_unit_test(keys_and_urls),
        cmocka_unit_test(environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
