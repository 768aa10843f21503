/*
 * "hermes-e2b connect": a sandbox is woken, or its lease extended.
 */
#ifndef HE2B_CLI_CONNECT_H
#define HE2B_CLI_CONNECT_H

/* argv[0] is "connect". Returns the program's exit code. */
int connect_main(int argc, char **argv);

#endif
