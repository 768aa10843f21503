/*
 * The exit code that a daemon's end event tells (B-41, wire C.9).
 */
#ifndef HE2B_E2B_EXIT_CODE_H
#define HE2B_E2B_EXIT_CODE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * 0 to 255; death by signal N is 128+N. given: the event has a code; if it has none, it is 0,
 * unless the rest says otherwise (FB-01). status, error: "exit status 3", "signal: killed"; NULL
 * where the event has none.
 */
int he2b_exit_code(bool given, int64_t code, const char *status, const char *error);

#endif
