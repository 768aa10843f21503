/*
 * The heads of link.h: a request's written, an answer's read.
 */
#ifndef HE2B_LOCAL_FORWARD_HEAD_H
#define HE2B_LOCAL_FORWARD_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_request;

/* Allocated JSON, at most LINK_HEAD_MAX bytes; NULL: too long (*too_long) or no memory. */
char *forward_head_write(const struct http_request *request, size_t *ret_len, bool *too_long);

/* Sets the answer's headers on the request. False if it is no head of an answer. *ret_length is -1
 * if the length is not known. */
bool forward_head_read(struct http_request *request, const char *text, size_t len,
                       unsigned *ret_status, int64_t *ret_length);

#endif
