/*
 * "hermes-e2b list": the sandboxes that this product made.
 */
#ifndef HE2B_CLI_LIST_H
#define HE2B_CLI_LIST_H

/* argv[0] is "list". Returns the program's exit code. */
int list_main(int argc, char **argv);

#endif
