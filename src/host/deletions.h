/*
 * What was deleted on the host while nothing ran, and so is to be deleted in the sandbox when a
 * session brings it up (B-75).
 */
#ifndef HE2B_HOST_DELETIONS_H
#define HE2B_HOST_DELETIONS_H

#include "host/manifest.h"
#include "host/names.h"
#include "host/recovery.h"

/* Paths below .hermes, sorted. */
struct he2b_deletions {
    char **paths;
    size_t count;
    bool no_skills; /* the host's folder is missing or empty: nothing in it was taken for deleted */
    bool no_memories;
};

/*
 * before: the manifest that the sandbox has; now: the paths that Hermes' manager works from now;
 * snapshot: read, with its notes, not yet applied: what is deleted is left out of it; home: the
 * profile home. Credentials that are gone are deleted; skills and memories that are gone and
 * unchanged in the snapshot; nothing else. Returns HE2B_OK, HE2B_ERR_NOMEM.
 */
int he2b_deletions_find(struct he2b_deletions *ret, const struct he2b_manifest *before,
                        const struct he2b_names *now, he2b_recovery *snapshot, const char *home);
void he2b_deletions_free(struct he2b_deletions *deletions);

#endif
