#include "e2b/endpoint.h"

#include "core/base64.h"
#include "core/wipe.h"

#include <stdio.h>
#include <string.h>

static bool id_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

void he2b_endpoint_wipe(struct he2b_endpoint *endpoint)
{
    he2b_wipe(endpoint, sizeof(*endpoint));
}

bool he2b_sandbox_id_valid(const char *id)
{
    size_t n = 0;

    if (strlen(id) >= HE2B_SANDBOX_ID_MAX)
        return false;
    while (id_char(id[n]))
        n++;
    if (n == 0)
        return false;
    if (id[n] == '\0')
        return true;
    if (id[n] != '-')
        return false;
    for (n++; id[n]; n++) {
        if (!id_char(id[n]))
            return false;
    }
    return id[n - 1] != '-';
}

/* Domains whose sandboxes are reached through one host and told apart by headers (wire B.1). */
static bool shared_host(const char *domain)
{
    static const char *const domains[] = {"e2b.app", "e2b.dev", "e2b.pro", "e2b-staging.dev"};
    size_t i;

    for (i = 0; i < sizeof(domains) / sizeof(domains[0]); i++) {
        if (strcmp(domain, domains[i]) == 0)
            return true;
    }
    return false;
}

int he2b_endpoint_url(char *out, size_t size, const struct he2b_endpoint *endpoint,
                      const struct he2b_settings *settings, const char *path)
{
    const char *domain = endpoint->domain[0] ? endpoint->domain : settings->domain;
    int n;

    if (settings->sandbox_url)
        n = snprintf(out, size, "%s%s", settings->sandbox_url, path);
    else if (shared_host(domain))
        n = snprintf(out, size, "https://sandbox.%s%s", domain, path);
    else
        n = snprintf(out, size, "https://%d-%s.%s%s", HE2B_SANDBOX_PORT, endpoint->sandbox_id,
                     domain, path);
    return n < 0 || (size_t)n >= size ? HE2B_ERR_OVERFLOW : HE2B_OK;
}

bool he2b_endpoint_plain_ok(const struct he2b_settings *settings)
{
    return settings->sandbox_url != NULL;
}

size_t he2b_endpoint_headers(struct he2b_http_header *headers, struct he2b_endpoint_texts *texts,
                             const struct he2b_endpoint *endpoint, const char *user)
{
    size_t n = 0;

    headers[n++] = (struct he2b_http_header){"E2b-Sandbox-Id", endpoint->sandbox_id};
    headers[n++] = (struct he2b_http_header){"E2b-Sandbox-Port", "49983"};
    if (endpoint->access_token[0])
        headers[n++] = (struct he2b_http_header){"X-Access-Token", endpoint->access_token};
    if (user) {
        char plain[64];
        int len = snprintf(plain, sizeof(plain), "%s:", user);

        if (len > 0 && (size_t)len < sizeof(plain)) {
            memcpy(texts->authorization, "Basic ", 6);
            he2b_base64_encode(texts->authorization + 6, plain, (size_t)len);
            headers[n++] = (struct he2b_http_header){"Authorization", texts->authorization};
        }
    }
    headers[n] = (struct he2b_http_header){NULL, NULL};
    return n;
}
