/*
 * The regular files below a folder. Blocking calls on files: never on a loop's thread.
 */
#ifndef HE2B_HOST_WALK_H
#define HE2B_HOST_WALK_H

/* Told each regular file below the folder (links are not followed), path below it; not 0 ends the
 * walk with that. */
typedef int (*he2b_walk_fn)(void *user, const char *path);
/* Returns 0, what fn returned, or -errno; HE2B_ERR_OVERFLOW: too many or too deep. */
int he2b_walk(const char *folder, he2b_walk_fn fn, void *user);

#endif
