/*
 * The processes below another one, held by pidfd so that their end can be waited for.
 */
#ifndef HE2B_TESTS_LAUNCH_TREE_H
#define HE2B_TESTS_LAUNCH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    TREE_MAX = 64,
    TREE_NAME_MAX = 16
};

struct tree {
    size_t n;
    struct {
        pid_t pid;
        int pidfd;
        /* /proc/PID/comm */
        char name[TREE_NAME_MAX];
    } of[TREE_MAX];
};

/* All children of pid, theirs and so on; pid itself is not in it. */
void tree_take(struct tree *ret, pid_t pid);

/* The first of that name, or -1. */
pid_t tree_find(const struct tree *tree, const char *name);

/* Waits till all have ended; false if one still runs after ms. */
bool tree_wait_gone(const struct tree *tree, int ms);

void tree_done(struct tree *tree);

#endif
