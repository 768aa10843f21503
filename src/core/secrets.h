/*
 * The secrets of one session, and their removal from every text that leaves the library (B-100).
 */
#ifndef HE2B_CORE_SECRETS_H
#define HE2B_CORE_SECRETS_H

/* Borrowed texts; NULL or shorter than 8 characters: not looked for. */
struct he2b_secrets {
    const char *api_key;
    const char *access_token;
    const char *attached_key; /* B-7 */
};

/*
 * Replaces in place, by "***": each of the secrets by exact match, anything shaped like an E2B key
 * (e2b_ and 8 or more hex digits), the value of "Bearer ..." and the user part of a URL
 * (scheme://user:password@). Ordinary text is left as it is. secrets may be NULL.
 */
void he2b_redact(char *text, const struct he2b_secrets *secrets);

#endif
