#include "local/route.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    HOST_MAX = 256
};

/* Copies the host name without its port and without the brackets of IPv6. */
static void host_name(char out[HOST_MAX], const char *host)
{
    size_t len;

    if (*host == '[') {
        host++;
        len = strcspn(host, "]");
    } else {
        len = strcspn(host, ":");
    }
    if (len >= HOST_MAX)
        len = HOST_MAX - 1;
    for (size_t i = 0; i < len; i++)
        out[i] = (char)tolower((unsigned char)host[i]);
    out[len] = '\0';
}

static bool is_address(const char *name)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

/* The hosts on which the headers decide; sandbox.* is only one of them if they are there. */
static bool is_plain(const char *name)
{
    return strcmp(name, "localhost") == 0 || is_address(name);
}

static bool read_port(unsigned *ret, const char *text, size_t len)
{
    unsigned value = 0;

    if (len == 0 || len > 5)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!isdigit((unsigned char)text[i]))
            return false;
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    *ret = value;
    return value > 0 && value < 65536;
}

static void refuse(struct route *ret, const char *text)
{
    ret->kind = ROUTE_REFUSED;
    ret->refusal = text;
}

static void to_sandbox(struct route *ret, const char *id, size_t id_len, const char *port,
                       size_t port_len)
{
    size_t own;

    if (!credential_id_shape(id, id_len, &own)) {
        refuse(ret, "Invalid sandbox ID");
        return;
    }
    if (!read_port(&ret->port, port, port_len)) {
        refuse(ret, "Invalid sandbox port");
        return;
    }
    ret->kind = ROUTE_DATA;
    snprintf(ret->sandbox_id, sizeof ret->sandbox_id, "%.*s", (int)(own < 64 ? own : 64), id);
}

void route_decide(struct route *ret, const char *host, const char *id, const char *port)
{
    char name[HOST_MAX];
    bool plain;

    memset(ret, 0, sizeof *ret);
    host_name(name, host);
    plain = is_plain(name);
    if ((plain || strncmp(name, "sandbox.", 8) == 0) && (id || port)) {
        if (!id || !port)
            refuse(ret, "missing header");
        else
            to_sandbox(ret, id, strlen(id), port, strlen(port));
        return;
    }
    if (plain || strncmp(name, "api.", 4) == 0) {
        ret->kind = ROUTE_CONTROL;
        return;
    }
    size_t label = strcspn(name, ".");
    size_t digits = strspn(name, "0123456789");
    if (digits == 0 || digits >= label || name[digits] != '-')
        refuse(ret, "Invalid host");
    else
        to_sandbox(ret, name + digits + 1, label - digits - 1, name, digits);
}
