#include "local/forward_head.h"

#include "core/buf.h"
#include "core/json.h"
#include "he2b.h"
#include "local/http.h"
#include "local/link.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* For this hop only, or for the plane alone. */
static bool stays_here(const char *name)
{
    static const char *const names[] = {
        "connection",
        "keep-alive",
        "proxy-connection",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "expect",
        "e2b-sandbox-id",
        "e2b-sandbox-port",
        "x-access-token",
        "x-api-key",
        "e2b-traffic-access-token",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcasecmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/* ---- a request's head ---- */

struct writing {
    he2b_json *headers;
    int bad;
};

/* Header values may hold any byte and JSON may not: what is no UTF-8 is taken for Latin-1. */
static char *latin1(const char *value)
{
    char *out = malloc(2 * strlen(value) + 1);
    size_t used = 0;

    for (const unsigned char *c = (const unsigned char *)value; out && *c; c++) {
        if (*c >= 0x80)
            out[used++] = (char)(0xc0 | *c >> 6);
        out[used++] = (char)(*c >= 0x80 ? 0x80 | (*c & 0x3f) : *c);
    }
    if (out)
        out[used] = '\0';
    return out;
}

/* Length of the UTF-8 character at c, 0 if it is none. */
static size_t character(const unsigned char *c)
{
    size_t len = *c < 0x80                 ? 1
                 : *c >= 0xc2 && *c < 0xe0 ? 2
                 : (*c & 0xf0) == 0xe0     ? 3
                 : *c >= 0xf0 && *c < 0xf5 ? 4
                                           : 0;

    for (size_t i = 1; i < len; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f) || (*c == 0xf0 && c[1] < 0x90) ||
        (*c == 0xf4 && c[1] > 0x8f))
        return 0;
    return len;
}

static bool is_utf8(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;

    while (*c) {
        size_t len = character(c);
        if (len == 0)
            return false;
        c += len;
    }
    return true;
}

static int add_text(he2b_json *object, const char *key, const char *value)
{
    if (is_utf8(value))
        return he2b_json_add_string(object, key, value);
    char *text = latin1(value);
    int result = text ? he2b_json_add_string(object, key, text) : HE2B_ERR_NOMEM;
    free(text);
    return result;
}

static void add_header(void *user, const char *name, const char *value)
{
    struct writing *writing = user;
    char lower[128];
    size_t len = strlen(name);

    /* a name that long, or with other bytes, is nobody's */
    if (stays_here(name) || len >= sizeof lower || !is_utf8(name))
        return;
    for (size_t i = 0; i <= len; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    const char *before = he2b_json_get_string(writing->headers, lower);
    if (!before) {
        writing->bad |= add_text(writing->headers, lower, value);
        return;
    }
    /* several of one name mean the same as one list (RFC 9110, 5.3) */
    char *joined = NULL;
    if (asprintf(&joined, "%s, %s", before, value) < 0)
        joined = NULL;
    writing->bad |= joined ? add_text(writing->headers, lower, joined) : HE2B_ERR_NOMEM;
    free(joined);
}

char *forward_head_write(const struct http_request *request, size_t *ret_len, bool *too_long)
{
    he2b_json *head = he2b_json_new_object();
    struct writing writing = {.headers = he2b_json_new_object()};
    char *text = NULL;

    *too_long = false;
    if (!head || !writing.headers)
        goto done;
    writing.bad |= he2b_json_add_string(head, "method", http_method(request));
    writing.bad |= he2b_json_add_string(head, "target", http_target(request));
    http_each_header(request, add_header, &writing);
    writing.bad |= he2b_json_add(head, "headers", writing.headers);
    writing.headers = NULL;
    if (writing.bad == HE2B_OK)
        text = he2b_json_copy_text(head);
    if (text && strlen(text) > LINK_HEAD_MAX) {
        *too_long = true;
        free(text);
        text = NULL;
    }
    if (text)
        *ret_len = strlen(text);
done:
    he2b_json_del(writing.headers);
    he2b_json_del(head);
    return text;
}

/* ---- an answer's head ---- */

static bool take_header(void *user, const char *key, const he2b_json *member)
{
    struct http_request *request = user;
    const char *value = he2b_json_string(member, NULL);

    /* the length is told apart, the date is the server's own */
    if (value && !stays_here(key) && strcasecmp(key, "content-length") != 0 &&
        strcasecmp(key, "date") != 0)
        http_add_header(request, key, value);
    return true;
}

bool forward_head_read(struct http_request *request, const char *text, size_t len,
                       unsigned *ret_status, int64_t *ret_length)
{
    he2b_json *head = NULL;
    int64_t status = 0;
    int64_t length = -1;
    bool good = he2b_json_parse(&head, text, len) == HE2B_OK &&
                he2b_json_int(he2b_json_get(head, "status"), &status) && status >= 200 &&
                status <= 599;

    if (good && he2b_json_get(head, "length"))
        good = he2b_json_int(he2b_json_get(head, "length"), &length) && length >= 0;
    if (good) {
        const he2b_json *headers = he2b_json_get(head, "headers");
        if (headers)
            he2b_json_each(headers, take_header, request);
        *ret_status = (unsigned)status;
        *ret_length = length;
    }
    he2b_json_del(head);
    return good;
}
