/*
 * What the program says on stderr: one line each, "hermes-e2b: ...".
 */
#ifndef HE2B_CLI_MESSAGE_H
#define HE2B_CLI_MESSAGE_H

#include "he2b.h"

/* Control bytes of what is shown come out as \xNN, so that no text can drive the terminal. */
void message_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A failure of the library, with what a person at a shell can do about it. */
void message_failure(const he2b_failure *failure);

/* he2b_log_fn; user is a bool *: everything if it is true, else warnings and errors. */
void message_log(void *user, int level, const char *text);

#endif
