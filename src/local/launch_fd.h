/*
 * Descriptors across a fork: which stay, where they go, and small files made of memory. All of it
 * runs in processes that launch.h's functions fork, so that nothing here reports to a loop.
 */
#ifndef HE2B_LOCAL_LAUNCH_FD_H
#define HE2B_LOCAL_LAUNCH_FD_H

#include <stddef.h>

enum {
    /* below it are those that a sandbox sees (0 to 4); what a launch needs itself is moved above */
    LAUNCH_FD_LOWEST = 10,
    /* most descriptors that launch_fd_keep_only() can be asked to keep */
    LAUNCH_FD_KEEP_MAX = 8,
};

/*
 * Moves *fd to LAUNCH_FD_LOWEST or above, close-on-exec, and closes the old number. -1 stays -1.
 * Returns 0, or -1 with errno.
 */
int launch_fd_raise(int *fd);

/*
 * Makes 0, 1 and 2 /dev/null and closes everything else but keep[0..n-1] (entries of -1 are
 * skipped, the others are LAUNCH_FD_LOWEST or above). Returns 0, or -1 with errno.
 */
int launch_fd_keep_only(const int *keep, size_t n);

/* pipe(2), both ends LAUNCH_FD_LOWEST or above, close-on-exec. Returns 0, or -1 with errno. */
int launch_fd_pipe(int *ret_read, int *ret_write);

/* A new descriptor of a file in memory that holds data, at its start, close-on-exec; or -1, errno.
 */
int launch_fd_of_data(const void *data, size_t size);

/* All of data, or -1 with errno. */
int launch_fd_write(int fd, const void *data, size_t size);

/* One write to a file below /proc or /sys, which takes its text in one piece; or -1 with errno. */
int launch_fd_write_file(const char *path, const char *text);

/* Closes *fd if it is open and makes it -1. */
void launch_fd_close(int *fd);

#endif
