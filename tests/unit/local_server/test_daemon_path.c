/* wire C.6: where a request's path leads */
#include "local/daemon.h"
#include "local/daemon_path.h"
#include "local/daemon_user.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct daemon_user user = {.name = "u", .home = "/home/u"};

static void leads_to(const char *path, const char *expected)
{
    char out[DAEMON_PATH_MAX];

    assert_null(daemon_path(out, path, &user));
    assert_string_equal(out, expected);
}

static void none_is_the_home(void **state)
{
    (void)state;
    leads_to(NULL, "/home/u");
    leads_to("", "/home/u");
    leads_to("~", "/home/u");
    leads_to("~/x", "/home/u/x");
}

static void relative_ones_begin_at_the_home(void **state)
{
    (void)state;
    leads_to("a/b", "/home/u/a/b");
    leads_to("./a//b/", "/home/u/a/b");
    leads_to("../v/x", "/home/v/x");
    leads_to("../../../../x", "/x");
    leads_to("a~", "/home/u/a~");
    leads_to("..a/...", "/home/u/..a/...");
}

static void absolute_ones_stay(void **state)
{
    (void)state;
    leads_to("/", "/");
    leads_to("/etc/x y", "/etc/x y");
    leads_to("/a/link/../b/", "/a/link/../b/");
}

static void what_cannot_be_is_refused(void **state)
{
    char long_path[DAEMON_PATH_MAX + 10];
    char out[DAEMON_PATH_MAX];

    (void)state;
    assert_non_null(daemon_path(out, "~root/x", &user));
    memset(long_path, 'a', sizeof(long_path));
    long_path[sizeof(long_path) - 1] = '\0';
    assert_non_null(daemon_path(out, long_path, &user));
}

static void parents_are_made_and_a_file_among_them_is_told(void **state)
{
    char folder[] = "/tmp/he2b-path-XXXXXX";
    struct daemon_user me = {.uid = geteuid(), .gid = getegid()};
    struct stat info;
    char path[64];
    FILE *file;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/a/b/c", folder);
    assert_int_equal(daemon_path_make(path, false, &me), 0);
    assert_int_equal(daemon_path_make(path, false, &me), 0);
    assert_int_not_equal(stat(path, &info), 0);
    file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    snprintf(path, sizeof(path), "%s/a/b/c/d", folder);
    assert_int_equal(daemon_path_make(path, false, &me), ENOTDIR);
    snprintf(path, sizeof(path), "%s/a/b/c", folder);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof(path), "%s/a/b", folder);
    assert_int_equal(rmdir(path), 0);
    snprintf(path, sizeof(path), "%s/a", folder);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void names_are_what_stands_last(void **state)
{
    (void)state;
    assert_string_equal(daemon_path_name("/"), "/");
    assert_string_equal(daemon_path_name("/a"), "a");
    assert_string_equal(daemon_path_name("/a/bc"), "bc");
    assert_string_equal(daemon_path_name("/a/bc//"), "bc//");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_is_the_home),
        cmocka_unit_test(relative_ones_begin_at_the_home),
        cmocka_unit_test(absolute_ones_stay),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(names_are_what_stands_last),
        cmocka_unit_test(parents_are_made_and_a_file_among_them_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
