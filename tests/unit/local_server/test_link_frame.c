#include "local/link_frame.h"
#include "tests/unit/unit.h"

#include <event2/buffer.h>
#include <stdlib.h>

static void a_frame_is_found_when_its_last_byte_is_there(void **state)
{
    static const char bytes[] = "B\0\0\0\3abc";
    struct evbuffer *in = evbuffer_new();
    struct link_view view;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bytes) - 1; i++) {
        assert_int_equal(link_first(in, &view), 0);
        evbuffer_add(in, bytes + i, 1);
    }
    assert_int_equal(link_first(in, &view), 1);
    assert_int_equal(view.type, LINK_BODY);
    assert_int_equal(view.len, 3);
    assert_memory_equal(view.data, "abc", 3);
    link_drop(in, &view);
    assert_int_equal(link_first(in, &view), 0);
    evbuffer_free(in);
}

static void what_is_put_is_found_again_in_order(void **state)
{
    struct evbuffer *buffer = evbuffer_new();
    struct link_view view;

    (void)state;
    assert_int_equal(link_put(buffer, LINK_HEAD, "{}", 2), 0);
    assert_int_equal(link_put(buffer, LINK_BODY, "x", 1), 0);
    assert_int_equal(link_put(buffer, LINK_END, NULL, 0), 0);
    assert_int_equal(link_first(buffer, &view), 1);
    assert_int_equal(view.type, LINK_HEAD);
    link_drop(buffer, &view);
    assert_int_equal(link_first(buffer, &view), 1);
    assert_int_equal(view.type, LINK_BODY);
    link_drop(buffer, &view);
    assert_int_equal(link_first(buffer, &view), 1);
    assert_int_equal(view.type, LINK_END);
    assert_int_equal(view.len, 0);
    link_drop(buffer, &view);
    assert_int_equal(evbuffer_get_length(buffer), 0);
    evbuffer_free(buffer);
}

static void a_large_body_becomes_frames_of_the_largest_size(void **state)
{
    size_t size = 2 * LINK_FRAME_MAX + 7;
    struct evbuffer *buffer = evbuffer_new();
    char *body = malloc(size);
    struct link_view view;
    size_t frames = 0;
    size_t got = 0;

    (void)state;
    assert_non_null(body);
    memset(body, 'q', size);
    assert_int_equal(link_put(buffer, LINK_BODY, body, size), 0);
    while (link_first(buffer, &view) == 1) {
        assert_true(view.len <= LINK_FRAME_MAX);
        got += view.len;
        frames++;
        link_drop(buffer, &view);
    }
    assert_int_equal(got, size);
    assert_int_equal(frames, 3);
    /* an empty body is no frame at all */
    assert_int_equal(link_put(buffer, LINK_BODY, NULL, 0), 0);
    assert_int_equal(evbuffer_get_length(buffer), 0);
    free(body);
    evbuffer_free(buffer);
}

static void a_frame_that_is_too_long_is_an_error_at_once(void **state)
{
    static const unsigned char prefix[] = {'B', 0, 1, 0, 1};
    struct evbuffer *in = evbuffer_new();
    struct link_view view;

    (void)state;
    evbuffer_add(in, prefix, sizeof(prefix));
    assert_int_equal(link_first(in, &view), -1);
    evbuffer_free(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_is_found_when_its_last_byte_is_there),
        cmocka_unit_test(what_is_put_is_found_again_in_order),
        cmocka_unit_test(a_large_body_becomes_frames_of_the_largest_size),
        cmocka_unit_test(a_frame_that_is_too_long_is_an_error_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
