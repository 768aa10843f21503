/*
 * "hermes-e2b show": what the server says of one sandbox.
 */
#ifndef HE2B_CLI_SHOW_H
#define HE2B_CLI_SHOW_H

/* argv[0] is "show". Returns the program's exit code. */
int show_main(int argc, char **argv);

#endif
