/*
 * hermes-e2b, the command-line program: what its files share.
 */
#ifndef HE2B_CLI_CLI_H
#define HE2B_CLI_CLI_H

#include "he2b.h"

/* Exit codes of its own; a command's own code passes through. As docker run and timeout(1) have
 * them. */
enum cli_exit {
    CLI_USAGE = 2,
    CLI_TIMEOUT = 124,
    CLI_FAILED = 125, /* hermes-e2b failed before the command started */
    CLI_INTERRUPTED = 130,
    CLI_UNKNOWN = 255, /* how the command ended is not known */
};

/* "hermes-e2b: TEXT" on standard error. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The run subcommand; argv[0] is "run". */
int cli_run(int argc, char **argv);

#endif
