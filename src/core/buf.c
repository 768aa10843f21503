#include "core/buf.h"

#include "core/wipe.h"
#include "he2b.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Most first appends are a line or a header; grows by doubling from here. */
    BUF_FIRST = 256,
};

void he2b_buf_init(struct he2b_buf *buf, size_t max)
{
    memset(buf, 0, sizeof(*buf));
    buf->max = max;
}

int he2b_buf_reserve(struct he2b_buf *buf, size_t len)
{
    size_t cap = buf->cap ? buf->cap : BUF_FIRST;
    char *data;

    if (len > buf->max || buf->len > buf->max - len)
        return HE2B_ERR_OVERFLOW;
    if (buf->len + len < buf->cap)
        return HE2B_OK;
    while (cap <= buf->len + len)
        cap *= 2;
    /* Not realloc(): the old block may hold a key and has to be wiped. */
    data = malloc(cap);
    if (!data)
        return HE2B_ERR_NOMEM;
    if (buf->data) {
        memcpy(data, buf->data, buf->len);
        he2b_wipe(buf->data, buf->cap);
        free(buf->data);
    }
    data[buf->len] = '\0';
    buf->data = data;
    buf->cap = cap;
    return HE2B_OK;
}

int he2b_buf_add(struct he2b_buf *buf, const void *data, size_t len)
{
    int error;

    error = he2b_buf_reserve(buf, len);
    if (error)
        return error;
    if (len)
        memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
    return HE2B_OK;
}

int he2b_buf_adds(struct he2b_buf *buf, const char *text)
{
    return he2b_buf_add(buf, text, strlen(text));
}

int he2b_buf_addf(struct he2b_buf *buf, const char *format, ...)
{
    va_list args;
    int len;
    int error;

    va_start(args, format);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0)
        return HE2B_ERR_ARG;
    error = he2b_buf_reserve(buf, (size_t)len);
    if (error)
        return error;
    va_start(args, format);
    vsnprintf(buf->data + buf->len, (size_t)len + 1, format, args);
    va_end(args);
    buf->len += (size_t)len;
    return HE2B_OK;
}

void he2b_buf_drain(struct he2b_buf *buf, size_t n)
{
    if (n >= buf->len) {
        he2b_buf_clear(buf);
        return;
    }
    memmove(buf->data, buf->data + n, buf->len - n + 1);
    buf->len -= n;
}

const char *he2b_buf_str(const struct he2b_buf *buf)
{
    return buf->data ? buf->data : "";
}

void he2b_buf_clear(struct he2b_buf *buf)
{
    buf->len = 0;
    if (buf->data)
        buf->data[0] = '\0';
}

void he2b_buf_free(struct he2b_buf *buf)
{
    if (buf->data) {
        he2b_wipe(buf->data, buf->cap);
        free(buf->data);
    }
    he2b_buf_init(buf, buf->max);
}
