/*
 * The files of a recovery's snapshot: their names, and the content of those that this machine does
 * not have already (host/recovery.h).
 */
#ifndef HE2B_HOST_SNAPSHOT_H
#define HE2B_HOST_SNAPSHOT_H

#include "core/buf.h"
#include "host/archive.h"
#include "host/fates.h"
#include "host/names.h"

enum {
    HE2B_SNAPSHOT_WHY_MAX = 480,
    /* Guards against an archive of long names. */
    HE2B_SNAPSHOT_NAMES_MAX = 64 * 1024 * 1024,
};

struct he2b_snapshot_file {
    char *path; /* below the home, plain */
    uint8_t sum[HE2B_SHA256_SIZE];
    int64_t size;
    int64_t at; /* where its content is in the spool; -1: the host had the very same */
    int64_t mtime_s;
    long mtime_ns;
    mode_t mode;
    size_t target; /* the one that this is a hard link to, or its own number */
    bool changed;  /* while it was read */
    bool leave;    /* see he2b_recovery_leave() */
};

struct he2b_snapshot {
    int home; /* the physical home; borrowed */
    const char *prefix;
    struct he2b_fates *fates;
    int spool; /* -1: nothing was kept yet */
    int64_t spooled;
    struct he2b_snapshot_file *files;
    const char *wanted; /* name of a member whose content is kept apart; "": none. Borrowed. */
    struct he2b_buf wanted_text;
    size_t count;
    size_t room;
    size_t names_size;
    struct he2b_names by_path; /* the last one of each path */
    char why[HE2B_SNAPSHOT_WHY_MAX];
};

void he2b_snapshot_init(struct he2b_snapshot *snapshot, int home, const char *prefix,
                        struct he2b_fates *fates);
void he2b_snapshot_free(struct he2b_snapshot *snapshot);
/* Returns as he2b_recovery_read(), with snapshot->why. */
int he2b_snapshot_read(struct he2b_snapshot *snapshot, he2b_archive *archive);
/* Reads up to len bytes of the spool. Returns 0 or the errno. */
int he2b_snapshot_get(const struct he2b_snapshot *snapshot, int64_t at, void *into, size_t len);
/* The path below the home that a member's name means, or NULL: not one of a recoverable root. */
const char *he2b_snapshot_path(const struct he2b_snapshot *snapshot, const char *name);

#endif
