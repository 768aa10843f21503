/*
 * What a user can do about a call of which no byte was sent (B-49, B-101).
 */
#ifndef HE2B_E2B_UNREACHED_H
#define HE2B_E2B_UNREACHED_H

#include "net/http.h"

#include <stddef.h>

/*
 * For a result whose end is HE2B_HTTP_UNREACHABLE, _UNTRUSTED or _NOT_SENT: HE2B_ERR_UNREACHABLE or
 * HE2B_ERR_TLS, and in hint, of size bytes, what to check or set. setting: the variable that the
 * URL may come from.
 */
int he2b_unreached(const struct he2b_http_result *result, const char *setting, char *hint,
                   size_t size);

#endif
