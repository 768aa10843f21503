/*
 * What stands on the command line of hermes-e2b.
 */
#ifndef HE2B_CLI_ARGS_H
#define HE2B_CLI_ARGS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* The program itself failed, or was told nonsense, before a command started: as docker run, env
     * and timeout have it. */
    ARGS_EXIT_OWN_FAILURE = 125,
};

enum args_action {
    ARGS_RUN = 1,
    ARGS_HELP = 2,
    ARGS_VERSION = 3,
};

struct args {
    enum args_action action;
    bool verbose;
    bool login;
    bool forward_stdin;
    const char *template_id; /* NULL: the library's default */
    const char *sandbox;     /* NULL: a new one */
    const char *cwd;         /* NULL: the library's default */
    int64_t timeout_ms;      /* 0: no limit */
    char *command;           /* the words of the command, joined with blanks; args_done() frees */
};

/* Reads argv. False after a message on stderr that says what is wrong. */
bool args_read(struct args *ret, int argc, char **argv);
void args_done(struct args *args);

/* What --help prints. */
void args_print_help(void);

#endif
