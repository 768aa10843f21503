/*
 * UTF-8, one character at a time.
 */
#ifndef HE2B_CLI_UTF8_H
#define HE2B_CLI_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at text (not its end), its code point in *ret; 0 if it is none. */
size_t utf8_next(const char *text, uint32_t *ret);

#endif
