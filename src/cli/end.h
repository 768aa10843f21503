/*
 * "hermes-e2b kill" and "hermes-e2b pause": a person ends what a sandbox does.
 */
#ifndef HE2B_CLI_END_H
#define HE2B_CLI_END_H

/* argv[0] is "kill" or "pause". Return the program's exit code. */
int kill_main(int argc, char **argv);
int pause_main(int argc, char **argv);

#endif
