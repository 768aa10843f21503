#include "core/sha256.h"
#include "tests/unit/unit.h"

static void is(const char *text, size_t len, const char *expected)
{
    uint8_t sum[HE2B_SHA256_SIZE];
    char hex[HE2B_SHA256_HEX_MAX];
    struct he2b_sha256 hash;
    size_t i;

    he2b_sha256_of(text, len, sum);
    he2b_sha256_hex(hex, sum);
    assert_string_equal(hex, expected);
    he2b_sha256_init(&hash);
    for (i = 0; i < len; i++)
        he2b_sha256_add(&hash, text + i, 1);
    he2b_sha256_add(&hash, NULL, 0);
    he2b_sha256_end(&hash, sum);
    he2b_sha256_hex(hex, sum);
    assert_string_equal(hex, expected);
}

/* FIPS 180-2, appendix B, and the empty text. */
static void test_known(void **state)
{
    (void)state;
    is("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    is("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
