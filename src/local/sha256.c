#include "local/sha256.h"

#include <string.h>

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void compress(struct sha256 *hash, const unsigned char *block)
{
    uint32_t w[64];
    uint32_t s[8];

    for (unsigned i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (unsigned i = 16; i < 64; i++) {
        uint32_t a = w[i - 15];
        uint32_t b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    memcpy(s, hash->state, sizeof s);
    for (unsigned i = 0; i < 64; i++) {
        uint32_t t1 = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
                      ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + w[i];
        uint32_t t2 = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
                      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (unsigned i = 0; i < 8; i++)
        hash->state[i] += s[i];
}

void sha256_init(struct sha256 *hash)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(hash, 0, sizeof *hash);
    memcpy(hash->state, start, sizeof start);
}

void sha256_add(struct sha256 *hash, const void *data, size_t len)
{
    const unsigned char *bytes = data;

    hash->length += len;
    while (len > 0) {
        size_t n = SHA256_BLOCK - hash->used;
        if (n > len)
            n = len;
        memcpy(hash->block + hash->used, bytes, n);
        hash->used += n;
        bytes += n;
        len -= n;
        if (hash->used == SHA256_BLOCK) {
            compress(hash, hash->block);
            hash->used = 0;
        }
    }
}

void sha256_end(struct sha256 *hash, unsigned char out[SHA256_SIZE])
{
    static const unsigned char padding[SHA256_BLOCK] = {0x80};
    uint64_t bits = hash->length * 8;
    unsigned char tail[8];

    sha256_add(hash, padding, 1 + (SHA256_BLOCK + 55 - hash->used) % SHA256_BLOCK);
    for (unsigned i = 0; i < 8; i++)
        tail[i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(hash, tail, sizeof tail);
    for (unsigned i = 0; i < SHA256_SIZE; i++)
        out[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hmac(unsigned char out[SHA256_SIZE], const void *key, size_t key_len, const void *data,
                 size_t len)
{
    unsigned char pad[SHA256_BLOCK] = {0};
    struct sha256 hash;

    memcpy(pad, key, key_len);
    for (unsigned i = 0; i < SHA256_BLOCK; i++)
        pad[i] ^= 0x36;
    sha256_init(&hash);
    sha256_add(&hash, pad, sizeof pad);
    sha256_add(&hash, data, len);
    sha256_end(&hash, out);
    for (unsigned i = 0; i < SHA256_BLOCK; i++)
        pad[i] ^= 0x36 ^ 0x5c;
    sha256_init(&hash);
    sha256_add(&hash, pad, sizeof pad);
    sha256_add(&hash, out, SHA256_SIZE);
    sha256_end(&hash, out);
}
