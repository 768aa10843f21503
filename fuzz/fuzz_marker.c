/* The end-marker scanner: any split gives the same output and the same end, and nothing is
 * invented. */
#include "machines/marker.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char word[] = "0123456789abcdef";

struct out {
    char *data;
    size_t len;
    size_t room;
};

static void pass(void *user, const char *data, size_t len)
{
    struct out *out = user;

    if (len > out->room - out->len)
        abort();
    memcpy(out->data + out->len, data, len);
    out->len += len;
}

static void scan(struct out *out, int *ret_code, const char *data, size_t size, size_t step)
{
    struct he2b_marker marker;
    size_t at;
    bool found = false;

    out->data = malloc(size + 1);
    out->len = 0;
    out->room = size;
    if (!out->data)
        abort();
    he2b_marker_init(&marker, word);
    for (at = 0; at < size && !found; at += step) {
        size_t len = size - at < step ? size - at : step;
        char *piece = malloc(len);

        if (!piece)
            abort();
        memcpy(piece, data + at, len);
        found = he2b_marker_scan(&marker, piece, len, pass, out);
        free(piece);
    }
    if (!found)
        he2b_marker_flush(&marker, pass, out);
    *ret_code = found ? marker.code : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct out whole;
    struct out split;
    int whole_code;
    int split_code;

    scan(&whole, &whole_code, (const char *)data, size, size ? size : 1);
    scan(&split, &split_code, (const char *)data, size, size ? (size_t)data[0] % 5 + 1 : 1);
    if (whole_code != split_code || whole.len != split.len ||
        memcmp(whole.data, split.data, whole.len) != 0)
        abort();
    /* without a marker every byte passed; before one, all that stood before it */
    if (whole_code < 0 && (whole.len != size || memcmp(whole.data, data, size) != 0))
        abort();
    if (whole_code >= 0 && memcmp(whole.data, data, whole.len) != 0)
        abort();
    free(whole.data);
    free(split.data);
    return 0;
}
