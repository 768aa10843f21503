/* wire D.3: parts of an upload, in any pieces */
#include "local/daemon_multipart.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

struct seen {
    char text[1024]; /* name|filename|data; for each part */
    size_t longest;  /* filename */
};

static void on_part(void *user, const char *name, const char *filename)
{
    struct seen *seen = user;
    size_t used = strlen(seen->text);

    if (strlen(filename) > seen->longest)
        seen->longest = strlen(filename);
    snprintf(seen->text + used, sizeof(seen->text) - used, "%s|%s|", name, filename);
}

static void on_data(void *user, const char *data, size_t len)
{
    struct seen *seen = user;
    size_t used = strlen(seen->text);

    snprintf(seen->text + used, sizeof(seen->text) - used, "%.*s", (int)len, data);
}

static void on_part_end(void *user)
{
    struct seen *seen = user;
    size_t used = strlen(seen->text);

    snprintf(seen->text + used, sizeof(seen->text) - used, ";");
}

static const struct multipart_events events = {on_part, on_data, on_part_end};

/* The body in pieces of this size; whether its end was seen. */
static bool read_body(struct seen *seen, const char *type, const char *body, size_t piece)
{
    struct multipart multipart;
    size_t len = strlen(body);
    bool complete;
    size_t at;

    memset(seen, 0, sizeof(*seen));
    assert_true(multipart_init(&multipart, type, &events, seen));
    for (at = 0; at < len; at += piece)
        multipart_feed(&multipart, body + at, len - at < piece ? len - at : piece);
    complete = multipart_complete(&multipart);
    multipart_done(&multipart);
    return complete;
}

static const char type[] = "multipart/form-data; boundary=XX";

static void parts_come_whole_in_any_pieces(void **state)
{
    static const char body[] =
        "preamble\r\n--XX\r\n"
        "Content-Disposition: form-data; name=\"file\"; filename=\"/a/1\"\r\n"
        "Content-Type: text/plain\r\n\r\n"
        "one\r\n--X\r\n-\r\r\n--XX\r\n"
        "content-disposition: form-data; name=file; filename=two\r\n\r\n"
        "\r\n--XX--\r\nepilogue\r\n--XX\r\n";
    struct seen seen;
    size_t piece;

    (void)state;
    for (piece = 1; piece <= sizeof(body); piece++) {
        assert_true(read_body(&seen, type, body, piece));
        assert_string_equal(seen.text, "file|/a/1|one\r\n--X\r\n-\r;file|two|;");
    }
}

static void names_are_taken_whole(void **state)
{
    struct seen seen;

    (void)state;
    assert_true(read_body(&seen, "multipart/form-data; charset=x; boundary=\"XX\"",
                          "--XX\r\nContent-Disposition: form-data; name=\"file\"; "
                          "filename=\"a;b\\\"c%22\\\\d\"\r\n\r\nx\r\n--XX--",
                          1000));
    assert_string_equal(seen.text, "file|a;b\"c%22\\d|x;");
}

static void names_in_the_extended_form(void **state)
{
    struct seen seen;

    (void)state;
    assert_true(read_body(&seen, type,
                          "--XX\r\nContent-Disposition: form-data; name=\"file\"; "
                          "filename=\"no\"; filename*=UTF-8''%C3%A9%20b\r\n\r\nx\r\n--XX--",
                          1000));
    assert_string_equal(seen.text, "file|\xc3\xa9 b|x;");
}

static void what_only_begins_like_a_delimiter_is_data(void **state)
{
    static const char body[] = "--XX\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n"
                               "a\r\n--XXY\r\n--XX  \r\nA: b\r\n\r\nc\r\n--XX--";
    struct seen seen;
    size_t piece;

    (void)state;
    for (piece = 1; piece <= sizeof(body); piece++) {
        assert_true(read_body(&seen, type, body, piece));
        assert_string_equal(seen.text, "file||a\r\n--XXY;||c;");
    }
}

/* A filename that was cut would be another file. */
static void a_long_name_is_never_cut(void **state)
{
    enum {
        LONG = MULTIPART_NAME_MAX - 1,
    };
    static const char end[] = "\"\r\n\r\nx\r\n--XX--";
    char *body = calloc(1, LONG + 200);
    struct seen seen;
    int n;

    (void)state;
    assert_non_null(body);
    n = sprintf(body, "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"");
    memset(body + n, 'n', LONG);
    memcpy(body + n + LONG, end, sizeof(end));
    assert_true(read_body(&seen, type, body, 700));
    assert_int_equal(seen.longest, LONG);
    /* one byte more is none that a file could have */
    memset(body + n, 'n', LONG + 1);
    memcpy(body + n + LONG + 1, end, sizeof(end));
    assert_false(read_body(&seen, type, body, 700));
    assert_string_equal(seen.text, "");
    free(body);
}

static void what_has_no_end_is_not_complete(void **state)
{
    struct seen seen;

    (void)state;
    assert_false(read_body(&seen, type, "", 1));
    assert_false(read_body(&seen, type, "--XX\r\nA: b\r\n\r\nx\r\n--XX", 3));
    assert_false(read_body(&seen, type, "--XX\r\nA: b\r\n\r\nx\r\n--YY--", 3));
}

static void a_head_without_end_is_given_up(void **state)
{
    char *body = calloc(1, 2 * MULTIPART_HEAD_MAX + 200);
    struct seen seen;
    int n;

    (void)state;
    assert_non_null(body);
    n = sprintf(body, "--XX\r\nA: ");
    memset(body + n, 'a', 2 * MULTIPART_HEAD_MAX);
    sprintf(body + n + 2 * MULTIPART_HEAD_MAX, "\r\n\r\nx\r\n--XX--");
    assert_false(read_body(&seen, type, body, 1000));
    assert_false(read_body(&seen, type, body, 60000));
    assert_string_equal(seen.text, "");
    free(body);
}

static void a_type_without_boundary_is_refused(void **state)
{
    struct multipart multipart;

    (void)state;
    assert_false(multipart_init(&multipart, "multipart/form-data", &events, NULL));
    assert_false(multipart_init(&multipart, "multipart/form-data; boundary=", &events, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_come_whole_in_any_pieces),
        cmocka_unit_test(names_are_taken_whole),
        cmocka_unit_test(names_in_the_extended_form),
        cmocka_unit_test(what_only_begins_like_a_delimiter_is_data),
        cmocka_unit_test(a_long_name_is_never_cut),
        cmocka_unit_test(what_has_no_end_is_not_complete),
        cmocka_unit_test(a_head_without_end_is_given_up),
        cmocka_unit_test(a_type_without_boundary_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
