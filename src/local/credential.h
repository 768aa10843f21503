/*
 * What is random or secret: sandbox ids (wire A.4), the API key (A.3), access tokens (A.6) and
 * signatures of file URLs (D.1).
 */
#ifndef HE2B_LOCAL_CREDENTIAL_H
#define HE2B_LOCAL_CREDENTIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CREDENTIAL_ID_LEN = 21,    /* "i" and 20 of [a-z0-9] */
    CREDENTIAL_KEY_LEN = 44,   /* "e2b_" and 40 hex digits */
    CREDENTIAL_TOKEN_LEN = 64, /* hex digits */
    CREDENTIAL_SECRET_SIZE = 32,
    CREDENTIAL_SIGNATURE_LEN = 46, /* "v1_" and 43 base64 characters */
};

/* Fills out with random bytes; false if the kernel has none. */
bool credential_random(void *out, size_t len);
bool credential_new_id(char out[CREDENTIAL_ID_LEN + 1]);
bool credential_new_key(char out[CREDENTIAL_KEY_LEN + 1]);

/* Does the text look like a sandbox id as a client may send it: [a-z0-9]+, or that with one "-" and
 * an ignored rest? *ret_len is the length of the id itself. */
bool credential_id_shape(const char *text, size_t len, size_t *ret_len);

/* A keyed hash of the id: the same before and after a pause. */
void credential_token(char out[CREDENTIAL_TOKEN_LEN + 1],
                      const unsigned char secret[CREDENTIAL_SECRET_SIZE], const char *id);

/* Takes the same time wherever the texts differ. NULL equals nothing. */
bool credential_equal(const char *a, const char *b);

/* NULL if sent is key, else the message of the 401 that wire A.3 names. sent may be NULL. */
const char *credential_key_refusal(const char *sent, const char *key);

struct credential_file_access {
    const char *path;       /* decoded query values; NULL: not there */
    const char *username;   /* NULL: not there */
    const char *signature;  /* NULL: not there */
    const char *expiration; /* NULL: not there */
    bool write;             /* an upload */
};

void credential_signature(char out[CREDENTIAL_SIGNATURE_LEN + 1],
                          const struct credential_file_access *access, const char *token);

/*
 * May this request for /files pass? NULL, or the message of the 401. sent is the X-Access-Token
 * header, which alone decides if it is there; now is in seconds since 1970.
 */
const char *credential_file_refusal(const struct credential_file_access *access, const char *sent,
                                    const char *token, int64_t now);

#endif
