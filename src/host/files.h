/*
 * Where a scope's coordination files are: <home>/cache/e2b/<scope>.lock, .writer.lock, .state-dirty
 * (behaviour.md: constants; shared with the Python plugin).
 */
#ifndef HE2B_HOST_FILES_H
#define HE2B_HOST_FILES_H

enum {
    HE2B_HOST_PATH_MAX = 4096,
};

struct he2b_host_files {
    char creation_lock[HE2B_HOST_PATH_MAX];
    char writer_lock[HE2B_HOST_PATH_MAX];
    char marker[HE2B_HOST_PATH_MAX];
};

/* Returns HE2B_OK, HE2B_ERR_SETTING (home is empty, not absolute, or too long). No file is
 * touched. */
int he2b_host_files(struct he2b_host_files *ret, const char *home, const char *scope);

#endif
