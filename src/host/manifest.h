/*
 * What was pushed into a sandbox (B-75): a text that lies there beside the stamp. A line for each
 * file, "<sha256> <kind> <path>", in the order of the paths; its last line is the hash of all the
 * others, which alone makes it valid. It comes back from a sandbox, so it is trusted only as far as
 * the sandbox' own files go.
 *
 * No I/O. One thread at a time per object.
 */
#ifndef HE2B_HOST_MANIFEST_H
#define HE2B_HOST_MANIFEST_H

#include "core/buf.h"
#include "core/sha256.h"
#include "host/names.h"

#include <stdbool.h>
#include <stddef.h>

/* In the remote home, beside the stamp. */
#define HE2B_MANIFEST_NAME ".hermes-e2b-state-manifest"
#define HE2B_STAMP_NAME    ".hermes-e2b-state-ready"

enum {
    /* Guards against a manifest that a sandbox made up. */
    HE2B_MANIFEST_MAX = 64 * 1024 * 1024,
};

enum he2b_manifest_kind {
    HE2B_KIND_CREDENTIAL = 1,
    HE2B_KIND_SKILL = 2,
    HE2B_KIND_OTHER = 3,
};

struct he2b_manifest_file {
    char *path; /* below .hermes, plain (host/tree.h) */
    uint8_t sum[HE2B_SHA256_SIZE];
    enum he2b_manifest_kind kind;
};

struct he2b_manifest {
    struct he2b_manifest_file *files; /* in no order; removed ones have no path */
    size_t count;
    size_t room;
    struct he2b_names by_path;
};

void he2b_manifest_init(struct he2b_manifest *manifest);
void he2b_manifest_free(struct he2b_manifest *manifest);

/* Adds a file or replaces what is said of it. Returns HE2B_OK, HE2B_ERR_NOMEM, HE2B_ERR_ARG (the
 * path is not plain). */
int he2b_manifest_put(struct he2b_manifest *manifest, const char *path,
                      const uint8_t sum[HE2B_SHA256_SIZE], enum he2b_manifest_kind kind);
/* Its deletion in the sandbox was confirmed. One that is not there is fine. */
void he2b_manifest_remove(struct he2b_manifest *manifest, const char *path);
/* Adds all that from has, or replaces what is said of it. Returns HE2B_OK, HE2B_ERR_NOMEM; then
 * some were added. */
int he2b_manifest_add_all(struct he2b_manifest *manifest, const struct he2b_manifest *from);
/* NULL: it has none. */
const struct he2b_manifest_file *he2b_manifest_get(const struct he2b_manifest *manifest,
                                                   const char *path);

/* Appends the text; ret_hash: its last line, which the stamp repeats as its second. Returns
 * HE2B_OK, HE2B_ERR_NOMEM, HE2B_ERR_OVERFLOW. */
int he2b_manifest_write(const struct he2b_manifest *manifest, struct he2b_buf *ret,
                        char ret_hash[HE2B_SHA256_HEX_MAX]);
/* Reads a text (len bytes) into an empty manifest. Returns HE2B_OK; HE2B_ERR_PROTOCOL (not valid:
 * nothing may be deleted) or HE2B_ERR_NOMEM, with an empty manifest. */
int he2b_manifest_read(struct he2b_manifest *manifest, const char *text, size_t len,
                       char ret_hash[HE2B_SHA256_HEX_MAX]);

#endif
