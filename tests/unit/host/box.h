/*
 * A home of its own for each test of host, and children that play other processes.
 */
#ifndef HE2B_TESTS_BOX_H
#define HE2B_TESTS_BOX_H

#include "host/files.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
    /* A step that should take milliseconds has failed after this; also the life of a child. */
    BOX_DEADLINE_SECONDS = 60,
    /* What a child exits with where it cannot become a normal user. */
    BOX_SKIP = 77,
};

struct box {
    char home[64];
    char folder[96]; /* of the coordination files; not made */
    struct he2b_host_files files;
};

/* set-up and tear-down of cmocka */
int box_make(void **state);
int box_drop(void **state);

/* Makes <home>/cache/e2b with this mode, whoever the user is. */
void box_make_folder(const struct box *box, mode_t mode);
/* The whole file, at most 1023 bytes of it, as text. */
void box_read(const char *path, char ret[1024]);
void box_write(const char *path, const char *text, mode_t mode);
/* Entries of the folder but for "." and "..". */
int box_entries(const struct box *box);

/* A process of its own, and a pipe each way. */
struct box_child {
    pid_t pid;
    int in;  /* what it says */
    int out; /* what it hears */
};

/* What a child runs: it says and hears bytes, and exits with what this returns. */
typedef int (*box_program)(struct box *box, int in, int out);

/* Runs program in a child; as a normal user if normal (root gives it the home first). */
void box_start(struct box_child *ret, struct box *box, box_program program, bool normal);
/* The next byte that comes from fd; -1 at its end and after the deadline. */
int box_hear(int fd);
void box_say(int fd, int byte);
/* Closes the pipes and waits; returns the exit code, or -N for signal N. */
int box_end(struct box_child *child);
/* box_start() and box_end() of a normal user; skips the test if root cannot become one. Fails it
 * unless program returns 0. */
void box_as_normal_user(struct box *box, box_program program);

/* In a child there is no cmocka: says what is wrong and returns 1. */
#define BOX_CHECK(condition)                                                                       \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return box_complain(__FILE__, __LINE__, #condition);                                   \
    } while (0)
int box_complain(const char *file, int line, const char *condition);

#endif
