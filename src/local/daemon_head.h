/*
 * The heads of the link (link.h): a request's read, an answer's written.
 */
#ifndef HE2B_LOCAL_DAEMON_HEAD_H
#define HE2B_LOCAL_DAEMON_HEAD_H

#include "core/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct daemon_head {
    he2b_json *json;
    /* inside json */
    const char *method;
    const char *target;
    /* decoded, without the query; "" if it cannot be decoded or is longer than any that is served
     */
    char path[256];
};

/* False if it is no head of a request; then *ret holds nothing. */
bool daemon_head_read(struct daemon_head *ret, const char *text, size_t len);
void daemon_head_free(struct daemon_head *head);
/* exchange_query() */
bool daemon_head_query(const struct daemon_head *head, const char *name, char *out, size_t size);

/*
 * headers: object of strings, taken over; NULL: none. length -1: not known. Allocated JSON; NULL:
 * no memory, or longer than LINK_HEAD_MAX.
 */
char *daemon_head_write(int status, he2b_json *headers, int64_t length);

#endif
