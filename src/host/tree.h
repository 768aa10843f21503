/*
 * Files of this machine, reached from the descriptor of a folder, one step at a time (B-82, B-84,
 * B-87). Blocking calls on files: never on a loop's thread.
 */
#ifndef HE2B_HOST_TREE_H
#define HE2B_HOST_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum {
    /* Guards against the descriptors and inodes that a path of one-letter folders costs. */
    HE2B_TREE_DEPTH_MAX = 128,
};

/* True if path is relative, its parts are neither empty nor "." nor "..", and it is neither too
 * long nor too deep. */
bool he2b_tree_path_is_plain(const char *path);
/* The path without leading "./", which a tar of "." puts there. */
const char *he2b_tree_path_skip_dot(const char *path);

/* Told each folder that is stepped into; false ends the walk with EPERM. */
typedef bool (*he2b_tree_allows_fn)(const void *user, const struct stat *folder);

/*
 * Opens the folder that holds the last part of path (a plain one), below the folder root, without
 * following a link anywhere (ELOOP, ENOTDIR); missing folders are made if mode is not 0. allows may
 * be NULL. Returns the folder's descriptor and the last part, or -1 and errno.
 */
int he2b_tree_parent(int root, const char *path, mode_t mode, he2b_tree_allows_fn allows,
                     const void *user, const char **ret_last);

/* What stands at a path. */
enum he2b_tree_there {
    HE2B_TREE_NOTHING = 1, /* nothing, not even a link */
    HE2B_TREE_FILE = 2,    /* a regular file, opened: *ret_fd */
    HE2B_TREE_OTHER = 3,   /* something else, or it cannot be read: errno says why, or is 0 */
};
/* Looks at path (a plain one) below root, through links if follow. Only regular files are ever
 * opened: a FIFO may wait for ever, and a device act (B-81). */
enum he2b_tree_there he2b_tree_look(int root, const char *path, bool follow, int *ret_fd);

/* Whether a file that was looked at before and after its reading is the same, as far as its size
 * and time tell. */
bool he2b_tree_unchanged(const struct stat *before, const struct stat *after);

#endif
