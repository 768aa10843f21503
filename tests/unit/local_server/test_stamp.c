#include "local/stamp.h"
#include "tests/unit/unit.h"

static const int64_t second = 1000000000;

/* wire A.7: RFC 3339 with up to nine digits */
static void test_written(void **state)
{
    char text[STAMP_SIZE];

    (void)state;
    stamp_format(text, 0);
    assert_string_equal(text, "1970-01-01T00:00:00Z");
    stamp_format(text, 1787392800 * second + 123456789);
    assert_string_equal(text, "2026-08-22T10:00:00.123456789Z");
    stamp_format(text, 1787392800 * second + 500000000);
    assert_string_equal(text, "2026-08-22T10:00:00.5Z");
}

static void test_read(void **state)
{
    static const struct {
        const char *text;
        int64_t at;
    } cases[] = {
        {"2026-08-22T10:00:00Z", 1787392800 * 1000000000LL},
        {"2026-08-22T10:00:00.5Z", 1787392800 * 1000000000LL + 500000000},
        {"2026-08-22t10:00:00.123456789z", 1787392800 * 1000000000LL + 123456789},
        {"2026-08-22T12:30:00+02:30", 1787392800 * 1000000000LL},
        {"2026-08-22T05:00:00-05:00", 1787392800 * 1000000000LL},
        {"2024-02-29T00:00:00Z", 1709164800 * 1000000000LL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t at = -1;
        assert_true(stamp_parse(&at, cases[i].text));
        assert_int_equal(at, cases[i].at);
    }
}

static void test_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "2026-08-22",
        "2026-08-22T10:00:00",
        "2026-08-22 10:00:00Z",
        "2026-08-22T10:00:00.Z",
        "2026-13-22T10:00:00Z",
        "2025-02-29T10:00:00Z",
        "2026-08-22T24:00:00Z",
        "2026-08-22T10:00:00+2:00",
        "2026-08-22T10:00:00Zx",
        "1960-01-01T00:00:00Z",
        "9999-01-01T00:00:00Z",
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t at = 7;
        assert_false(stamp_parse(&at, cases[i]));
        assert_int_equal(at, 7);
    }
}

static void test_round_trip_of_now(void **state)
{
    char text[STAMP_SIZE];
    int64_t now = stamp_now();
    int64_t at = 0;

    (void)state;
    stamp_format(text, now);
    assert_true(stamp_parse(&at, text));
    assert_int_equal(at, now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_round_trip_of_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
