/*
 * A person's time at a terminal in a sandbox: from the start of the shell there to its end, or
 * until the person leaves it.
 */
#ifndef HE2B_CLI_SITTING_H
#define HE2B_CLI_SITTING_H

#include "cli/server.h"

/* Standard input is a terminal that raw_mode_open() knows. Returns the program's exit code, with
 * the terminal as it was. */
int sitting(struct server *server, const char *id);

#endif
