/* RFC 9110: ranges and dates of downloads (wire D.2) */
#include "local/daemon_range.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static void gives(const char *text, int64_t size, enum range_found found, int64_t first,
                  int64_t last)
{
    int64_t got_first = -7;
    int64_t got_last = -7;

    assert_int_equal(range_read(text, size, &got_first, &got_last), found);
    assert_int_equal(got_first, found == RANGE_GIVEN ? first : -7);
    assert_int_equal(got_last, found == RANGE_GIVEN ? last : -7);
}

static void ranges(void **state)
{
    (void)state;
    gives("bytes=0-0", 10, RANGE_GIVEN, 0, 0);
    gives("Bytes=3-", 10, RANGE_GIVEN, 3, 9);
    gives("bytes=3-99999999999999999999", 10, RANGE_GIVEN, 3, 9);
    gives("bytes=-4", 10, RANGE_GIVEN, 6, 9);
    gives("bytes=-40", 10, RANGE_GIVEN, 0, 9);
    gives("bytes=10-", 10, RANGE_OUTSIDE, 0, 0);
    gives("bytes=-0", 10, RANGE_OUTSIDE, 0, 0);
    gives("bytes=0-", 0, RANGE_OUTSIDE, 0, 0);
    gives("bytes=-1", 0, RANGE_OUTSIDE, 0, 0);
}

static void what_is_none_gives_the_whole(void **state)
{
    static const char *const texts[] = {"",           "bytes",      "bytes=",    "bytes=-",
                                        "bytes=4-3",  "bytes=a-b",  "bytes=1",   "bytes=1-2x",
                                        "bytes=+1-2", "bytes=1- 2", "lines=1-2", "bytes=1-2,4-5",
                                        "bytes=--1"};
    size_t i;

    (void)state;
    gives(NULL, 10, RANGE_NONE, 0, 0);
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        gives(texts[i], 10, RANGE_NONE, 0, 0);
}

static void dates(void **state)
{
    char text[RANGE_DATE_SIZE];

    (void)state;
    range_date(text, 784111777);
    assert_string_equal(text, "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_int_equal(range_read_date(text), 784111777);
    assert_int_equal(range_read_date("yesterday"), -1);
    assert_int_equal(range_read_date("Sun, 06 Nov 1994 08:49:37 GMTx"), -1);
    assert_int_equal(range_read_date(NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges),
        cmocka_unit_test(what_is_none_gives_the_whole),
        cmocka_unit_test(dates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
