/*
 * The plain endpoints for files (wire D.2 to D.4): streamed, never whole in memory.
 */
#ifndef HE2B_LOCAL_DAEMON_FILES_H
#define HE2B_LOCAL_DAEMON_FILES_H

#include "core/json.h"

#include <stdbool.h>

struct exchange;
struct daemon_user;

enum {
    /* Bytes that are read or written in one go. */
    FILES_PIECE = 64 * 1024,
};

void files_download(struct exchange *x);
void files_upload(struct exchange *x);
void files_compose(struct exchange *x);

/* ---- for those ---- */

/* The user that a request names; false after an answer. name NULL or "": the default one. */
bool files_user(struct exchange *x, struct daemon_user *ret, const char *name);
/* The path of the query (DAEMON_PATH_MAX bytes) and its user; false after an answer. */
bool files_path(struct exchange *x, char *out, struct daemon_user *user);
/* What an upload answers of one file; metadata may be NULL. NULL: no memory. */
he2b_json *files_entry(const char *path, const he2b_json *metadata);

#endif
