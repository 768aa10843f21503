#include "e2b/unreached.h"

#include "he2b.h"

#include <stdio.h>

int he2b_unreached(const struct he2b_http_result *result, const char *setting, char *hint,
                   size_t size)
{
    if (result->end != HE2B_HTTP_UNTRUSTED) {
        snprintf(hint, size, "check the network%s and %s",
                 result->by_proxy ? ", the proxy in HTTPS_PROXY" : "", setting);
        return HE2B_ERR_UNREACHABLE;
    }
    switch (result->distrust) {
    case HE2B_DISTRUST_AUTHORITY:
        snprintf(hint, size,
                 "set SSL_CERT_FILE to a file with the CA of this server; the CAs in use are those "
                 "of %s",
                 result->ca_file);
        break;
    case HE2B_DISTRUST_TIME:
        snprintf(hint, size, "the server needs a new certificate, or this host's clock is wrong");
        break;
    case HE2B_DISTRUST_NAME:
        snprintf(hint, size, "check %s: the certificate is another host's", setting);
        break;
    case HE2B_DISTRUST_CA_FILE:
    case HE2B_DISTRUST_NO_CA:
        snprintf(hint, size, "set SSL_CERT_FILE to a readable file of CA certificates in PEM form");
        break;
    case HE2B_DISTRUST_NO_TLS:
        snprintf(hint, size, "check %s: is it https that is spoken there?", setting);
        break;
    case HE2B_DISTRUST_PLAIN:
        snprintf(hint, size, "check %s: use https", setting);
        break;
    case HE2B_DISTRUST_OTHER:
        snprintf(hint, size, "check the server's certificate and SSL_CERT_FILE");
        break;
    }
    return HE2B_ERR_TLS;
}
