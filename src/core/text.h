/*
 * Text from outside, made fit for a one-line message.
 */
#ifndef HE2B_CORE_TEXT_H
#define HE2B_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Copies at most size-1 bytes of text (len bytes, may hold anything) into out, NUL-terminated:
 * control characters, bidirectional controls and invalid UTF-8 become \xNN, white space around and
 * line breaks inside one space each; a text that does not fit ends in "...". Never splits a
 * character. size must be at least 4. Returns the length written.
 */
size_t he2b_text_line(char *out, size_t size, const char *text, size_t len);

/* True if text (len bytes) is valid UTF-8. */
bool he2b_text_is_utf8(const char *text, size_t len);

/*
 * Copies text (len bytes, may hold anything) into out as valid UTF-8, NUL-terminated: every byte
 * that is part of no character becomes U+FFFD, nothing else changes. A text that does not fit is
 * cut between characters; 3 * len + 1 bytes always suffice. Returns the length written.
 */
size_t he2b_text_utf8(char *out, size_t size, const char *text, size_t len);

#endif
