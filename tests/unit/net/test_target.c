#include "net/target.h"

#include "he2b.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

/* B-101 */
static void what_is_loopback(void **state)
{
    static const struct {
        const char *url;
        bool https;
        bool loopback;
        bool literal;
    } rows[] = {
        {"http://127.0.0.1:3000/x", false, true, true},
        {"http://127.9.8.7", false, true, true},
        {"http://[::1]:80/", false, true, true},
        {"https://localhost", true, true, false},
        {"http://sandbox.localhost:9", false, true, false},
        {"http://LOCALHOST.", false, true, false},
        {"https://api.e2b.app/sandboxes", true, false, false},
        {"http://10.0.0.1", false, false, true},
        {"http://[2001:db8::1]", false, false, true},
        {"http://notlocalhost", false, false, false},
        {"http://localhost.example", false, false, false},
        {"http://127.0.0.1.example", false, false, false},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct he2b_target target;

        assert_int_equal(he2b_target_read(&target, rows[i].url), HE2B_OK);
        assert_int_equal(target.https, rows[i].https);
        assert_int_equal(target.loopback, rows[i].loopback);
        assert_int_equal(target.literal, rows[i].literal);
    }
}

static void only_http_and_https(void **state)
{
    static const char *const urls[] = {"ftp://x", "file:///etc/passwd", "x", "", "http://"};
    struct he2b_target target = {.https = true};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
        assert_int_equal(he2b_target_read(&target, urls[i]), HE2B_ERR_SETTING);
    assert_true(target.https);
}

static void the_ca_bundle_is_the_first_that_is_named(void **state)
{
    char tried[512] = "";

    (void)state;
    assert_string_equal(he2b_ca_file("/mine", tried, sizeof(tried)), "/mine");
    setenv("CURL_CA_BUNDLE", "/curl", 1);
    setenv("REQUESTS_CA_BUNDLE", "/requests", 1);
    setenv("SSL_CERT_FILE", "/ssl", 1);
    assert_string_equal(he2b_ca_file(NULL, tried, sizeof(tried)), "/ssl");
    setenv("SSL_CERT_FILE", "", 1);
    assert_string_equal(he2b_ca_file(NULL, tried, sizeof(tried)), "/requests");
    unsetenv("REQUESTS_CA_BUNDLE");
    assert_string_equal(he2b_ca_file(NULL, tried, sizeof(tried)), "/curl");
    unsetenv("CURL_CA_BUNDLE");
    unsetenv("SSL_CERT_FILE");
    if (!he2b_ca_file(NULL, tried, sizeof(tried)))
        assert_non_null(strstr(tried, "/etc/ssl/certs/ca-certificates.crt"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_loopback),
        cmocka_unit_test(only_http_and_https),
        cmocka_unit_test(the_ca_bundle_is_the_first_that_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
