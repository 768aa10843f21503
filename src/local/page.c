#include "local/page.h"

#include "core/base64.h"
#include "he2b.h"

#include <stdio.h>
#include <string.h>

int page_compare(const struct page_place *a, const struct page_place *b, bool ascending)
{
    int64_t left = a->started / 1000;
    int64_t right = b->started / 1000;
    int newest_first = left != right ? (left > right ? -1 : 1) : strcmp(a->id, b->id);

    return ascending ? -newest_first : newest_first;
}

void page_token(char out[PAGE_TOKEN_SIZE], const struct page_place *last, bool ascending)
{
    char text[PAGE_TEXT_MAX];
    char at[STAMP_SIZE];

    stamp_format(at, last->started);
    int len = snprintf(text, sizeof text, "%s__%s%s", at, last->id, ascending ? "__asc" : "");
    he2b_base64_encode(out, text, (size_t)len);
    for (char *c = out; *c; c++) {
        if (*c == '+')
            *c = '-';
        else if (*c == '/')
            *c = '_';
    }
}

bool page_token_parse(struct page_place *ret, const char *token, bool ascending)
{
    char text[PAGE_TOKEN_SIZE + 3];
    size_t len = strlen(token);
    struct page_place place;

    if (len >= PAGE_TOKEN_SIZE || he2b_base64_decode(text, &len, token, len) != HE2B_OK ||
        memchr(text, '\0', len))
        return false;
    text[len] = '\0';
    char *id = strstr(text, "__");
    if (!id)
        return false;
    *id = '\0';
    id += 2;
    char *order = strstr(id, "__");
    if (ascending != (order && strcmp(order, "__asc") == 0) || (!ascending && order))
        return false;
    if (order)
        *order = '\0';
    if (!stamp_parse(&place.started, text) || strlen(id) > CREDENTIAL_ID_LEN ||
        !credential_id_shape(id, strlen(id), &len) || id[len] != '\0')
        return false;
    snprintf(place.id, sizeof place.id, "%s", id);
    *ret = place;
    return true;
}
