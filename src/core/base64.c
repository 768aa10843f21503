#include "core/base64.h"

#include "he2b.h"

#include <stdint.h>

size_t he2b_base64_encoded_size(size_t n)
{
    return (n + 2) / 3 * 4;
}

void he2b_base64_encode(char *out, const void *data, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = data;

    while (len >= 3) {
        *out++ = digits[in[0] >> 2];
        *out++ = digits[(in[0] & 3) << 4 | in[1] >> 4];
        *out++ = digits[(in[1] & 15) << 2 | in[2] >> 6];
        *out++ = digits[in[2] & 63];
        in += 3;
        len -= 3;
    }
    if (len) {
        *out++ = digits[in[0] >> 2];
        if (len == 1) {
            *out++ = digits[(in[0] & 3) << 4];
            *out++ = '=';
        } else {
            *out++ = digits[(in[0] & 3) << 4 | in[1] >> 4];
            *out++ = digits[(in[1] & 15) << 2];
        }
        *out++ = '=';
    }
    *out = '\0';
}

/* 64 for what is no digit: a table, since 64 MiB of output pass through here. */
static const unsigned char digit_values[256] = {
#define X 64
    X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,
    X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  62, X,  62, X,  63,
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, X,  X,  X,  X,  X,  X,  X,  0,  1,  2,  3,  4,  5,  6,
    7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, X,  X,  X,  X,  63,
    X,  26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48,
    49, 50, 51, X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,
    X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,
    X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,
    X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,
    X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,
    X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,
#undef X
};

int he2b_base64_decode(void *out, size_t *ret_len, const char *text, size_t len)
{
    const unsigned char *in = (const unsigned char *)text;
    unsigned char *o = out;
    uint32_t bits = 0;
    size_t i;
    size_t rest;

    if (len && in[len - 1] == '=' && len % 4 == 0) {
        len--;
        if (in[len - 1] == '=')
            len--;
    }
    rest = len % 4;
    if (rest == 1)
        return HE2B_ERR_PROTOCOL;
    for (i = 0; i + 4 <= len; i += 4) {
        unsigned char a = digit_values[in[i]];
        unsigned char b = digit_values[in[i + 1]];
        unsigned char c = digit_values[in[i + 2]];
        unsigned char d = digit_values[in[i + 3]];

        if ((a | b | c | d) & 64)
            return HE2B_ERR_PROTOCOL;
        *o++ = (unsigned char)(a << 2 | b >> 4);
        *o++ = (unsigned char)(b << 4 | c >> 2);
        *o++ = (unsigned char)(c << 6 | d);
    }
    for (; i < len; i++) {
        if (digit_values[in[i]] & 64)
            return HE2B_ERR_PROTOCOL;
        bits = bits << 6 | digit_values[in[i]];
    }
    if (rest == 2) {
        *o++ = (unsigned char)(bits >> 4);
    } else if (rest == 3) {
        *o++ = (unsigned char)(bits >> 10);
        *o++ = (unsigned char)(bits >> 2);
    }
    *ret_len = (size_t)(o - (unsigned char *)out);
    return HE2B_OK;
}
