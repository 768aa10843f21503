/*
 * What stands on the command line of "hermes-e2b run".
 */
#ifndef HE2B_CLI_RUN_ARGS_H
#define HE2B_CLI_RUN_ARGS_H

#include <stdbool.h>
#include <stdint.h>

struct run_args {
    bool verbose;
    bool login;
    bool forward_stdin;
    const char *template_id; /* NULL: the library's default */
    const char *sandbox;     /* NULL: a new one */
    const char *cwd;         /* NULL: the library's default */
    int64_t timeout_ms;      /* 0: no limit */
    char *command; /* the words of the command, joined with blanks; run_args_done() frees */
};

enum run_args_outcome {
    RUN_ARGS_RUN = 1,
    RUN_ARGS_TOLD = 2,  /* --help or --version: it is printed */
    RUN_ARGS_WRONG = 3, /* a message says what */
};

/* Reads argv, whose first word is "run". */
enum run_args_outcome run_args_read(struct run_args *ret, int argc, char **argv);
void run_args_done(struct run_args *args);

#endif
