#include "cli/safe.h"

#include "cli/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool unsafe(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || c == 0x61c ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

size_t safe_text(char *out, size_t size, const char *text)
{
    size_t used = 0;
    size_t count = 0;

    while (*text) {
        char piece[24];
        uint32_t c = 0;
        size_t n = utf8_next(text, &c);
        size_t len = 0;
        size_t i;

        if (n && !unsafe(c)) {
            memcpy(piece, text, n);
            len = n;
            count++;
        } else {
            for (i = 0; i < (n ? n : 1); i++)
                len += (size_t)snprintf(piece + len, sizeof(piece) - len, "\\x%02X",
                                        (unsigned char)text[i]);
            count += len;
        }
        if (used + len + 1 > size)
            break;
        memcpy(out + used, piece, len);
        used += len;
        text += n ? n : 1;
    }
    out[used] = '\0';
    return count;
}
