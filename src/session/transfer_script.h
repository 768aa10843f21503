/*
 * The short shell texts that a transfer runs in a sandbox (B-71, B-75, B-86). Each is one Start.
 */
#ifndef HE2B_SESSION_TRANSFER_SCRIPT_H
#define HE2B_SESSION_TRANSFER_SCRIPT_H

#include "core/buf.h"
#include "host/push.h"

enum {
    /* sh -c script name, six arguments, and the NULL */
    HE2B_TRANSFER_ARGS = 10,
    /* exit codes */
    HE2B_TRANSFER_NO_TAR = 43,    /* nothing was done */
    HE2B_TRANSFER_NO_FOLDER = 44, /* .hermes cannot be made */
    HE2B_TRANSFER_KEPT = 45,      /* a file could not be removed */
    HE2B_TRANSFER_UNPACKED = 46,  /* not all could be written */
    HE2B_TRANSFER_UNLISTED = 47,  /* the manifest could not be put into its place */
    HE2B_TRANSFER_UNSTAMPED = 48, /* the stamp could not be written */
    HE2B_TRANSFER_NOTHING = 49,   /* there is nothing to send */
};

/* In the remote home, as long as a push runs. */
#define HE2B_TRANSFER_LIST ".hermes-e2b-state-deletions"
/* Of an archive's members. */
#define HE2B_TRANSFER_PREFIX ".hermes/"

struct he2b_transfer_script {
    const char *cmd;
    const char *args[HE2B_TRANSFER_ARGS];
};

/* What a push makes of the stamp (B-62, B-75). */
struct he2b_transfer_stamp {
    const char *sandbox_id;
    const char *hash; /* "": nothing */
    bool first;       /* there is none yet; else only one that is there is replaced */
};

/*
 * Removes what the list in the archive says if deletions, unpacks the rest, puts the manifest into
 * its place, and stamps: then it prints "stamped".
 * Whatever comes of it, the archive is gone then, and what earlier pushes left beside it. All is
 * borrowed.
 */
void he2b_transfer_unpack(struct he2b_transfer_script *ret, const char *archive, const char *word,
                          bool deletions, const struct he2b_transfer_stamp *stamp);
/* ... the same where no tar is: script is the path of a file (he2b_transfer_moves()). */
void he2b_transfer_run(struct he2b_transfer_script *ret, const char *script, const char *word,
                       const struct he2b_transfer_stamp *stamp);
/* Sends skills, memories and the manifest below home as tar, or all of .hermes from "/" on. */
void he2b_transfer_send(struct he2b_transfer_script *ret, const char *home, bool all);

/* Adds the text that removes paths, files and the folders that they leave empty. Returns HE2B_OK,
 * HE2B_ERR_NOMEM, HE2B_ERR_OVERFLOW. */
int he2b_transfer_removals(struct he2b_buf *ret, char *const *paths, size_t count);
/* Adds text as one word of a shell, whatever it holds. Returns as above. */
int he2b_transfer_quote(struct he2b_buf *ret, const char *text);

#endif
