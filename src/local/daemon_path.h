/*
 * Paths of requests (wire C.6).
 */
#ifndef HE2B_LOCAL_DAEMON_PATH_H
#define HE2B_LOCAL_DAEMON_PATH_H

#include <stdbool.h>
#include <stddef.h>

struct daemon_user;

/*
 * path NULL or "": the user's home; "~" and "~/x": from there; relative: below it, cleaned of "."
 * and ".."; absolute: as it is. out holds DAEMON_PATH_MAX bytes. NULL, or what is wrong (static).
 */
const char *daemon_path(char *out, const char *path, const struct daemon_user *user);

/* What stands behind the last slash that is not at the end; "/" for the root. Within path, so it
 * may end in slashes. */
const char *daemon_path_name(const char *path);

/* Makes the directories that path needs, and path itself too if whole; 0755, the new ones owned by
 * user. 0 or an errno (ENOTDIR: something on the way is no directory). */
int daemon_path_make(const char *path, bool whole, const struct daemon_user *user);

#endif
