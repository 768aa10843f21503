#include "machines/envelope.h"
#include "tests/unit/unit.h"

/* Feeds data in pieces of size step and writes what was found as text. */
static void scan(char *out, const unsigned char *data, size_t len, size_t step)
{
    struct he2b_envelope envelope;
    size_t at = 0;

    he2b_envelope_init(&envelope);
    *out = '\0';
    while (at < len) {
        size_t end = at + step < len ? at + step : len;

        for (;;) {
            size_t used;
            size_t payload;
            enum he2b_envelope_found found =
                he2b_envelope_scan(&envelope, data + at, end - at, &used, &payload);

            at += used;
            if (found == HE2B_ENVELOPE_MORE)
                break;
            if (found == HE2B_ENVELOPE_BAD) {
                strcat(out, "!");
                return;
            }
            if (found == HE2B_ENVELOPE_BEGIN) {
                char mark[] = {(char)('0' + envelope.flags), ':', '\0'};

                strcat(out, mark);
            } else if (found == HE2B_ENVELOPE_PAYLOAD) {
                strncat(out, (const char *)data + at, payload);
                at += payload;
                he2b_envelope_took(&envelope, payload);
            } else {
                strcat(out, ";");
            }
        }
    }
}

static void any_split_reads_the_same(void **state)
{
    static const unsigned char stream[] = "\0\0\0\0\5hello\0\0\0\0\0\1\0\0\0\1x\2\0\0\0\2{}";
    char out[100];
    size_t step;

    (void)state;
    for (step = 1; step < sizeof(stream); step++) {
        scan(out, stream, sizeof(stream) - 1, step);
        /* The last envelope's end is only noticed when it is asked for once more. */
        assert_memory_equal(out, "0:hello;0:;1:x;2:{}", 19);
    }
}

static void unknown_flags_end_the_stream(void **state)
{
    static const unsigned char stream[] = "\4\0\0\0\1x";
    char out[100];

    (void)state;
    scan(out, stream, sizeof(stream) - 1, 1);
    assert_string_equal(out, "!");
    scan(out, stream, sizeof(stream) - 1, 6);
    assert_string_equal(out, "!");
}

static void length_is_big_endian(void **state)
{
    static const unsigned char prefix[] = {0, 0x81, 0x02, 0x03, 0x04};
    struct he2b_envelope envelope;
    size_t used;
    size_t payload;

    (void)state;
    he2b_envelope_init(&envelope);
    assert_int_equal(he2b_envelope_scan(&envelope, prefix, 5, &used, &payload),
                     HE2B_ENVELOPE_BEGIN);
    assert_int_equal(envelope.length, 0x81020304);
    assert_int_equal(used, 5);
    assert_int_equal(he2b_envelope_scan(&envelope, prefix, 5, &used, &payload),
                     HE2B_ENVELOPE_PAYLOAD);
    assert_int_equal(payload, 5);
    he2b_envelope_took(&envelope, 5);
    assert_int_equal(envelope.missing, 0x81020304 - 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_split_reads_the_same),
        cmocka_unit_test(unknown_flags_end_the_stream),
        cmocka_unit_test(length_is_big_endian),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
