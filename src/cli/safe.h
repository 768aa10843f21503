/*
 * Texts of a server, made fit for a terminal (B-100).
 */
#ifndef HE2B_CLI_SAFE_H
#define HE2B_CLI_SAFE_H

#include <stddef.h>

/*
 * Copies text into out, NUL-terminated: control characters, bidirectional controls and bytes that
 * are no UTF-8 become \xNN. What does not fit is left out, never half a character. Returns the
 * number of characters, which is what a column is aligned by.
 */
size_t safe_text(char *out, size_t size, const char *text);

#endif
