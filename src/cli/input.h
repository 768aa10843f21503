/*
 * This program's standard input, read to its end: a command's stdin has a known length (B-45).
 */
#ifndef HE2B_CLI_INPUT_H
#define HE2B_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>

enum {
    /* All of it is held in memory until the command has it. */
    INPUT_MAX = 256 * 1024 * 1024,
};

struct input {
    char *data;
    size_t len;
};

/* Reads fd to its end. False after a message on stderr: it cannot be read, or is above INPUT_MAX.
 */
bool input_read(struct input *ret, int fd);
void input_done(struct input *input);

#endif
