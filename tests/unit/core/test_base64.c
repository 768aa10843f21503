#include "core/base64.h"
#include "he2b.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static void every_length_comes_back(void **state)
{
    unsigned char in[300];
    unsigned char out[400];
    char text[500];
    size_t len;
    size_t i;
    size_t got;

    (void)state;
    for (i = 0; i < sizeof(in); i++)
        in[i] = (unsigned char)(i * 37 + 11);
    for (len = 0; len < sizeof(in); len++) {
        he2b_base64_encode(text, in, len);
        assert_int_equal(strlen(text), he2b_base64_encoded_size(len));
        assert_int_equal(he2b_base64_decode(out, &got, text, strlen(text)), HE2B_OK);
        assert_int_equal(got, len);
        assert_memory_equal(out, in, len);
        /* in place, and without padding (FB-19) */
        assert_int_equal(he2b_base64_decode(text, &got, text, strcspn(text, "=")), HE2B_OK);
        assert_memory_equal(text, in, len);
    }
}

static void known_values(void **state)
{
    char out[16];
    size_t got;

    (void)state;
    assert_int_equal(he2b_base64_decode(out, &got, "aGkK", 4), HE2B_OK);
    assert_memory_equal(out, "hi\n", 3);
    assert_int_equal(he2b_base64_decode(out, &got, "-_-_", 4), HE2B_OK);
    assert_memory_equal(out, "\xfb\xff\xbf", 3);
    assert_int_equal(he2b_base64_decode(out, &got, "+/+/", 4), HE2B_OK);
    assert_memory_equal(out, "\xfb\xff\xbf", 3);
}

/* FB-19: an error, not silent garbage. */
static void broken_text_is_an_error(void **state)
{
    static const char *const broken[] = {"a",    "abc=d", "ab\ncd",    "ab=c",
                                         "====", "a===",  "\xc3\xa9zz"};
    char out[16];
    size_t got = 77;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        assert_int_equal(he2b_base64_decode(out, &got, broken[i], strlen(broken[i])),
                         HE2B_ERR_PROTOCOL);
        assert_int_equal(got, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_comes_back),
        cmocka_unit_test(known_values),
        cmocka_unit_test(broken_text_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
