/* B-67: the marker of a scope whose sandbox is being rebuilt or known to be stale. */
#include "host/marker.h"
#include "tests/unit/host/box.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void content_is(const char *path, const char *reason)
{
    char expected[1024];
    char text[1024];

    box_read(path, text);
    snprintf(expected, sizeof(expected), "%s\npid=%ld\n", reason, (long)getpid());
    assert_string_equal(text, expected);
}

static bool clean(const struct box *box)
{
    int error = -1;

    return !he2b_marker_dirty(box->files.marker, &error) && error == 0;
}

static void test_set_and_clear(void **state)
{
    struct box *box = *state;
    int error = -1;

    assert_true(clean(box));
    assert_int_equal(he2b_marker_set(box->files.marker, "taking over"), 0);
    content_is(box->files.marker, "taking over");
    assert_true(he2b_marker_dirty(box->files.marker, &error));
    assert_int_equal(error, 0);
    assert_int_equal(he2b_marker_clear(box->files.marker), 0);
    assert_true(clean(box));
    assert_int_equal(box_entries(box), 0);
}

static void test_modes(void **state)
{
    struct box *box = *state;
    struct stat st;

    assert_int_equal(he2b_marker_set(box->files.marker, "x"), 0);
    assert_int_equal(stat(box->files.marker, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(stat(box->folder, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
}

static void test_clearing_is_idempotent(void **state)
{
    struct box *box = *state;

    /* no folder, then no file */
    assert_int_equal(he2b_marker_clear(box->files.marker), 0);
    box_make_folder(box, 0700);
    assert_int_equal(he2b_marker_clear(box->files.marker), 0);
    assert_int_equal(he2b_marker_clear(box->files.marker), 0);
    assert_true(clean(box));
}

/* The second line stays the pid, whatever the reason holds. */
static void test_reason_is_one_line(void **state)
{
    struct box *box = *state;
    char reason[2000];
    char text[1024];

    assert_int_equal(he2b_marker_set(box->files.marker, "push failed\npid=1\n\x1b[2J"), 0);
    content_is(box->files.marker, "push failed pid=1 \\x1B[2J");
    memset(reason, 'r', sizeof(reason) - 1);
    reason[sizeof(reason) - 1] = '\0';
    assert_int_equal(he2b_marker_set(box->files.marker, reason), 0);
    box_read(box->files.marker, text);
    assert_non_null(strstr(text, "r...\npid="));
}

/* Whoever has the old one open reads the old one to its end: it is replaced, not written over. */
static void test_replaced_at_once(void **state)
{
    struct box *box = *state;
    char text[64];
    int fd;

    assert_int_equal(he2b_marker_set(box->files.marker, "first"), 0);
    fd = open(box->files.marker, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(he2b_marker_set(box->files.marker, "second"), 0);
    content_is(box->files.marker, "second");
    assert_true(read(fd, text, sizeof(text)) > 6);
    assert_memory_equal(text, "first\n", 6);
    close(fd);
    assert_int_equal(box_entries(box), 1);
}

static int write_without_room(struct box *box, int in, int out)
{
    const struct rlimit none = {.rlim_cur = 4, .rlim_max = 4};

    (void)in;
    (void)out;
    signal(SIGXFSZ, SIG_IGN);
    BOX_CHECK(setrlimit(RLIMIT_FSIZE, &none) == 0);
    BOX_CHECK(he2b_marker_set(box->files.marker, "second") == EFBIG);
    return 0;
}

static void test_whole_or_not_at_all(void **state)
{
    struct box *box = *state;
    struct box_child child;

    assert_int_equal(he2b_marker_set(box->files.marker, "first"), 0);
    box_start(&child, box, write_without_room, false);
    assert_int_equal(box_end(&child), 0);
    content_is(box->files.marker, "first");
    assert_int_equal(box_entries(box), 1);
}

static void test_something_in_its_place(void **state)
{
    struct box *box = *state;
    int error = -1;

    box_make_folder(box, 0700);
    assert_int_equal(mkdir(box->files.marker, 0700), 0);
    assert_int_equal(he2b_marker_set(box->files.marker, "x"), EISDIR);
    assert_int_equal(box_entries(box), 1);
    assert_true(he2b_marker_dirty(box->files.marker, &error));
    assert_int_not_equal(he2b_marker_clear(box->files.marker), 0);
}

/* B-12: a link is replaced or removed, what it names is left alone. */
static void test_links_are_not_followed(void **state)
{
    struct box *box = *state;
    char victim[128];
    char text[1024];
    struct stat st;
    int error = -1;

    box_make_folder(box, 0700);
    snprintf(victim, sizeof(victim), "%s/victim", box->home);
    box_write(victim, "mine", 0600);
    assert_int_equal(symlink(victim, box->files.marker), 0);
    assert_int_equal(he2b_marker_set(box->files.marker, "x"), 0);
    assert_int_equal(lstat(box->files.marker, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    content_is(box->files.marker, "x");

    assert_int_equal(he2b_marker_clear(box->files.marker), 0);
    assert_int_equal(symlink("/nowhere/at/all", box->files.marker), 0);
    assert_true(he2b_marker_dirty(box->files.marker, &error));
    assert_int_equal(error, 0);
    assert_int_equal(he2b_marker_clear(box->files.marker), 0);
    assert_int_equal(symlink(victim, box->files.marker), 0);
    assert_int_equal(he2b_marker_clear(box->files.marker), 0);
    assert_true(clean(box));
    box_read(victim, text);
    assert_string_equal(text, "mine");
}

static int look_where_nothing_can_be_seen(struct box *box, int in, int out)
{
    int error = 0;

    (void)in;
    (void)out;
    BOX_CHECK(he2b_marker_dirty(box->files.marker, &error));
    BOX_CHECK(error == EACCES);
    BOX_CHECK(he2b_marker_set(box->files.marker, "x") == EACCES);
    return 0;
}

static void test_unreadable_counts_as_dirty(void **state)
{
    struct box *box = *state;

    box_make_folder(box, 0000);
    box_as_normal_user(box, look_where_nothing_can_be_seen);
}

static int write_where_nothing_can_be_written(struct box *box, int in, int out)
{
    int error = 0;

    (void)in;
    (void)out;
    BOX_CHECK(he2b_marker_set(box->files.marker, "x") == EACCES);
    BOX_CHECK(he2b_marker_clear(box->files.marker) == EACCES);
    BOX_CHECK(he2b_marker_dirty(box->files.marker, &error));
    BOX_CHECK(error == 0);
    return 0;
}

static void test_unwritable_folder(void **state)
{
    struct box *box = *state;

    assert_int_equal(he2b_marker_set(box->files.marker, "x"), 0);
    assert_int_equal(chmod(box->folder, 0555), 0);
    box_as_normal_user(box, write_where_nothing_can_be_written);
}

static void test_no_folder_can_be_there(void **state)
{
    struct box *box = *state;
    char cache[96];
    int error = 0;

    snprintf(cache, sizeof(cache), "%s/cache", box->home);
    box_write(cache, "a file", 0600);
    assert_true(he2b_marker_dirty(box->files.marker, &error));
    assert_int_equal(error, ENOTDIR);
    assert_int_equal(he2b_marker_set(box->files.marker, "x"), ENOTDIR);
}

/* The home is the user's: a wrong one is not made. */
static void test_home_is_not_made(void **state)
{
    struct box *box = *state;
    int error = -1;

    assert_int_equal(rmdir(box->home), 0);
    assert_int_equal(he2b_marker_set(box->files.marker, "x"), ENOENT);
    assert_false(he2b_marker_dirty(box->files.marker, &error));
    assert_int_equal(error, 0);
    assert_int_equal(mkdir(box->home, 0700), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_set_and_clear, box_make, box_drop),
        cmocka_unit_test_setup_teardown(test_modes, box_make, box_drop),
        cmocka_unit_test_setup_teardown(test_clearing_is_idempotent, box_make, box_drop),
        cmocka_unit_test_setup_teardown(test_reason_is_one_line, box_make, box_drop),
        cmocka_unit_test_setup_teardown(test_replaced_at_once, box_make, box_drop),
        cmocka_unit_test_setup_teardown(test_whole_or_not_at_all, box_make, box_drop),
        cmocka_unit_test_setup_teardown(test_something_in_its_place, box_make, box_drop),
        cmocka_unit_test_setup_teardown(test_links_are_not_followed, box_make, box_drop),
        cmocka_unit_test_setup_teardown(test_unreadable_counts_as_dirty, box_make, box_drop),
        cmocka_unit_test_setup_teardown(test_unwritable_folder, box_make, box_drop),
        cmocka_unit_test_setup_teardown(test_no_folder_can_be_there, box_make, box_drop),
        cmocka_unit_test_setup_teardown(test_home_is_not_made, box_make, box_drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
