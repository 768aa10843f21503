/*
 * Whether the home folder of Hermes can be used, and locks in it work.
 */
#ifndef HE2B_CLI_HOME_CHECK_H
#define HE2B_CLI_HOME_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Both write one line about it; false: it cannot be used, and the line says why. */

/* A folder that is not there is fine: Hermes makes it. */
bool home_check_folder(char *out, size_t size);

/* Locks a file of its own in the folder where sessions keep theirs, and removes it; where that
 * folder is not there yet, in the nearest one that is. */
bool home_check_locks(char *out, size_t size);

#endif
