/*
 * SHA-256 of bytes that come in pieces.
 */
#ifndef HE2B_CORE_SHA256_H
#define HE2B_CORE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum {
    HE2B_SHA256_SIZE = 32,
    /* In lowercase hex, and a NUL. */
    HE2B_SHA256_HEX_MAX = 65,
};

/* The state of one hash; what is in it is sha256.c's. */
struct he2b_sha256 {
    uint64_t room[16];
};

void he2b_sha256_init(struct he2b_sha256 *hash);
void he2b_sha256_add(struct he2b_sha256 *hash, const void *data, size_t len);
/* Ends the hash; init() begins another. */
void he2b_sha256_end(struct he2b_sha256 *hash, uint8_t ret[HE2B_SHA256_SIZE]);
/* All at once. */
void he2b_sha256_of(const void *data, size_t len, uint8_t ret[HE2B_SHA256_SIZE]);
void he2b_sha256_hex(char ret[HE2B_SHA256_HEX_MAX], const uint8_t sum[HE2B_SHA256_SIZE]);

#endif
