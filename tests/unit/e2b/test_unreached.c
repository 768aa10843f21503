/* Every way not to be sent names what to set or check (B-49, B-101). */
#include "e2b/unreached.h"
#include "he2b.h"
#include "tests/unit/unit.h"

static void every_reason_says_what_to_do(void **state)
{
    static const struct {
        enum he2b_http_end end;
        enum he2b_http_distrust distrust;
        bool by_proxy;
        int code;
        const char *says;
    } rows[] = {
        {HE2B_HTTP_UNREACHABLE, 0, false, HE2B_ERR_UNREACHABLE, "network and E2B_X"},
        {HE2B_HTTP_UNREACHABLE, 0, true, HE2B_ERR_UNREACHABLE, "HTTPS_PROXY and E2B_X"},
        {HE2B_HTTP_NOT_SENT, 0, false, HE2B_ERR_UNREACHABLE, "network and E2B_X"},
        {HE2B_HTTP_UNTRUSTED, HE2B_DISTRUST_AUTHORITY, false, HE2B_ERR_TLS, "those of /the/file"},
        {HE2B_HTTP_UNTRUSTED, HE2B_DISTRUST_TIME, false, HE2B_ERR_TLS, "clock"},
        {HE2B_HTTP_UNTRUSTED, HE2B_DISTRUST_NAME, false, HE2B_ERR_TLS, "E2B_X"},
        {HE2B_HTTP_UNTRUSTED, HE2B_DISTRUST_CA_FILE, false, HE2B_ERR_TLS, "set SSL_CERT_FILE"},
        {HE2B_HTTP_UNTRUSTED, HE2B_DISTRUST_NO_CA, false, HE2B_ERR_TLS, "set SSL_CERT_FILE"},
        {HE2B_HTTP_UNTRUSTED, HE2B_DISTRUST_NO_TLS, false, HE2B_ERR_TLS, "E2B_X: is it https"},
        {HE2B_HTTP_UNTRUSTED, HE2B_DISTRUST_PLAIN, false, HE2B_ERR_TLS, "E2B_X: use https"},
        {HE2B_HTTP_UNTRUSTED, HE2B_DISTRUST_OTHER, false, HE2B_ERR_TLS, "SSL_CERT_FILE"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct he2b_http_result result = {.end = rows[i].end,
                                          .distrust = rows[i].distrust,
                                          .by_proxy = rows[i].by_proxy,
                                          .ca_file = "/the/file"};
        char hint[240] = "";

        assert_int_equal(he2b_unreached(&result, "E2B_X", hint, sizeof(hint)), rows[i].code);
        if (!strstr(hint, rows[i].says))
            fail_msg("row %zu: \"%s\" without \"%s\"", i, hint, rows[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_reason_says_what_to_do)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
