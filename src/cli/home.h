/*
 * The home folder of Hermes, where its sessions keep their locks.
 */
#ifndef HE2B_CLI_HOME_H
#define HE2B_CLI_HOME_H

#include <stdbool.h>
#include <stddef.h>

/* HERMES_HOME, else ~/.hermes. False if neither is known, or it does not fit. */
bool home_path(char *out, size_t size);

#endif
