#include "core/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the character at text, 0 if it is no valid UTF-8; its code point in *ret. */
static size_t utf8_char(const unsigned char *text, size_t len, uint32_t *ret)
{
    uint32_t least;
    size_t size;
    size_t i;

    if (text[0] < 0x80) {
        *ret = text[0];
        return 1;
    }
    if (text[0] >= 0xc2 && text[0] < 0xe0) {
        size = 2;
        least = 0x80;
        *ret = text[0] & 0x1fu;
    } else if (text[0] >= 0xe0 && text[0] < 0xf0) {
        size = 3;
        least = 0x800;
        *ret = text[0] & 0x0fu;
    } else if (text[0] >= 0xf0 && text[0] < 0xf5) {
        size = 4;
        least = 0x10000;
        *ret = text[0] & 0x07u;
    } else {
        return 0;
    }
    if (size > len)
        return 0;
    for (i = 1; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *ret = *ret << 6 | (text[i] & 0x3fu);
    }
    if (*ret < least || *ret > 0x10ffff || (*ret >= 0xd800 && *ret < 0xe000))
        return 0;
    return size;
}

bool he2b_text_is_utf8(const char *text, size_t len)
{
    const unsigned char *in = (const unsigned char *)text;
    uint32_t c;
    size_t i = 0;

    while (i < len) {
        size_t n = utf8_char(in + i, len - i, &c);

        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

/* Characters that could drive a terminal, forge a line or turn the reading direction around. */
static bool unsafe(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || c == 0x61c ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

size_t he2b_text_line(char *out, size_t size, const char *text, size_t len)
{
    static const char dots[] = "...";
    const unsigned char *in = (const unsigned char *)text;
    size_t limit = size - sizeof(dots);
    size_t cut = 0;
    size_t used = 0;
    bool space = false;
    size_t i = 0;

    while (i < len) {
        char piece[24];
        uint32_t c = 0;
        size_t n = utf8_char(in + i, len - i, &c);
        size_t piece_len = 0;

        if (n == 1 && (c == '\n' || c == '\r' || c == ' ' || c == '\t')) {
            space = used > 0;
            i++;
            continue;
        }
        if (space)
            piece[piece_len++] = ' ';
        if (n == 0 || unsafe(c)) {
            size_t j;

            for (j = 0; j < (n ? n : 1); j++)
                piece_len += (size_t)snprintf(piece + piece_len, sizeof(piece) - piece_len,
                                              "\\x%02X", in[i + j]);
            i += n ? n : 1;
        } else {
            memcpy(piece + piece_len, in + i, n);
            piece_len += n;
            i += n;
        }
        if (used + piece_len > size - 1) {
            memcpy(out + cut, dots, sizeof(dots));
            return cut + sizeof(dots) - 1;
        }
        memcpy(out + used, piece, piece_len);
        used += piece_len;
        space = false;
        if (used <= limit)
            cut = used;
    }
    out[used] = '\0';
    return used;
}

size_t he2b_text_utf8(char *out, size_t size, const char *text, size_t len)
{
    static const char replacement[] = "\xef\xbf\xbd";
    size_t used = 0;
    size_t i = 0;

    while (i < len) {
        uint32_t c = 0;
        size_t n = utf8_char((const unsigned char *)text + i, len - i, &c);
        const char *from = n ? text + i : replacement;
        size_t add = n ? n : sizeof(replacement) - 1;

        if (used + add > size - 1)
            break;
        memcpy(out + used, from, add);
        used += add;
        i += n ? n : 1;
    }
    out[used] = '\0';
    return used;
}
