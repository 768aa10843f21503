/*
 * filesystem.Filesystem (wire C.10). Done with the daemon's power; the user only resolves paths and
 * owns what is made.
 */
#ifndef HE2B_LOCAL_DAEMON_FILESYSTEM_H
#define HE2B_LOCAL_DAEMON_FILESYSTEM_H

#include "core/json.h"

#include <stdbool.h>

struct exchange;
struct daemon_user;

void filesystem_stat(struct exchange *x, const he2b_json *request);
void filesystem_make_dir(struct exchange *x, const he2b_json *request);
void filesystem_move(struct exchange *x, const he2b_json *request);
void filesystem_remove(struct exchange *x, const he2b_json *request);
void filesystem_list_dir(struct exchange *x, const he2b_json *request);

/* The path in a request (DAEMON_PATH_MAX bytes) and whose it is; false after an answer. */
bool filesystem_path(struct exchange *x, char *out, struct daemon_user *user,
                     const he2b_json *request, const char *key);

#endif
