#include "launch_tree.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void add(struct tree *tree, pid_t pid)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0 || tree->n == TREE_MAX)
        return;
    char path[64];
    char name[TREE_NAME_MAX] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        if (fgets(name, sizeof name, file) != NULL)
            name[strcspn(name, "\n")] = '\0';
        fclose(file);
    }
    tree->of[tree->n].pid = pid;
    tree->of[tree->n].pidfd = pidfd;
    memcpy(tree->of[tree->n].name, name, sizeof name);
    tree->n++;
}

static void take_children(struct tree *tree, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *file = fopen(path, "re");
    int child;
    while (file != NULL && fscanf(file, "%d", &child) == 1)
        add(tree, child);
    if (file != NULL)
        fclose(file);
}

void tree_take(struct tree *ret, pid_t pid)
{
    ret->n = 0;
    take_children(ret, pid);
    for (size_t i = 0; i < ret->n; i++)
        take_children(ret, ret->of[i].pid);
}

pid_t tree_find(const struct tree *tree, const char *name)
{
    for (size_t i = 0; i < tree->n; i++) {
        if (strcmp(tree->of[i].name, name) == 0)
            return tree->of[i].pid;
    }
    return -1;
}

bool tree_wait_gone(const struct tree *tree, int ms)
{
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (size_t i = 0; i < tree->n; i++) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        long spent = (now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000;
        struct pollfd gone = {.fd = tree->of[i].pidfd, .events = POLLIN};
        if (poll(&gone, 1, spent < ms ? (int)(ms - spent) : 0) != 1) {
            fprintf(stderr, "still there: %s (%d)\n", tree->of[i].name, (int)tree->of[i].pid);
            return false;
        }
    }
    return true;
}

void tree_done(struct tree *tree)
{
    for (size_t i = 0; i < tree->n; i++)
        close(tree->of[i].pidfd);
    tree->n = 0;
}
