/*
 * What a sandbox alone has under skills/ and memories/ comes home (B-80 to B-87): each file of one
 * snapshot is restored, parked, or named. Two parts, so that nothing is written before the whole
 * archive and tar's messages are known: read() takes what this machine does not have into a file
 * without a name, apply() decides and writes.
 *
 * Blocking calls on files: never on a loop's thread. One thread at a time per object. Each call
 * returns HE2B_OK; HE2B_ERR_STEP, HE2B_ERR_NOMEM, HE2B_ERR_OVERFLOW or HE2B_ERR_PROTOCOL with a
 * line in he2b_recovery_why(): then nothing may be pushed (B-84, B-86), and what was written stays,
 * whole files all of them.
 */
#ifndef HE2B_HOST_RECOVERY_H
#define HE2B_HOST_RECOVERY_H

#include "core/sha256.h"
#include "host/archive.h"
#include "host/fates.h"

typedef struct he2b_recovery he2b_recovery;

struct he2b_recovery_options {
    const char *home;               /* the profile home, may be a link */
    const char *sandbox_id;         /* not trusted; names a folder of the quarantine */
    const char *prefix;             /* of members, before "skills/": "" or "home/user/.hermes/" */
    const char *const *credentials; /* see he2b_protected_new(); may be NULL */
    const char *const *mirrored;
    /* of a member beside the roots whose content is wanted as it is; NULL: none */
    const char *wanted;
    int64_t cap;    /* 0: HE2B_ARCHIVE_CAP; also of what is written */
    size_t members; /* 0: HE2B_ARCHIVE_MEMBERS_MAX */
};

/* Options are copied but for the lists' texts, which are not needed later. On failure *ret exists
 * too, for its why, unless it is HE2B_ERR_NOMEM. */
int he2b_recovery_new(he2b_recovery **ret, const struct he2b_recovery_options *options);
void he2b_recovery_del(he2b_recovery *recovery);

/* Reads the snapshot to its end. Once. */
int he2b_recovery_read(he2b_recovery *recovery, he2b_archive_source_fn source, void *user);
/* What tar said beside it (host/tar_notes.h). After read(). */
int he2b_recovery_notes(he2b_recovery *recovery, const char *text, size_t len);
/* Whether the snapshot has a file at path ("skills/x"), and the hash of its content. */
bool he2b_recovery_has(const he2b_recovery *recovery, const char *path,
                       uint8_t ret_sum[HE2B_SHA256_SIZE]);
/* The content of the member that was wanted; 0 bytes: it was not there, or is larger than
 * HE2B_MANIFEST_MAX. As long as the recovery. */
const char *he2b_recovery_wanted(const he2b_recovery *recovery, size_t *ret_len);
/* B-75 deletes path in the sandbox: it is not restored. A path that is not there is fine. */
void he2b_recovery_leave(he2b_recovery *recovery, const char *path);
/* Restores and parks, and sees to it that it is on the disk. Once. */
int he2b_recovery_apply(he2b_recovery *recovery);

const struct he2b_fates *he2b_recovery_fates(const he2b_recovery *recovery);
/* One line for people without control bytes; "" while nothing failed. */
const char *he2b_recovery_why(const he2b_recovery *recovery);

#endif
