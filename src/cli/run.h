/*
 * "hermes-e2b run": one command in a sandbox of its own.
 */
#ifndef HE2B_CLI_RUN_H
#define HE2B_CLI_RUN_H

#include "cli/args.h"

/* Returns the program's exit code, as --help lists them. */
int run_command(const struct args *args);

#endif
