#include "net/target.h"

#include "he2b.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool is_localhost(const char *host)
{
    static const char name[] = "localhost";
    size_t len = strlen(host);

    /* "sandbox.localhost" resolves to loopback as well (RFC 6761). */
    if (len && host[len - 1] == '.')
        len--;
    if (len < sizeof(name) - 1 ||
        strncasecmp(host + len - (sizeof(name) - 1), name, sizeof(name) - 1))
        return false;
    return len == sizeof(name) - 1 || host[len - sizeof(name)] == '.';
}

static void read_host(struct he2b_target *target, char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    size_t len = strlen(host);

    if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
        host[len - 1] = '\0';
        target->literal = inet_pton(AF_INET6, host + 1, &v6) == 1;
        target->loopback = target->literal && IN6_IS_ADDR_LOOPBACK(&v6);
    } else if (inet_pton(AF_INET, host, &v4) == 1) {
        target->literal = true;
        target->loopback = ntohl(v4.s_addr) >> 24 == 127;
    } else {
        target->loopback = is_localhost(host);
    }
}

int he2b_target_read(struct he2b_target *ret, const char *url)
{
    struct he2b_target target = {0};
    CURLU *parts = curl_url();
    char *scheme = NULL;
    char *host = NULL;
    int error = HE2B_ERR_SETTING;

    if (!parts)
        return HE2B_ERR_NOMEM;
    if (curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK) {
        target.https = strcmp(scheme, "https") == 0;
        if (target.https || strcmp(scheme, "http") == 0) {
            read_host(&target, host);
            *ret = target;
            error = HE2B_OK;
        }
    }
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(parts);
    return error;
}

const char *he2b_ca_file(const char *chosen, char *tried, size_t tried_size)
{
    static const char *const variables[] = {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE",
                                            "CURL_CA_BUNDLE"};
    static const char *const paths[] = {
        "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Ubuntu, Arch, Gentoo */
        "/etc/pki/tls/certs/ca-bundle.crt",                  /* Fedora, RHEL */
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* CentOS */
        "/etc/ssl/ca-bundle.pem",                            /* openSUSE */
        "/etc/ssl/cert.pem",                                 /* Alpine, macOS, BSD */
    };
    size_t used = 0;
    size_t i;

    if (chosen)
        return chosen;
    for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = getenv(variables[i]);

        /* One that is set and wrong is an error of its own, not a reason to trust another list. */
        if (value && value[0])
            return value;
    }
    used = (size_t)snprintf(tried, tried_size,
                            "SSL_CERT_FILE, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE (not set)");
    for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (access(paths[i], R_OK) == 0)
            return paths[i];
        if (used < tried_size)
            used += (size_t)snprintf(tried + used, tried_size - used, ", %s", paths[i]);
    }
    return NULL;
}

bool he2b_proxy_is_set(void)
{
    /* the ones that libcurl reads for https */
    static const char *const variables[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    size_t i;

    for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = getenv(variables[i]);

        if (value && value[0])
            return true;
    }
    return false;
}
