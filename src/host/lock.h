/*
 * An exclusive flock() on a file that other processes, the Python plugin's too, lock the same way
 * (B-24, B-60, B-61). Per open file, never waiting, close-on-exec, released by the kernel with the
 * process. The file is made if need be, opened for writing, truncated, never removed.
 *
 * Blocking calls on files: never on a loop's thread. Any other thread, one at a time per lock.
 */
#ifndef HE2B_HOST_LOCK_H
#define HE2B_HOST_LOCK_H

#include <sys/types.h>

/* What came of trying. */
enum he2b_lock_outcome {
    HE2B_LOCK_HELD = 1,        /* this process holds it now */
    HE2B_LOCK_TAKEN = 2,       /* another one does */
    HE2B_LOCK_UNSUPPORTED = 3, /* this file system cannot lock, or not be written: error says why */
    HE2B_LOCK_FAILED = 4,      /* not a word about the lock: descriptors, memory, disk (error) */
};

struct he2b_lock {
    int fd;    /* -1: not held */
    int error; /* errno of the last try that was neither HELD nor TAKEN */
    pid_t owner;
};

void he2b_lock_init(struct he2b_lock *lock);

/*
 * Tries to take the lock at path, whose folder is made if it is missing. Held already: HELD.
 * EINTR is tried again; the file that was locked is the file at path, or the try starts over.
 */
enum he2b_lock_outcome he2b_lock_try(struct he2b_lock *lock, const char *path);

/* Unlocks and closes; in a forked child it only closes its copy, so that the parent keeps the lock
 * (B-60). Harmless when not held. */
void he2b_lock_release(struct he2b_lock *lock);

#endif
