/*
 * "hermes-e2b shell": an interactive terminal in a sandbox.
 */
#ifndef HE2B_CLI_SHELL_H
#define HE2B_CLI_SHELL_H

/* argv[0] is "shell". Returns the program's exit code. */
int shell_main(int argc, char **argv);

#endif
