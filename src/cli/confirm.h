/*
 * Questions to the person at the terminal.
 */
#ifndef HE2B_CLI_CONFIRM_H
#define HE2B_CLI_CONFIRM_H

#include <stdbool.h>

/* True if there is somebody to ask: standard input is a terminal. */
bool confirm_possible(void);

/* Asks on stderr; true for y or yes. Texts in it must be safe for a terminal. */
bool confirm(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
