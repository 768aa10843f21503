/*
 * "hermes-e2b run": one command in a sandbox of its own.
 */
#ifndef HE2B_CLI_RUN_H
#define HE2B_CLI_RUN_H

/* argv[0] is "run". Returns the program's exit code, as its --help lists them. */
int run_main(int argc, char **argv);

#endif
