/* The end marker: found across any split, everything else untouched (B-40, B-42). */
#include "machines/marker.h"

#include "tests/unit/unit.h"

#include <stdio.h>

#define WORD   "0123456789abcdef"
#define MARKER "\001he2b-" WORD ":"

enum {
    ALL_MAX = 4096,
};

struct passed {
    char bytes[ALL_MAX];
    size_t len;
};

static void pass(void *user, const char *data, size_t len)
{
    struct passed *passed = user;

    assert_true(len > 0);
    assert_true(passed->len + len <= sizeof(passed->bytes));
    memcpy(passed->bytes + passed->len, data, len);
    passed->len += len;
}

/* Feeds text in pieces of size step; returns the code, -1 if there was no marker. */
static int feed(struct passed *passed, const char *text, size_t len, size_t step)
{
    struct he2b_marker marker;
    size_t at;

    passed->len = 0;
    he2b_marker_init(&marker, WORD);
    for (at = 0; at < len; at += step) {
        size_t n = len - at < step ? len - at : step;

        he2b_marker_scan(&marker, text + at, n, pass, passed);
        assert_true(marker.held_len <= HE2B_MARKER_MAX);
    }
    if (!marker.found)
        he2b_marker_flush(&marker, pass, passed);
    return marker.found ? marker.code : -1;
}

static void check(const char *text, size_t len, const char *output, size_t output_len, int code)
{
    struct passed passed;
    size_t step;

    for (step = 1; step <= len; step++) {
        assert_int_equal(feed(&passed, text, len, step), code);
        assert_int_equal(passed.len, output_len);
        assert_memory_equal(passed.bytes, output, output_len);
    }
}

#define CHECK(text, output, code) check(text, sizeof(text) - 1, output, sizeof(output) - 1, code)

static void test_marker_is_removed(void **state)
{
    (void)state;
    CHECK(MARKER "0\002", "", 0);
    CHECK("output\n" MARKER "7\002", "output\n", 7);
    CHECK("no newline" MARKER "137\002", "no newline", 137);
    CHECK("x" MARKER "255\002", "x", 255);
}

static void test_nothing_behind_it_is_output(void **state)
{
    (void)state;
    CHECK("mine" MARKER "3\002a background child's", "mine", 3);
    CHECK(MARKER "3\002" MARKER "4\002", "", 3);
}

static void test_what_only_looks_like_one_passes(void **state)
{
    (void)state;
    CHECK("\001", "\001", -1);
    CHECK("\001\001he2b-", "\001\001he2b-", -1);
    CHECK(MARKER, MARKER, -1);
    CHECK(MARKER "\002", MARKER "\002", -1);
    CHECK(MARKER "1234\002", MARKER "1234\002", -1);
    CHECK(MARKER "-1\002", MARKER "-1\002", -1);
    CHECK("\001he2b-0123456789abcdeF:1\002", "\001he2b-0123456789abcdeF:1\002", -1);
    /* another command's word, as a nested run of this product would print it */
    CHECK("\001he2b-fedcba9876543210:1\002", "\001he2b-fedcba9876543210:1\002", -1);
    CHECK("\001he2b-fedcba9876543210:1\002" MARKER "2\002", "\001he2b-fedcba9876543210:1\002", 2);
}

static void test_beginning_inside_a_beginning(void **state)
{
    (void)state;
    CHECK("\001" MARKER "5\002", "\001", 5);
    CHECK("\001he2b-01" MARKER "5\002", "\001he2b-01", 5);
    CHECK(MARKER "5" MARKER "6\002", MARKER "5", 6);
    CHECK(MARKER MARKER "6\002", MARKER, 6);
}

static void test_every_byte_value_passes(void **state)
{
    char text[256 * 3 + sizeof(MARKER) + 4];
    size_t len = 0;
    int i;

    (void)state;
    for (i = 0; i < 256; i++) {
        text[len++] = (char)i;
        text[len++] = '\001';
        text[len++] = (char)(255 - i);
    }
    i = (int)len;
    len += (size_t)snprintf(text + len, sizeof(text) - len, MARKER "9\002");
    check(text, len, text, (size_t)i, 9);
}

/* One call with many false beginnings takes time in proportion, and holds one marker's length. */
static void test_long_run_of_beginnings(void **state)
{
    struct passed passed;
    char text[ALL_MAX];

    (void)state;
    memset(text, 1, sizeof(text));
    assert_int_equal(feed(&passed, text, sizeof(text), sizeof(text)), -1);
    assert_int_equal(passed.len, sizeof(text));
    assert_memory_equal(passed.bytes, text, sizeof(text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marker_is_removed),
        cmocka_unit_test(test_nothing_behind_it_is_output),
        cmocka_unit_test(test_what_only_looks_like_one_passes),
        cmocka_unit_test(test_beginning_inside_a_beginning),
        cmocka_unit_test(test_every_byte_value_passes),
        cmocka_unit_test(test_long_run_of_beginnings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
