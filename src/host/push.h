/*
 * The files of this machine that go into a sandbox, as one compressed archive (B-71, B-72, B-74).
 *
 * Blocking calls on files and on the sink: never on a loop's thread.
 */
#ifndef HE2B_HOST_PUSH_H
#define HE2B_HOST_PUSH_H

#include "host/archive.h"
#include "host/manifest.h"

struct he2b_push_file {
    const char *host; /* where it is on this machine; read through links */
    const char *path; /* below the remote .hermes, plain */
    enum he2b_manifest_kind kind;
};

enum {
    HE2B_PUSH_WHY_MAX = 480,
};

/* Told after each file; not 0 ends the push with HE2B_ERR_CANCELLED. bytes: of the files' content.
 * May be NULL. */
typedef int (*he2b_push_progress_fn)(void *user, size_t files, int64_t bytes);

struct he2b_push {
    const char *home;   /* whose .env and config.yaml never go (B-74) */
    const char *prefix; /* of the members' names; NULL: none */
    /* a text that goes before the files, under this name; NULL: none */
    const char *first_name;
    const void *first;
    size_t first_len;
    const char *manifest_name; /* under which the manifest goes, last of all; NULL: it does not */
    he2b_archive_sink_fn sink;
    void *sink_user;
    he2b_push_progress_fn progress;
    void *progress_user;
    /* what came of it */
    size_t sent;
    size_t missing; /* vanished, unreadable, or no regular files: not in the archive */
    size_t changed; /* while they were read: the archive has something of them */
    size_t own;     /* left out by B-74 */
    int64_t bytes;
    char hash[HE2B_SHA256_HEX_MAX]; /* of the manifest that went */
    char
        why[HE2B_PUSH_WHY_MAX]; /* of the first one that is missing or changed, or of the failure */
};

/*
 * Sends files; those that went unchanged are put into manifest with their hashes (NULL: none is
 * kept). One that could not be sent stops nothing: the caller decides whether a push with missing
 * or changed files counts. Returns HE2B_OK (the archive is whole), HE2B_ERR_CANCELLED,
 * HE2B_ERR_NOMEM, HE2B_ERR_STEP (the sink failed).
 */
int he2b_push_files(struct he2b_push *push, const struct he2b_push_file *files, size_t count,
                    struct he2b_manifest *manifest);

/* What one file alone came to. */
struct he2b_push_single {
    bool there; /* it went, whole or changed */
    mode_t mode;
    int64_t mtime_s;
};

/*
 * Sends the content of one file alone, as it is, for a sandbox that has no tar; he2b_push_files()
 * in all else, and counted on from what push holds. Returns HE2B_OK, HE2B_ERR_NOMEM, HE2B_ERR_STEP.
 */
int he2b_push_one(struct he2b_push *push, const struct he2b_push_file *file,
                  struct he2b_manifest *manifest, struct he2b_push_single *ret);

#endif
