#include "local/daemon_head.h"

#include "he2b.h"
#include "local/link.h"

#include <stdlib.h>
#include <string.h>

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Percent-decodes n characters; false if it does not fit, is broken, or holds a NUL. */
static bool decode(char *out, size_t size, const char *text, size_t n, bool plus)
{
    size_t used = 0;
    size_t i;

    for (i = 0; i < n; i++) {
        char c = text[i];

        if (c == '%') {
            if (i + 2 >= n || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0)
                return false;
            c = (char)(hex(text[i + 1]) * 16 + hex(text[i + 2]));
            if (c == '\0')
                return false;
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        if (used + 1 >= size)
            return false;
        out[used++] = c;
    }
    out[used] = '\0';
    return true;
}

bool daemon_head_read(struct daemon_head *ret, const char *text, size_t len)
{
    he2b_json *json = NULL;

    if (he2b_json_parse(&json, text, len) != HE2B_OK)
        return false;
    ret->method = he2b_json_get_string(json, "method");
    ret->target = he2b_json_get_string(json, "target");
    if (!ret->method || !ret->target) {
        he2b_json_del(json);
        return false;
    }
    if (!decode(ret->path, sizeof(ret->path), ret->target, strcspn(ret->target, "?"), false))
        ret->path[0] = '\0';
    ret->json = json;
    return true;
}

void daemon_head_free(struct daemon_head *head)
{
    he2b_json_del(head->json);
    memset(head, 0, sizeof(*head));
}

bool daemon_head_query(const struct daemon_head *head, const char *name, char *out, size_t size)
{
    const char *at = strchr(head->target, '?');
    size_t name_len = strlen(name);

    out[0] = '\0';
    while (at && *at) {
        size_t len;

        at++;
        len = strcspn(at, "&");
        if (len > name_len && strncmp(at, name, name_len) == 0 && at[name_len] == '=') {
            if (decode(out, size, at + name_len + 1, len - name_len - 1, true))
                return true;
            out[0] = '\0';
            return false;
        }
        at += len;
    }
    return false;
}

char *daemon_head_write(int status, he2b_json *headers, int64_t length)
{
    he2b_json *head = he2b_json_new_object();
    const char *text = NULL;
    char *copy = NULL;
    size_t len = 0;

    if (!head || he2b_json_add_int(head, "status", status) != HE2B_OK ||
        (length >= 0 && he2b_json_add_int(head, "length", length) != HE2B_OK))
        goto out;
    if (headers) {
        if (he2b_json_add(head, "headers", headers) != HE2B_OK) {
            headers = NULL;
            goto out;
        }
        headers = NULL;
    }
    text = he2b_json_text(head, &len);
    if (text && len <= LINK_HEAD_MAX)
        copy = strdup(text);
out:
    he2b_json_del(headers);
    he2b_json_del(head);
    return copy;
}
