/*
 * The marker that says "what this scope's sandbox holds of Hermes' state is being rebuilt or known
 * to be stale" (B-67): a file beside the locks, shared with the Python plugin.
 *
 * Blocking calls on files: never on a loop's thread.
 */
#ifndef HE2B_HOST_MARKER_H
#define HE2B_HOST_MARKER_H

#include <stdbool.h>

/* Writes "<reason>\npid=<n>\n" at path, whole or not at all (a temporary file, renamed), making its
 * folder if need be. Returns 0 or the errno. */
int he2b_marker_set(const char *path, const char *reason);

/* Removes it; one that is not there is fine. Returns 0 or the errno. */
int he2b_marker_clear(const char *path);

/* True if it is there, or if that cannot be told. *ret_error is 0, or the errno of the latter; a
 * folder that does not exist holds no marker. */
bool he2b_marker_dirty(const char *path, int *ret_error);

#endif
