/*
 * The query of a request's target, and the metadata filter in it, whose keys and values are encoded
 * three times in all (wire A.7).
 */
#ifndef HE2B_LOCAL_QUERY_H
#define HE2B_LOCAL_QUERY_H

#include "core/json.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Percent-decoding with "+" for a space, as in a query. Returns an allocated string, or NULL: a
 * broken escape, a NUL, or no memory.
 */
char *query_decode(const char *text, size_t len);

/* The value of the first parameter of that name as it was sent, borrowed; false if there is none.
 */
bool query_find(const char *target, const char *name, const char **ret, size_t *ret_len);

/* As above, decoded and allocated. *ret is NULL if there is no such parameter. False if it cannot
 * be decoded. */
bool query_get(const char *target, const char *name, char **ret);

struct query_filter;

/* value: as it was sent (encoded three times). NULL: "Error parsing metadata" (an empty filter, a
 * piece without exactly one "=", a broken escape), or no memory. */
struct query_filter *query_filter_new(const char *value, size_t len);
void query_filter_del(struct query_filter *filter);

/* True if every pair of the filter is in the metadata, which may be NULL. */
bool query_filter_match(const struct query_filter *filter, const he2b_json *metadata);

#endif
