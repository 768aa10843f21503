/*
 * The whole of what a sandbox has, for somebody who reads tar and trusts it (B-91): of an archive
 * that nobody may trust, only regular files with safe names, written anew (B-87).
 *
 * Blocking calls on files: never on a loop's thread.
 */
#ifndef HE2B_HOST_PULL_H
#define HE2B_HOST_PULL_H

#include "host/archive.h"
#include "host/fates.h"

enum {
    HE2B_PULL_WHY_MAX = 480,
};

/* Told after each file; not 0 ends the pull with HE2B_ERR_CANCELLED. */
typedef int (*he2b_pull_progress_fn)(void *user, size_t files, int64_t bytes);

struct he2b_pull {
    int fd;             /* of a regular file, to write and to read; written from where it stands */
    const char *prefix; /* that members must have, as "home/user/.hermes/" */
    int64_t cap;        /* 0: HE2B_ARCHIVE_CAP; of the archive inflated, and of what is written */
    size_t members;     /* 0: HE2B_ARCHIVE_MEMBERS_MAX */
    he2b_pull_progress_fn progress; /* may be NULL */
    void *progress_user;
    /* what came of it */
    struct he2b_fates *fates; /* the names that were left out; borrowed */
    size_t files;
    int64_t bytes; /* of their content */
    char why[HE2B_PULL_WHY_MAX];
};

/*
 * Reads the archive to its end. What stands in the file ends in an end mark only if all went well.
 * Returns HE2B_OK; HE2B_ERR_STEP (the file), HE2B_ERR_PROTOCOL, HE2B_ERR_OVERFLOW,
 * HE2B_ERR_CANCELLED, HE2B_ERR_NOMEM, with why.
 */
int he2b_pull_read(struct he2b_pull *pull, he2b_archive_source_fn source, void *user);
/* An archive of nothing. Returns HE2B_OK, HE2B_ERR_STEP with why. */
int he2b_pull_nothing(struct he2b_pull *pull);

#endif
