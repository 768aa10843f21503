/*
 * "hermes-e2b list": the sandboxes that this product made.
 */
#ifndef HE2B_CLI_LIST_H
#define HE2B_CLI_LIST_H

#include "he2b.h"

/* Prints those in this state; NULL: all. */
void list_print_table(const char *state, const he2b_sandbox_info *const *items, size_t count);

/* argv[0] is "list". Returns the program's exit code. */
int list_main(int argc, char **argv);

#endif
