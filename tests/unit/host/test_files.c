/* B-12 and the constants: the names that are shared with the Python plugin. */
#include "he2b.h"
#include "host/files.h"
#include "tests/unit/unit.h"

static void test_names(void **state)
{
    struct he2b_host_files files;

    (void)state;
    assert_int_equal(he2b_host_files(&files, "/home/u/.hermes", "32c2fbc13a928d31de575b952ea485f4"),
                     HE2B_OK);
    assert_string_equal(files.creation_lock,
                        "/home/u/.hermes/cache/e2b/32c2fbc13a928d31de575b952ea485f4.lock");
    assert_string_equal(files.writer_lock,
                        "/home/u/.hermes/cache/e2b/32c2fbc13a928d31de575b952ea485f4.writer.lock");
    assert_string_equal(files.marker,
                        "/home/u/.hermes/cache/e2b/32c2fbc13a928d31de575b952ea485f4.state-dirty");
}

static void test_no_scope_leads_out(void **state)
{
    struct he2b_host_files files;

    (void)state;
    assert_int_equal(he2b_host_files(&files, "/h", "../../../tmp/x"), HE2B_OK);
    assert_null(strstr(files.creation_lock, ".."));
    assert_int_equal(strncmp(files.marker, "/h/cache/e2b/", 13), 0);
    assert_int_equal(strspn(files.marker + 13, "0123456789abcdef"), 64);
    assert_string_equal(files.marker + 13 + 64, ".state-dirty");
}

static void test_homes_that_are_none(void **state)
{
    static const struct he2b_host_files before;
    struct he2b_host_files files = before;
    char home[HE2B_HOST_PATH_MAX + 1];

    (void)state;
    assert_int_equal(he2b_host_files(&files, "", "01234567"), HE2B_ERR_SETTING);
    assert_int_equal(he2b_host_files(&files, "home/u", "01234567"), HE2B_ERR_SETTING);
    memset(home, '/', sizeof(home) - 1);
    home[sizeof(home) - 1] = '\0';
    assert_int_equal(he2b_host_files(&files, home, "01234567"), HE2B_ERR_SETTING);
    assert_memory_equal(&files, &before, sizeof(files));
}

/* The longest home that is taken gives whole names. */
static void test_longest_home(void **state)
{
    struct he2b_host_files files;
    char home[HE2B_HOST_PATH_MAX + 1];
    size_t len;

    (void)state;
    memset(home, 'h', sizeof(home));
    home[0] = '/';
    for (len = HE2B_HOST_PATH_MAX; len > 0; len--) {
        home[len] = '\0';
        if (he2b_host_files(&files, home, "not hex") == HE2B_OK)
            break;
    }
    assert_int_equal(len,
                     HE2B_HOST_PATH_MAX - 1 - strlen("/cache/e2b/") - 64 - strlen(".writer.lock"));
    assert_int_equal(strlen(files.writer_lock), HE2B_HOST_PATH_MAX - 1);
    assert_string_equal(files.writer_lock + HE2B_HOST_PATH_MAX - 1 - 12, ".writer.lock");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_no_scope_leads_out),
        cmocka_unit_test(test_homes_that_are_none),
        cmocka_unit_test(test_longest_home),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
