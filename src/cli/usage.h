/*
 * What the commands of hermes-e2b have in common on the command line.
 */
#ifndef HE2B_CLI_USAGE_H
#define HE2B_CLI_USAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Says what is wrong with the option that getopt_long() met: it answered option, ':' or '?'. */
void usage_wrong_option(const char *command, int option, char *const *argv);

/* Reads the options of a command that knows none but --help. True: go on with what stands behind
 * them, argv + optind. False: *code is what to end with. */
bool usage_help_only(const char *command, const char *help, int argc, char **argv, int *code);

/* Reads seconds, a decimal number, into milliseconds; false after a message. name: "--timeout". */
bool usage_seconds(const char *name, const char *text, int64_t *ret_ms);

/* False after a message if there is none, or more than one where one is meant. */
bool usage_ids(const char *command, char *const *words, bool several);

void usage_version(void);

#endif
