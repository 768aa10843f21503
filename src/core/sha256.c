#include "core/sha256.h"

#include <nettle/sha2.h>

_Static_assert(sizeof(struct sha256_ctx) <= sizeof(struct he2b_sha256), "room for nettle's state");
_Static_assert(_Alignof(struct sha256_ctx) <= _Alignof(struct he2b_sha256), "aligned for it");

static struct sha256_ctx *state(struct he2b_sha256 *hash)
{
    return (struct sha256_ctx *)(void *)hash->room;
}

void he2b_sha256_init(struct he2b_sha256 *hash)
{
    sha256_init(state(hash));
}

void he2b_sha256_add(struct he2b_sha256 *hash, const void *data, size_t len)
{
    if (len > 0)
        sha256_update(state(hash), len, data);
}

void he2b_sha256_end(struct he2b_sha256 *hash, uint8_t ret[HE2B_SHA256_SIZE])
{
    sha256_digest(state(hash), HE2B_SHA256_SIZE, ret);
}

void he2b_sha256_of(const void *data, size_t len, uint8_t ret[HE2B_SHA256_SIZE])
{
    struct he2b_sha256 hash;

    he2b_sha256_init(&hash);
    he2b_sha256_add(&hash, data, len);
    he2b_sha256_end(&hash, ret);
}

void he2b_sha256_hex(char ret[HE2B_SHA256_HEX_MAX], const uint8_t sum[HE2B_SHA256_SIZE])
{
    static const char hex[] = "0123456789abcdef";
    size_t i;

    for (i = 0; i < HE2B_SHA256_SIZE; i++) {
        ret[2 * i] = hex[sum[i] >> 4];
        ret[2 * i + 1] = hex[sum[i] & 0x0f];
    }
    ret[2 * i] = '\0';
}
