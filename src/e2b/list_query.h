/*
 * The query of a list (wire A.7), whose metadata filter is decoded three times by the server.
 */
#ifndef HE2B_E2B_LIST_QUERY_H
#define HE2B_E2B_LIST_QUERY_H

#include "core/buf.h"

struct he2b_list_pair {
    const char *key;
    const char *value;
};

/* Appends text with all but unreserved characters as %XX. HE2B_OK or what he2b_buf_add() returns.
 */
int he2b_percent(struct he2b_buf *out, const char *text);

/* Appends pairs, in the form in which they stand behind "metadata=". As above. */
int he2b_list_metadata(struct he2b_buf *out, const struct he2b_list_pair *pairs, size_t count);

#endif
