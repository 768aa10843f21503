/*
 * The escape in what a person types into a terminal, as ssh(1) has it: a "~" that is the first key
 * of a line, and the key after it.
 */
#ifndef HE2B_CLI_ESCAPE_H
#define HE2B_CLI_ESCAPE_H

#include <stddef.h>

enum escape_place {
    ESCAPE_LINE_START = 0,
    ESCAPE_IN_LINE = 1,
    ESCAPE_TILDE = 2, /* held back until the next key */
};

enum escape_found {
    ESCAPE_NONE = 0,
    ESCAPE_DETACH = 1, /* ~. */
    ESCAPE_HELP = 2,   /* ~? */
};

/* All zeros: at the start of a line. */
struct escape {
    enum escape_place place;
};

/*
 * Reads typed, len bytes, into out, which has room for len + 1: what goes to the sandbox. Stops
 * behind an escape, which does not. Returns it; *ret_used and *ret_len tell how much of each.
 */
enum escape_found escape_read(struct escape *escape, const char *typed, size_t len,
                              size_t *ret_used, char *out, size_t *ret_len);

#endif
