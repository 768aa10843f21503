/* wire B.1, B.2, B.4: which plane and which sandbox a request is for. */
#include "local/route.h"
#include "tests/unit/unit.h"

struct routed {
    const char *host;
    const char *id;
    const char *port;
    enum route_kind kind;
    const char *text; /* the sandbox or the refusal */
    unsigned number;  /* the port */
};

static const struct routed cases[] = {
    /* the headers decide on localhost, addresses and sandbox.* */
    {"localhost:3000", "iabc", "49983", ROUTE_DATA, "iabc", 49983},
    {"LOCALHOST", "iabc", "49983", ROUTE_DATA, "iabc", 49983},
    {"127.0.0.1:3000", "iabc", "49983", ROUTE_DATA, "iabc", 49983},
    {"[::1]:3000", "iabc-6532622b", "80", ROUTE_DATA, "iabc", 80},
    {"sandbox.example.org", "iabc", "49983", ROUTE_DATA, "iabc", 49983},
    /* one of them alone */
    {"localhost", "iabc", NULL, ROUTE_REFUSED, "missing header", 0},
    {"localhost", NULL, "49983", ROUTE_REFUSED, "missing header", 0},
    {"sandbox.localhost", "iabc", NULL, ROUTE_REFUSED, "missing header", 0},
    /* broken ones */
    {"localhost", "../x", "49983", ROUTE_REFUSED, "Invalid sandbox ID", 0},
    {"localhost", "i-a-b", "49983", ROUTE_REFUSED, "Invalid sandbox ID", 0},
    {"localhost", "", "49983", ROUTE_REFUSED, "Invalid sandbox ID", 0},
    {"localhost", "iabc", "0", ROUTE_REFUSED, "Invalid sandbox port", 0},
    {"localhost", "iabc", "65536", ROUTE_REFUSED, "Invalid sandbox port", 0},
    {"localhost", "iabc", "49983x", ROUTE_REFUSED, "Invalid sandbox port", 0},
    {"localhost", "iabc", "", ROUTE_REFUSED, "Invalid sandbox port", 0},
    /* the label decides elsewhere, and the headers are ignored there */
    {"49983-iabc.localhost:3000", NULL, NULL, ROUTE_DATA, "iabc", 49983},
    {"49983-iabc-6532622b.e2b.test", NULL, NULL, ROUTE_DATA, "iabc", 49983},
    {"8080-iabc.e2b.test", "iother", "49983", ROUTE_DATA, "iabc", 8080},
    {"49983-i_abc.e2b.test", NULL, NULL, ROUTE_REFUSED, "Invalid sandbox ID", 0},
    {"99999-iabc.e2b.test", NULL, NULL, ROUTE_REFUSED, "Invalid sandbox port", 0},
    {"sandbox.e2b.test", NULL, NULL, ROUTE_REFUSED, "Invalid host", 0},
    {"evil.example.org", NULL, NULL, ROUTE_REFUSED, "Invalid host", 0},
    {"evil.example.org", "iabc", "49983", ROUTE_REFUSED, "Invalid host", 0},
    {"49983", NULL, NULL, ROUTE_REFUSED, "Invalid host", 0},
    {"", NULL, NULL, ROUTE_REFUSED, "Invalid host", 0},
    /* the control plane */
    {"localhost:3000", NULL, NULL, ROUTE_CONTROL, NULL, 0},
    {"127.0.0.1", NULL, NULL, ROUTE_CONTROL, NULL, 0},
    {"[::1]:3000", NULL, NULL, ROUTE_CONTROL, NULL, 0},
    {"api.e2b.test", NULL, NULL, ROUTE_CONTROL, NULL, 0},
};

static void test_decisions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct routed *c = &cases[i];
        struct route route;
        route_decide(&route, c->host, c->id, c->port);
        if ((int)route.kind != (int)c->kind)
            fail_msg("%s, %s, %s", c->host, c->id, c->port);
        if (c->kind == ROUTE_DATA) {
            assert_string_equal(route.sandbox_id, c->text);
            assert_int_equal(route.port, c->number);
        }
        if (c->kind == ROUTE_REFUSED)
            assert_string_equal(route.refusal, c->text);
    }
}

/* An id longer than any of ours must not become another sandbox's by being cut. */
static void test_a_long_id_is_nobodys(void **state)
{
    static const char id[] = "i0123456789abcdefghijklmnop";
    struct route route;

    (void)state;
    route_decide(&route, "localhost", id, "49983");
    assert_int_equal(route.kind, ROUTE_DATA);
    assert_true(strlen(route.sandbox_id) > CREDENTIAL_ID_LEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_a_long_id_is_nobodys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
