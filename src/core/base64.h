/*
 * Base64 as the wire carries bytes in JSON (wire C.7): written with padding, read with or without,
 * in the standard and the URL-safe alphabet; anything else is an error, never silent garbage.
 */
#ifndef HE2B_CORE_BASE64_H
#define HE2B_CORE_BASE64_H

#include <stddef.h>

/* Bytes that encoding n bytes gives, without a NUL. */
size_t he2b_base64_encoded_size(size_t n);
/* out holds he2b_base64_encoded_size(len) + 1 bytes; the last is NUL. */
void he2b_base64_encode(char *out, const void *data, size_t len);
/*
 * out holds len / 4 * 3 + 3 bytes and may be text itself (decoding in place).
 * Returns HE2B_OK and the size in *ret_len, or HE2B_ERR_PROTOCOL.
 */
int he2b_base64_decode(void *out, size_t *ret_len, const char *text, size_t len);

#endif
