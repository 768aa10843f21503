/*
 * Times as E2B writes them (wire A.7): RFC 3339 with up to nine digits of a fraction.
 */
#ifndef HE2B_CORE_RFC3339_H
#define HE2B_CORE_RFC3339_H

#include <stdbool.h>
#include <stdint.h>

/* Microseconds since 1970 (UTC). False, with *ret untouched, if text is no such time. */
bool he2b_rfc3339(const char *text, int64_t *ret);

#endif
