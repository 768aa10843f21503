/*
 * Parameters of header values like "form-data; name=\"a\"; filename*=UTF-8''b" (RFC 2045 5.1, RFC
 * 2231), as the service's daemon reads them (wire D.3): backslash escapes are undone, %22 is not.
 */
#ifndef HE2B_LOCAL_DAEMON_DISPOSITION_H
#define HE2B_LOCAL_DAEMON_DISPOSITION_H

#include <stddef.h>

enum disposition_found {
    DISPOSITION_ABSENT, /* out is "" */
    DISPOSITION_FOUND,
    DISPOSITION_TOO_LONG, /* size bytes do not hold it; out is "" */
};

/* The value of a parameter (its name in any case), without quotes and escapes. */
enum disposition_found disposition_parameter(const char *text, const char *name, char *out,
                                             size_t size);

/* filename*, decoded, or else filename. */
enum disposition_found disposition_filename(const char *text, char *out, size_t size);

#endif
