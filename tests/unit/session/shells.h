/*
 * Runs a wrapper here, as a daemon would in a sandbox, with each shell as sh that is a template's
 * sh somewhere.
 */
#ifndef HE2B_TESTS_UNIT_SHELLS_H
#define HE2B_TESTS_UNIT_SHELLS_H

#include "session/wrapper.h"
#include "tests/unit/unit.h"

#include <sys/types.h>

#define WORD "0123456789abcdef"

enum {
    OUTPUT_MAX = 1 << 20, /* "ps auxeww" of a busy machine */
    DEADLINE_MS = 20000,
};

extern const struct he2b_tools all_tools;
extern const struct he2b_tools only_sh;

/* Of the commands: WORD, unless a test wants one that no other process of this machine has. */
extern const char *shells_word;

/* A started wrapper: its stdout and stderr as one pipe, as the daemon's two channels arrive. */
struct child {
    pid_t pid;
    int in;
    int out;
};

struct output {
    char bytes[OUTPUT_MAX];
    size_t len;
    int code; /* of the marker; -1: none */
    int status;
};

void spawn(struct child *child, const struct he2b_wrapper *wrapper);
/* Reads until the marker, or all, then waits for its end. */
void collect(struct child *child, struct output *output);
/* A command with shells_word, and nothing else. */
struct he2b_job job_of(const char *text, bool by_file);
/* This machine's. */
void boot_id(char out[64]);
/* It and what is in it. */
void remove_tree(const char *path);

/* Calls run with the name of each such shell that is here, as "sh" in PATH, and a folder that is
 * removed afterwards. Returns the sum of what run does. */
int shells_each(int (*run)(const char *name, const char *folder));

#endif
