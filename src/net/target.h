/*
 * What may be sent where (B-101): the scheme, loopback, proxies, and the CA bundle.
 */
#ifndef HE2B_NET_TARGET_H
#define HE2B_NET_TARGET_H

#include <stdbool.h>
#include <stddef.h>

struct he2b_target {
    bool https;
    bool loopback; /* localhost, 127.0.0.0/8, ::1 */
    bool literal;  /* an address, so that no name is looked up */
};

/* Returns HE2B_OK or HE2B_ERR_SETTING (no URL with a host, or neither http nor https). */
int he2b_target_read(struct he2b_target *ret, const char *url);

/*
 * The CA bundle: chosen if not NULL, else the first of SSL_CERT_FILE, REQUESTS_CA_BUNDLE,
 * CURL_CA_BUNDLE that is set, else the first of the known system paths that can be read.
 * NULL if there is none; then tried lists what was looked at, for the message. Borrowed: chosen,
 * the environment, or static.
 */
const char *he2b_ca_file(const char *chosen, char *tried, size_t tried_size);

/* The environment names a proxy for https (whether one host is excepted from it is not looked at).
 */
bool he2b_proxy_is_set(void);

#endif
