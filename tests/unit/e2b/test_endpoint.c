/* Where a sandbox is (wire A.4, B.1, B.2). */
#include "e2b/endpoint.h"

#include "tests/unit/unit.h"

#include <stdio.h>

static void test_ids(void **state)
{
    char longest[HE2B_SANDBOX_ID_MAX + 1];

    (void)state;
    assert_true(he2b_sandbox_id_valid("i0123456789abcdefghij"));
    assert_true(he2b_sandbox_id_valid("i0123456789abcdefghij-0a1b2c3d"));
    assert_true(he2b_sandbox_id_valid("a"));
    assert_false(he2b_sandbox_id_valid(""));
    assert_false(he2b_sandbox_id_valid("-a"));
    assert_false(he2b_sandbox_id_valid("a-"));
    assert_false(he2b_sandbox_id_valid("a-b-c"));
    assert_false(he2b_sandbox_id_valid("ABC"));
    assert_false(he2b_sandbox_id_valid("a/../b"));
    assert_false(he2b_sandbox_id_valid("a b"));
    assert_false(he2b_sandbox_id_valid("a\r\nX: y"));
    memset(longest, 'a', sizeof(longest));
    longest[HE2B_SANDBOX_ID_MAX] = '\0';
    assert_false(he2b_sandbox_id_valid(longest));
    longest[HE2B_SANDBOX_ID_MAX - 1] = '\0';
    assert_true(he2b_sandbox_id_valid(longest));
}

static void check_url(const char *domain, const char *answered, const char *sandbox_url,
                      const char *expected)
{
    struct he2b_endpoint endpoint = {.sandbox_id = "i0123456789abcdefghij"};
    char configured[64];
    char fixed[64];
    struct he2b_settings settings = {.domain = configured};
    char url[HE2B_URL_MAX];

    snprintf(configured, sizeof(configured), "%s", domain);
    if (sandbox_url) {
        snprintf(fixed, sizeof(fixed), "%s", sandbox_url);
        settings.sandbox_url = fixed;
    }
    if (answered)
        snprintf(endpoint.domain, sizeof(endpoint.domain), "%s", answered);
    assert_int_equal(he2b_endpoint_url(url, sizeof(url), &endpoint, &settings, "/health"), HE2B_OK);
    assert_string_equal(url, expected);
}

static void test_urls(void **state)
{
    (void)state;
    check_url("e2b.app", NULL, NULL, "https://sandbox.e2b.app/health");
    check_url("e2b.dev", NULL, NULL, "https://sandbox.e2b.dev/health");
    check_url("e2b.example.org", NULL, NULL,
              "https://49983-i0123456789abcdefghij.e2b.example.org/health");
    /* the answer's domain is the newer one (B-34) */
    check_url("e2b.app", "other.example", NULL,
              "https://49983-i0123456789abcdefghij.other.example/health");
    check_url("e2b.example.org", "e2b.app", NULL, "https://sandbox.e2b.app/health");
    check_url("e2b.app", "other.example", "http://127.0.0.1:3000/prefix",
              "http://127.0.0.1:3000/prefix/health");
}

static void test_url_that_does_not_fit(void **state)
{
    struct he2b_endpoint endpoint = {.sandbox_id = "a"};
    char domain[] = "e2b.app";
    struct he2b_settings settings = {.domain = domain};
    char url[16];

    (void)state;
    assert_int_equal(he2b_endpoint_url(url, sizeof(url), &endpoint, &settings, "/health"),
                     HE2B_ERR_OVERFLOW);
}

static const char *value_of(const struct he2b_http_header *headers, const char *name)
{
    for (; headers->name; headers++) {
        if (strcmp(headers->name, name) == 0)
            return headers->value;
    }
    return NULL;
}

static void test_headers(void **state)
{
    struct he2b_endpoint endpoint = {.sandbox_id = "i0123456789abcdefghij",
                                     .access_token = "token"};
    struct he2b_http_header headers[HE2B_ENDPOINT_HEADERS];
    struct he2b_endpoint_texts texts;

    (void)state;
    assert_int_equal(he2b_endpoint_headers(headers, &texts, &endpoint, "root"), 4);
    assert_string_equal(value_of(headers, "E2b-Sandbox-Id"), "i0123456789abcdefghij");
    assert_string_equal(value_of(headers, "E2b-Sandbox-Port"), "49983");
    assert_string_equal(value_of(headers, "X-Access-Token"), "token");
    assert_string_equal(value_of(headers, "Authorization"), "Basic cm9vdDo=");
    endpoint.access_token[0] = '\0';
    assert_int_equal(he2b_endpoint_headers(headers, &texts, &endpoint, NULL), 2);
    assert_null(value_of(headers, "X-Access-Token"));
    assert_null(value_of(headers, "Authorization"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_url_that_does_not_fit),
        cmocka_unit_test(test_headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
