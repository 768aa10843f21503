#include "core/buf.h"
#include "he2b.h"
#include "tests/unit/unit.h"

static void grows_and_stays_terminated(void **state)
{
    struct he2b_buf buf;
    int i;

    (void)state;
    he2b_buf_init(&buf, 100000);
    assert_string_equal(he2b_buf_str(&buf), "");
    for (i = 0; i < 20000; i++)
        assert_int_equal(he2b_buf_adds(&buf, "abcde"), HE2B_OK);
    assert_int_equal(buf.len, 100000);
    assert_int_equal(strlen(he2b_buf_str(&buf)), 100000);
    he2b_buf_free(&buf);
}

static void refuses_above_its_maximum_and_keeps_its_content(void **state)
{
    struct he2b_buf buf;

    (void)state;
    he2b_buf_init(&buf, 5);
    assert_int_equal(he2b_buf_adds(&buf, "abc"), HE2B_OK);
    assert_int_equal(he2b_buf_adds(&buf, "def"), HE2B_ERR_OVERFLOW);
    assert_int_equal(he2b_buf_addf(&buf, "%d", 123), HE2B_ERR_OVERFLOW);
    assert_int_equal(he2b_buf_add(&buf, "x", SIZE_MAX), HE2B_ERR_OVERFLOW);
    assert_string_equal(he2b_buf_str(&buf), "abc");
    assert_int_equal(he2b_buf_addf(&buf, "%d", 45), HE2B_OK);
    assert_string_equal(he2b_buf_str(&buf), "abc45");
    he2b_buf_free(&buf);
}

static void drains_from_the_front(void **state)
{
    struct he2b_buf buf;

    (void)state;
    he2b_buf_init(&buf, 100);
    he2b_buf_adds(&buf, "hello world");
    he2b_buf_drain(&buf, 6);
    assert_string_equal(he2b_buf_str(&buf), "world");
    he2b_buf_drain(&buf, 50);
    assert_int_equal(buf.len, 0);
    assert_string_equal(he2b_buf_str(&buf), "");
    he2b_buf_free(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_stays_terminated),
        cmocka_unit_test(refuses_above_its_maximum_and_keeps_its_content),
        cmocka_unit_test(drains_from_the_front),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
