/*
 * Page tokens of the list (wire A.7): base64url of "<RFC 3339>__<id>", with "__asc" behind it for
 * the ascending order.
 */
#ifndef HE2B_LOCAL_PAGE_H
#define HE2B_LOCAL_PAGE_H

#include "local/credential.h"
#include "local/stamp.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PAGE_TEXT_MAX = STAMP_SIZE + 2 + CREDENTIAL_ID_LEN + 5,
    PAGE_TOKEN_SIZE = (PAGE_TEXT_MAX + 2) / 3 * 4 + 1
};

/* The place of an item in the list: the start of its run and its id. */
struct page_place {
    int64_t started;
    char id[CREDENTIAL_ID_LEN + 1];
};

/*
 * Order of the list: newest first, by microseconds, then by id; ascending is the exact reverse.
 * Below 0 if a comes before b.
 */
int page_compare(const struct page_place *a, const struct page_place *b, bool ascending);

void page_token(char out[PAGE_TOKEN_SIZE], const struct page_place *last, bool ascending);
/* False for garbage and for a token of the other order. */
bool page_token_parse(struct page_place *ret, const char *token, bool ascending);

#endif
