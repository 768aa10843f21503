/*
 * A growing byte buffer that is born with its maximum: a peer cannot make it grow without bound.
 */
#ifndef HE2B_CORE_BUF_H
#define HE2B_CORE_BUF_H

#include <stddef.h>

struct he2b_buf {
    /* NULL while empty and never grown; always followed by a NUL byte that len does not count */
    char *data;
    size_t len;
    size_t cap;
    size_t max;
};

/* max: most bytes it may hold, without the NUL. */
void he2b_buf_init(struct he2b_buf *buf, size_t max);

/* Each returns HE2B_OK, HE2B_ERR_NOMEM, HE2B_ERR_OVERFLOW; on failure the content is as before. */

/* Room for len more bytes and the NUL. */
int he2b_buf_reserve(struct he2b_buf *buf, size_t len);
int he2b_buf_add(struct he2b_buf *buf, const void *data, size_t len);
int he2b_buf_adds(struct he2b_buf *buf, const char *text);
int he2b_buf_addf(struct he2b_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Drops the first n bytes (all of them if there are fewer). */
void he2b_buf_drain(struct he2b_buf *buf, size_t n);

/* The content as a string, "" while empty; valid until the next change. */
const char *he2b_buf_str(const struct he2b_buf *buf);

/* Empties it and keeps the memory. */
void he2b_buf_clear(struct he2b_buf *buf);

/* Frees the memory and leaves an empty buffer; wipes it first, since a buffer may hold a key. */
void he2b_buf_free(struct he2b_buf *buf);

#endif
