#include "e2b/list_query.h"

#include "he2b.h"

#include <string.h>

enum {
    /* Ours are short; guards against a scope text without end. */
    FILTER_MAX = 4096,
};

static int percent(struct he2b_buf *out, const char *text, int times)
{
    struct he2b_buf once;
    int error;

    he2b_buf_init(&once, FILTER_MAX);
    error = he2b_percent(&once, text);
    if (!error)
        error = times > 1 ? percent(out, he2b_buf_str(&once), times - 1)
                          : he2b_buf_add(out, he2b_buf_str(&once), once.len);
    he2b_buf_free(&once);
    return error;
}

int he2b_percent(struct he2b_buf *out, const char *text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    int error = HE2B_OK;

    for (; *text && !error; text++)
        error = strchr(plain, *text) ? he2b_buf_add(out, text, 1)
                                     : he2b_buf_addf(out, "%%%02X", (unsigned char)*text);
    return error;
}

int he2b_list_metadata(struct he2b_buf *out, const struct he2b_list_pair *pairs, size_t count)
{
    struct he2b_buf filter;
    int error = HE2B_OK;
    size_t i;

    he2b_buf_init(&filter, FILTER_MAX);
    for (i = 0; i < count && !error; i++) {
        if (i)
            error = he2b_buf_adds(&filter, "&");
        if (!error)
            error = percent(&filter, pairs[i].key, 2);
        if (!error)
            error = he2b_buf_adds(&filter, "=");
        if (!error)
            error = percent(&filter, pairs[i].value, 2);
    }
    if (!error)
        error = he2b_percent(out, he2b_buf_str(&filter));
    he2b_buf_free(&filter);
    return error;
}
