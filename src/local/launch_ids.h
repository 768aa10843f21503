/*
 * Which host ids a sandbox's 65,536 ids are, and writing them into a user namespace.
 * user_namespaces(7), subuid(5), newuidmap(1).
 */
#ifndef HE2B_LOCAL_LAUNCH_IDS_H
#define HE2B_LOCAL_LAUNCH_IDS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    LAUNCH_IDS_COUNT = 65536,
    /* Inside: the user of E2B's templates. */
    LAUNCH_IDS_USER = 1000,
    /* The host ids that root takes: far above what distributions give to people and subuids. */
    LAUNCH_IDS_ROOT_BASE = 1900000000,
};

struct launch_ids {
    /* false: single-id mode, the sandbox has the caller's id alone */
    bool many;
    /* root writes maps itself; anybody else through newuidmap and newgidmap */
    bool privileged;
    /* host ids of uid 0 and gid 0 inside, when many */
    unsigned uid_base;
    unsigned gid_base;
    char newuidmap[PATH_MAX];
    char newgidmap[PATH_MAX];
    /* why not many, one sentence with what to do; "" if many */
    char why[512];
};

/* Looks at the caller's ids, /etc/subuid, /etc/subgid and the two programs. */
void launch_ids_find(struct launch_ids *ret);

/* Single-id mode, for a reason found later. */
void launch_ids_single(struct launch_ids *ids, const char *why);

enum launch_ids_map {
    /* n inside is base + n; single: 0 is the caller */
    LAUNCH_IDS_SANDBOX,
    /* 0 inside is the caller, n + 1 is base + n: for making and deleting folders */
    LAUNCH_IDS_FOLDER,
};

/*
 * Writes the maps of pid, which has just called unshare(CLONE_NEWUSER) and waits. Takes a few
 * milliseconds where newuidmap is run. Returns 0, or -1 with one line in why.
 */
int launch_ids_write(const struct launch_ids *ids, enum launch_ids_map map, pid_t pid, char *why,
                     size_t why_size);

#endif
