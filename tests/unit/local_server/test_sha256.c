/* Check values of FIPS 180-4 and RFC 4231. */
#include "local/sha256.h"
#include "tests/unit/unit.h"

#include <stdio.h>

static void expect(const unsigned char hash[SHA256_SIZE], const char *wanted)
{
    char text[2 * SHA256_SIZE + 1];

    for (size_t i = 0; i < SHA256_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", hash[i]);
    assert_string_equal(text, wanted);
}

static void hash_in_pieces(unsigned char out[SHA256_SIZE], const char *text, size_t piece)
{
    struct sha256 hash;
    size_t len = strlen(text);

    sha256_init(&hash);
    for (size_t at = 0; at < len; at += piece)
        sha256_add(&hash, text + at, len - at < piece ? len - at : piece);
    sha256_end(&hash, out);
}

static void test_check_values(void **state)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    unsigned char out[SHA256_SIZE];

    (void)state;
    hash_in_pieces(out, "", 1);
    expect(out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash_in_pieces(out, "abc", 3);
    expect(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    for (size_t piece = 1; piece < sizeof two_blocks; piece++) {
        hash_in_pieces(out, two_blocks, piece);
        expect(out, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }
}

/* The padding's edges: the length just fits into the last block, or needs one more. */
static void test_lengths_around_a_block(void **state)
{
    static const struct {
        size_t len;
        const char *hash;
    } cases[] = {
        {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
        {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
        {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
    };
    unsigned char out[SHA256_SIZE];
    char text[65];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memset(text, 'a', cases[i].len);
        text[cases[i].len] = '\0';
        hash_in_pieces(out, text, 7);
        expect(out, cases[i].hash);
    }
}

static void test_hmac(void **state)
{
    unsigned char out[SHA256_SIZE];

    (void)state;
    sha256_hmac(out, "Jefe", 4, "what do ya want for nothing?", 28);
    expect(out, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_values),
        cmocka_unit_test(test_lengths_around_a_block),
        cmocka_unit_test(test_hmac),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
