/*
 * A file that appears whole under its name, or not at all, and never in the place of another one
 * (B-84). Where the file system has them, it has no name until then: a process that is killed
 * leaves nothing behind.
 *
 * Blocking calls on files: never on a loop's thread.
 */
#ifndef HE2B_HOST_NEW_FILE_H
#define HE2B_HOST_NEW_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    HE2B_NEW_FILE_NAME_MAX = 48,
};

struct he2b_new_file {
    int folder; /* borrowed */
    int fd;
    char name[HE2B_NEW_FILE_NAME_MAX]; /* "": it has none yet */
};

/* Each returns 0 or the errno. After begin(), drop() is due, also after publish(). */
int he2b_new_file_begin(struct he2b_new_file *file, int folder);
int he2b_new_file_write(struct he2b_new_file *file, const void *data, size_t len);
/* Mode and time, then the name; EEXIST: something has it. What time the file system cannot hold is
 * left out. */
int he2b_new_file_publish(struct he2b_new_file *file, const char *name, mode_t mode,
                          int64_t mtime_s, long mtime_ns);
void he2b_new_file_drop(struct he2b_new_file *file);

/* A file that no name leads to, in folder. Returns the descriptor, or -1 and errno. */
int he2b_new_file_nameless(int folder);
/* Writes all of it. Returns 0 or the errno. */
int he2b_new_file_write_all(int fd, const void *data, size_t len);

#endif
