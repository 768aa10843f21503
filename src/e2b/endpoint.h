/*
 * Where a sandbox is, and what goes with every request to it (wire B.1, B.2): its URL, the routing
 * headers and its access token.
 */
#ifndef HE2B_E2B_ENDPOINT_H
#define HE2B_E2B_ENDPOINT_H

#include "core/settings.h"
#include "net/http.h"

enum {
    HE2B_SANDBOX_PORT = 49983,
    /* ids are 21 characters; self-hosted ones may carry a suffix (wire A.4) */
    HE2B_SANDBOX_ID_MAX = 128,
    HE2B_TOKEN_MAX = 256,
    HE2B_DOMAIN_MAX = 256,
    HE2B_URL_MAX = 1024,
    /* headers that he2b_endpoint_headers() fills, with the end mark */
    HE2B_ENDPOINT_HEADERS = 6,
};

/* Of one attachment: replaced as a whole by each create or connect (B-34). */
struct he2b_endpoint {
    char sandbox_id[HE2B_SANDBOX_ID_MAX];
    char access_token[HE2B_TOKEN_MAX]; /* "" if the sandbox asks for none */
    char domain[HE2B_DOMAIN_MAX];      /* of the answer; "" for the configured one */
};

/* Forgets the sandbox, and its token without a trace. */
void he2b_endpoint_wipe(struct he2b_endpoint *endpoint);

/* True for what A.4 accepts: lowercase letters and digits, one suffix after a dash at most. */
bool he2b_sandbox_id_valid(const char *id);

/* The data-plane URL of path ("/process.Process/Start"). HE2B_OK or HE2B_ERR_OVERFLOW. */
int he2b_endpoint_url(char *out, size_t size, const struct he2b_endpoint *endpoint,
                      const struct he2b_settings *settings, const char *path);

/* True if plain http to it is the user's own wish (B-101). */
bool he2b_endpoint_plain_ok(const struct he2b_settings *settings);

/* What he2b_endpoint_headers() points into; lives as long as the headers are used. */
struct he2b_endpoint_texts {
    char authorization[128];
};

/*
 * Fills headers (HE2B_ENDPOINT_HEADERS of them): routing, token, and the user for the daemon if not
 * NULL; the last has name NULL. Returns how many there are without it.
 */
size_t he2b_endpoint_headers(struct he2b_http_header *headers, struct he2b_endpoint_texts *texts,
                             const struct he2b_endpoint *endpoint, const char *user);

#endif
