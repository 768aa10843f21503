#include "local/options.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <getopt.h>

enum {
    WORDS_MAX = 40
};

/* Parses words after the program's name. */
static int parse(struct options *ret, char why[OPTIONS_WHY_MAX], const char *const *words)
{
    static char copies[WORDS_MAX][128];
    char *argv[WORDS_MAX + 1] = {NULL};
    int argc = 0;

    strcpy(copies[argc], "e2b-local");
    argv[argc] = copies[argc];
    for (argc = 1; words[argc - 1]; argc++) {
        strcpy(copies[argc], words[argc - 1]);
        argv[argc] = copies[argc];
    }
    optind = 0;
    why[0] = '\0';
    return options_parse(ret, argc, argv, why);
}

#define PARSE(ret, why, ...) parse((ret), (why), (const char *const[]){__VA_ARGS__, NULL})

static void test_defaults(void **state)
{
    struct options options;
    char why[OPTIONS_WHY_MAX];

    (void)state;
    assert_int_equal(PARSE(&options, why, "--state", "/s"), 0);
    assert_int_equal(options.command, OPTIONS_SERVE);
    assert_int_equal(options.address.v4.sin_family, AF_INET);
    assert_int_equal(ntohl(options.address.v4.sin_addr.s_addr), INADDR_LOOPBACK);
    assert_int_equal(ntohs(options.address.v4.sin_port), 3000);
    assert_int_equal(options.template_count, 1);
    assert_string_equal(options.templates[0], "base");
    assert_int_equal(options.max_lease_s, 24 * 3600);
    assert_false(options.without_isolation);
    assert_false(options.share_host_network);
}

static void test_all_of_them(void **state)
{
    struct options options;
    char why[OPTIONS_WHY_MAX];

    (void)state;
    assert_int_equal(PARSE(&options, why, "serve", "--host", "::1", "--port", "0", "--state", "/s",
                           "--template", "mine", "--no-internet", "--log-level", "debug",
                           "--share-host-network-unsafely", "--unsafely-without-isolation"),
                     0);
    assert_int_equal(options.address.v6.sin6_family, AF_INET6);
    assert_int_equal(options.address.v6.sin6_port, 0);
    assert_string_equal(options.templates[1], "mine");
    assert_true(options.no_internet && options.share_host_network && options.without_isolation);
    assert_int_equal(options.log_level, LOG_LEVEL_DEBUG);
    assert_int_equal(PARSE(&options, why, "env", "--state", "/s"), 0);
    assert_int_equal(options.command, OPTIONS_ENV);
    assert_string_equal(options.state, "/s");
}

/* Whoever reaches the server can run programs: loopback or nothing. */
static void test_only_loopback(void **state)
{
    static const char *const bad[] = {"0.0.0.0", "192.168.1.1",      "::",       "example.org",
                                      "",        "::ffff:127.0.0.1", "128.0.0.1"};
    static const char *const good[] = {"127.0.0.1", "127.1.2.3", "::1", "localhost"};
    struct options options;
    char why[OPTIONS_WHY_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(PARSE(&options, why, "--state", "/s", "--host", bad[i]), -1);
        assert_non_null(strstr(why, "loopback"));
    }
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(PARSE(&options, why, "--state", "/s", "--host", good[i]), 0);
}

/* wire A.8: the plan's maximum */
static void test_the_longest_lease(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } good[] = {{"1h", 3600}, {"24h", 86400},    {"90m", 5400},       {"1s", 1},
                {"61s", 61},  {"720h", 2592000}, {"43200m", 2592000}, {"2592000s", 2592000}};
    static const char *const bad[] = {"",    "h",    "0h",     "24",       "1d",
                                      "1H",  "-1h",  "+1h",    " 1h",      "1 h",
                                      "1hh", "721h", "43201m", "2592001s", "99999999999999999999s"};
    struct options options;
    char why[OPTIONS_WHY_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(PARSE(&options, why, "--state", "/s", "--max-lease", good[i].text), 0);
        assert_int_equal(options.max_lease_s, good[i].seconds);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(PARSE(&options, why, "--state", "/s", "--max-lease", bad[i]), -1);
        assert_non_null(strstr(why, "--max-lease"));
    }
}

static void test_mistakes_are_named(void **state)
{
    static const struct {
        const char *words[4];
        const char *named;
    } cases[] = {
        {{"--port", "65536"}, "65536"}, {{"--port", "-1"}, "-1"},
        {{"--port", "80x"}, "80x"},     {{"--port"}, "--port"},
        {{"--prot", "80"}, "--prot"},   {{"run"}, "run"},
        {{"serve", "more"}, "more"},    {{"--log-level", "loud"}, "loud"},
        {{"--template", "A B"}, "A B"}, {{"--state", ""}, "--state"},
    };
    struct options options;
    char why[OPTIONS_WHY_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(&options, why, cases[i].words), -1);
        assert_non_null(strstr(why, cases[i].named));
        assert_null(strchr(why, '\n'));
    }
}

static void test_help_needs_nothing_else(void **state)
{
    struct options options;
    char why[OPTIONS_WHY_MAX];

    (void)state;
    assert_int_equal(PARSE(&options, why, "--help"), 0);
    assert_int_equal(options.command, OPTIONS_HELP);
    assert_int_equal(PARSE(&options, why, "--version"), 0);
    assert_int_equal(options.command, OPTIONS_VERSION);
    assert_non_null(strstr(options_help, "--unsafely-without-isolation"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),           cmocka_unit_test(test_all_of_them),
        cmocka_unit_test(test_only_loopback),      cmocka_unit_test(test_the_longest_lease),
        cmocka_unit_test(test_mistakes_are_named), cmocka_unit_test(test_help_needs_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
