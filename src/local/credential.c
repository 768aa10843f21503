#include "local/credential.h"

#include "core/base64.h"

#include <ctype.h>
#include <errno.h>
#include <nettle/hmac.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

bool credential_random(void *out, size_t len)
{
    unsigned char *bytes = out;

    while (len > 0) {
        ssize_t n = getrandom(bytes, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

bool credential_new_id(char out[CREDENTIAL_ID_LEN + 1])
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    /* above this a byte would favour the first digits */
    const unsigned char fair = 252;
    size_t i = 0;

    out[i++] = 'i';
    while (i < CREDENTIAL_ID_LEN) {
        unsigned char byte;
        if (!credential_random(&byte, 1))
            return false;
        if (byte < fair)
            out[i++] = digits[byte % 36];
    }
    out[i] = '\0';
    return true;
}

static void hex(char *out, const unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

bool credential_new_key(char out[CREDENTIAL_KEY_LEN + 1])
{
    unsigned char bytes[20];

    if (!credential_random(bytes, sizeof bytes))
        return false;
    memcpy(out, "e2b_", 4);
    hex(out + 4, bytes, sizeof bytes);
    return true;
}

bool credential_id_shape(const char *text, size_t len, size_t *ret_len)
{
    const char *dash = memchr(text, '-', len);
    size_t own = dash ? (size_t)(dash - text) : len;

    for (size_t i = 0; i < own; i++) {
        if (!(text[i] >= 'a' && text[i] <= 'z') && !(text[i] >= '0' && text[i] <= '9'))
            return false;
    }
    if (own == 0 || (dash && memchr(dash + 1, '-', len - own - 1)))
        return false;
    *ret_len = own;
    return true;
}

void credential_token(char out[CREDENTIAL_TOKEN_LEN + 1],
                      const unsigned char secret[CREDENTIAL_SECRET_SIZE], const char *id)
{
    unsigned char hash[SHA256_DIGEST_SIZE];
    struct hmac_sha256_ctx context;

    hmac_sha256_set_key(&context, CREDENTIAL_SECRET_SIZE, secret);
    hmac_sha256_update(&context, strlen(id), (const unsigned char *)id);
    hmac_sha256_digest(&context, sizeof hash, hash);
    hex(out, hash, sizeof hash);
}

bool credential_equal(const char *a, const char *b)
{
    unsigned char differ = 0;

    if (!a || !b || strlen(a) != strlen(b))
        return false;
    for (size_t i = 0; a[i]; i++)
        differ |= (unsigned char)(a[i] ^ b[i]);
    return differ == 0;
}

const char *credential_key_refusal(const char *sent, const char *key)
{
    if (!sent)
        return "authorization header is missing";
    if (strncmp(sent, "e2b_", 4) != 0)
        return "authorization header is malformed";
    if (!credential_equal(sent, key))
        return "Invalid API key, please check it and try again.\n"
               "The key of this server is shown by: e2b-local env";
    return NULL;
}

static void add_text(struct sha256_ctx *hash, const char *text)
{
    if (text)
        sha256_update(hash, strlen(text), (const unsigned char *)text);
}

void credential_signature(char out[CREDENTIAL_SIGNATURE_LEN + 1],
                          const struct credential_file_access *access, const char *token)
{
    unsigned char bytes[SHA256_DIGEST_SIZE];
    char text[CREDENTIAL_SIGNATURE_LEN]; /* 44 characters, the last of them "=" */
    struct sha256_ctx hash;

    sha256_init(&hash);
    add_text(&hash, access->path);
    add_text(&hash, access->write ? ":write:" : ":read:");
    add_text(&hash, access->username);
    add_text(&hash, ":");
    add_text(&hash, token);
    if (access->expiration) {
        add_text(&hash, ":");
        add_text(&hash, access->expiration);
    }
    sha256_digest(&hash, sizeof bytes, bytes);
    he2b_base64_encode(text, bytes, sizeof bytes);
    text[strcspn(text, "=")] = '\0';
    memcpy(out, "v1_", 3);
    memcpy(out + 3, text, strlen(text) + 1);
}

static bool expired(const char *expiration, int64_t now)
{
    char *end;

    errno = 0;
    long long at = strtoll(expiration, &end, 10);
    return errno != 0 || end == expiration || *end != '\0' || at < now;
}

const char *credential_file_refusal(const struct credential_file_access *access, const char *sent,
                                    const char *token, int64_t now)
{
    char wanted[CREDENTIAL_SIGNATURE_LEN + 1];

    if (sent)
        return credential_equal(sent, token) ? NULL
                                             : "access token present in header but does not match";
    if (!access->signature || !*access->signature)
        return "missing signature query parameter";
    credential_signature(wanted, access, token);
    if (!credential_equal(access->signature, wanted))
        return "invalid signature";
    if (access->expiration && expired(access->expiration, now))
        return "signature is already expired";
    return NULL;
}
