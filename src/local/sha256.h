/*
 * SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), for access tokens and signatures of URLs.
 */
#ifndef HE2B_LOCAL_SHA256_H
#define HE2B_LOCAL_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum {
    SHA256_SIZE = 32,
    SHA256_BLOCK = 64,
};

struct sha256 {
    uint32_t state[8];
    uint64_t length;
    unsigned char block[SHA256_BLOCK];
    size_t used;
};

void sha256_init(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t len);
void sha256_end(struct sha256 *hash, unsigned char out[SHA256_SIZE]);

/* key_len is at most SHA256_BLOCK. */
void sha256_hmac(unsigned char out[SHA256_SIZE], const void *key, size_t key_len, const void *data,
                 size_t len);

#endif
