#include "local/query.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct query_filter {
    size_t count;
    struct {
        char *key;
        char *value;
    } pairs[];
};

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *query_decode(const char *text, size_t len)
{
    char *out = malloc(len + 1);
    size_t used = 0;

    if (!out)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        char c = text[i] == '+' ? ' ' : text[i];
        if (c == '%') {
            if (len - i < 3 || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0)
                goto broken;
            c = (char)(digit(text[i + 1]) * 16 + digit(text[i + 2]));
            i += 2;
        }
        if (c == '\0')
            goto broken;
        out[used++] = c;
    }
    out[used] = '\0';
    return out;
broken:
    free(out);
    return NULL;
}

bool query_find(const char *target, const char *name, const char **ret, size_t *ret_len)
{
    const char *at = strchr(target, '?');
    size_t name_len = strlen(name);

    while (at && *at) {
        const char *piece = at + 1;
        size_t len = strcspn(piece, "&");
        if (len >= name_len && strncmp(piece, name, name_len) == 0 &&
            (len == name_len || piece[name_len] == '=')) {
            size_t skip = len == name_len ? name_len : name_len + 1;
            *ret = piece + skip;
            *ret_len = len - skip;
            return true;
        }
        at = piece + len;
    }
    return false;
}

bool query_get(const char *target, const char *name, char **ret)
{
    const char *value;
    size_t len;

    *ret = NULL;
    if (!query_find(target, name, &value, &len))
        return true;
    *ret = query_decode(value, len);
    return *ret != NULL;
}

void query_filter_del(struct query_filter *filter)
{
    if (!filter)
        return;
    for (size_t i = 0; i < filter->count; i++) {
        free(filter->pairs[i].key);
        free(filter->pairs[i].value);
    }
    free(filter);
}

static bool add_pair(struct query_filter *filter, const char *piece, size_t len)
{
    const char *equals = memchr(piece, '=', len);

    if (!equals || memchr(equals + 1, '=', len - (size_t)(equals + 1 - piece)))
        return false;
    char *key = query_decode(piece, (size_t)(equals - piece));
    char *value = query_decode(equals + 1, len - (size_t)(equals + 1 - piece));
    filter->pairs[filter->count].key = key;
    filter->pairs[filter->count].value = value;
    filter->count++;
    return key && value;
}

static struct query_filter *split(const char *text)
{
    size_t most = 1;

    for (const char *c = text; *c; c++)
        most += *c == '&';
    struct query_filter *filter = calloc(1, sizeof *filter + most * sizeof filter->pairs[0]);
    for (const char *piece = text; filter; piece++) {
        size_t len = strcspn(piece, "&");
        if (!add_pair(filter, piece, len)) {
            query_filter_del(filter);
            return NULL;
        }
        piece += len;
        if (!*piece)
            break;
    }
    return filter;
}

struct query_filter *query_filter_new(const char *value, size_t len)
{
    struct query_filter *filter = NULL;
    char *once = query_decode(value, len);
    char *twice = once ? query_decode(once, strlen(once)) : NULL;

    if (twice)
        filter = split(twice);
    free(once);
    free(twice);
    return filter;
}

bool query_filter_match(const struct query_filter *filter, const he2b_json *metadata)
{
    for (size_t i = 0; i < filter->count; i++) {
        const char *value = he2b_json_get_string(metadata, filter->pairs[i].key);
        if (!value || strcmp(value, filter->pairs[i].value) != 0)
            return false;
    }
    return true;
}
