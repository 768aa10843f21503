#include "cli/utf8.h"

size_t utf8_next(const char *text, uint32_t *ret)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *in = (const unsigned char *)text;
    size_t size;
    size_t i;

    size = in[0] < 0x80 ? 1 : in[0] < 0xc2 ? 0 : in[0] < 0xe0 ? 2 : in[0] < 0xf0 ? 3 : 4;
    if (size == 0 || in[0] > 0xf4)
        return 0;
    *ret = size == 1 ? in[0] : in[0] & (0x7fu >> size);
    for (i = 1; i < size; i++) {
        /* the NUL at the end is no continuation either */
        if ((in[i] & 0xc0) != 0x80)
            return 0;
        *ret = *ret << 6 | (in[i] & 0x3fu);
    }
    if (*ret < least[size] || *ret > 0x10ffff || (*ret >= 0xd800 && *ret < 0xe000))
        return 0;
    return size;
}
