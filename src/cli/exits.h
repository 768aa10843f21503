/*
 * The exit codes of hermes-e2b that are its own (docs/hermes-e2b.1).
 */
#ifndef HE2B_CLI_EXITS_H
#define HE2B_CLI_EXITS_H

enum {
    /* What was asked for was not done: no such sandbox, not confirmed, in use; doctor: a FAIL. */
    EXIT_NOT_DONE = 1,
    /* The program itself failed, or was told nonsense, before a command started: as docker run, env
     * and timeout have it. */
    EXIT_OWN_FAILURE = 125,
    /* A command started, or may have, and how it ended is not known. */
    EXIT_NOT_KNOWN = 255,
};

#endif
