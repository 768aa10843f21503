#include "cli/escape.h"

enum escape_found escape_read(struct escape *escape, const char *typed, size_t len,
                              size_t *ret_used, char *out, size_t *ret_len)
{
    enum escape_found found = ESCAPE_NONE;
    size_t used = 0;
    size_t n = 0;

    while (used < len && found == ESCAPE_NONE) {
        char key = typed[used++];

        if (escape->place == ESCAPE_LINE_START && key == '~') {
            escape->place = ESCAPE_TILDE;
            continue;
        }
        if (escape->place == ESCAPE_TILDE) {
            if (key == '.')
                found = ESCAPE_DETACH;
            else if (key == '?')
                found = ESCAPE_HELP;
            else if (key != '~')
                out[n++] = '~';
        }
        if (found == ESCAPE_NONE)
            out[n++] = key;
        /* Ctrl-C and Ctrl-D begin a line too: a shell that hangs is left by them and "~." */
        escape->place = key == '\r' || key == '\n' || key == 3 || key == 4 || found != ESCAPE_NONE
                            ? ESCAPE_LINE_START
                            : ESCAPE_IN_LINE;
    }
    *ret_used = used;
    *ret_len = n;
    return found;
}
