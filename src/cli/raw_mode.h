/*
 * The person's terminal in raw mode, in which every key goes to the sandbox, and back.
 */
#ifndef HE2B_CLI_RAW_MODE_H
#define HE2B_CLI_RAW_MODE_H

#include <stdbool.h>

/*
 * Notes how the terminal on fd is now, and sees to it that a crash of the program puts it back like
 * that. Once per program. False with errno set: it is no terminal.
 */
bool raw_mode_open(int fd);
/* False with errno set. Does nothing while another program has the terminal. */
bool raw_mode_on(void);
/* As it was; harmless when it is. */
void raw_mode_off(void);
/* The window's size in characters; 0 if it has none. */
void raw_mode_size(unsigned *ret_cols, unsigned *ret_rows);

#endif
