/*
 * What is left of a lease, as a person reads it.
 */
#ifndef HE2B_CLI_DURATION_H
#define HE2B_CLI_DURATION_H

#include <stddef.h>
#include <stdint.h>

/* "59s", "4m 05s", "23h 59m"; "0s" below one, "-" for INT64_MIN. */
void duration_text(char *out, size_t size, int64_t ms);

#endif
