/* Times as E2B writes them (wire A.7), which order sandboxes and end leases (B-21, B-32). */
#include "core/rfc3339.h"

#include "tests/unit/unit.h"

static void test_times(void **state)
{
    int64_t us = 0;

    (void)state;
    assert_true(he2b_rfc3339("1970-01-01T00:00:00Z", &us));
    assert_int_equal(us, 0);
    assert_true(he2b_rfc3339("2026-08-22T10:05:00.123456789Z", &us));
    assert_int_equal(us, 1787393100123456);
    assert_true(he2b_rfc3339("2026-08-22T12:05:00.1+02:00", &us));
    assert_int_equal(us, 1787393100100000);
    assert_true(he2b_rfc3339("2026-08-22t07:35:00-02:30", &us));
    assert_int_equal(us, 1787393100000000);
}

static void test_others(void **state)
{
    static const char *const texts[] = {
        "",
        "2026",
        "2026-08-22",
        "2026-13-22T10:05:00Z",
        "2026-08-32T10:05:00Z",
        "2026-08-22T24:05:00Z",
        "2026-08-22T10:60:00Z",
        "2026-08-22T10:05:00",
        "2026-08-22T10:05:00.Z",
        "2026-08-22T10:05:00Zx",
        "2026-08-22T10:05:00+2",
        "26-08-22T10:05:00Z",
        "-026-08-22T10:05:00Z",
        "null",
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int64_t us = 7;

        assert_false(he2b_rfc3339(texts[i], &us));
        assert_int_equal(us, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
