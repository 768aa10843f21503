/*
 * What of a profile home is never written from a sandbox's data, and never sent into one (B-74,
 * B-83): credential files and the folders that hold them, config.yaml, .env, platforms/, mirrored
 * cache trees, cache/e2b.
 *
 * Blocking calls on files: never on a loop's thread.
 */
#ifndef HE2B_HOST_PROTECTED_H
#define HE2B_HOST_PROTECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct he2b_protected_tree {
    char *path; /* absolute, without links as far as it exists */
    dev_t device;
    ino_t inode;
    bool exists;
};

struct he2b_protected {
    char *home; /* the physical one */
    struct he2b_protected_tree *trees;
    size_t count;
};

/*
 * home: the profile home, may be a link. credentials: paths on this machine that Hermes maps as
 * credential files; mirrored: folders that it mirrors; both absolute or relative to home, NULL at
 * the end, may be NULL. Returns 0 or the errno; free() is due only after 0.
 */
int he2b_protected_new(struct he2b_protected *ret, const char *home, const char *const *credentials,
                       const char *const *mirrored);
void he2b_protected_free(struct he2b_protected *protected);

/* Where sandbox copies are parked, below the home. */
#define HE2B_QUARANTINE "cache/e2b-recovered"

/* Whether path (relative to the physical home, plain) is one of them or in one. parking: those that
 * hold the whole quarantine do not count. */
bool he2b_protected_has(const struct he2b_protected *protected, const char *path, bool parking);
/* Whether a folder is one of them, by what it is and not by its name (a bind mount, a file system
 * that ignores case). */
bool he2b_protected_is(const struct he2b_protected *protected, const struct stat *folder,
                       bool parking);

/* Whether path, through links, is home's .env or config.yaml: they are never sent (B-74). */
bool he2b_protected_is_own(const char *home, const char *path);

#endif
