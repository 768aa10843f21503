/*
 * What a transfer does on a thread that may block on files. Until a worker was started it is its
 * transfer's alone, then the worker's until that has ended; what is atomic is both's.
 */
#ifndef HE2B_SESSION_TRANSFER_JOB_H
#define HE2B_SESSION_TRANSFER_JOB_H

#include "host/manifest.h"
#include "host/pull.h"
#include "host/push.h"
#include "host/recovery.h"

#include <stdatomic.h>

enum {
    HE2B_JOB_WHY_MAX = 480,
    /* Guards against a list of deletions that no memory holds. */
    HE2B_JOB_LIST_MAX = 64 * 1024 * 1024,
};

/* Texts of its own, NULL after the last. */
struct he2b_texts {
    char **all;
    size_t count;
    size_t room;
};

/* Returns HE2B_OK, HE2B_ERR_NOMEM. */
int he2b_texts_add(struct he2b_texts *texts, const char *text);
void he2b_texts_free(struct he2b_texts *texts);

struct he2b_transfer_job {
    atomic_int holders;
    atomic_bool cancelled;
    atomic_size_t files_moved;
    atomic_llong bytes_moved;

    char *home;
    char *sandbox_id;
    struct he2b_texts credentials;
    struct he2b_texts mirrored;
    int pipe; /* the worker's end, which it closes; -1: none */

    /* a push */
    struct he2b_push_file *files; /* with texts of their own */
    size_t count;
    size_t room;
    struct he2b_texts removed;
    struct he2b_manifest manifest; /* of what the sandbox has, and then has */
    struct he2b_buf list;          /* what is sent of removed */
    char *manifest_name;           /* on the way */
    struct he2b_push push;
    size_t single; /* number of the file that goes alone */
    struct he2b_push_single single_file;

    /* a recovery, a pull */
    char *prefix;
    int fd; /* where a pull goes; its own */
    bool keep;
    he2b_recovery *recovery;
    struct he2b_pull pull;
    struct he2b_fates fates; /* of a pull */
    int64_t received;

    /* what came of it */
    int result;
    char why[HE2B_JOB_WHY_MAX];
};

/* Returns HE2B_OK, HE2B_ERR_NOMEM. */
int he2b_job_new(struct he2b_transfer_job **ret, const char *home, const char *sandbox_id);
struct he2b_transfer_job *he2b_job_hold(struct he2b_transfer_job *job);
/* The last one to let go frees it. */
void he2b_job_let_go(void *job);

/* ---- for a worker; each ends by closing the pipe, and leaves result and why ---- */

void he2b_job_push(void *job);
/* The file with the number single, alone. */
void he2b_job_push_single(void *job);
void he2b_job_recover(void *job);
void he2b_job_pull(void *job);

#endif
