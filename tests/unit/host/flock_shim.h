/*
 * flock() and open() of a test program, made to fail: linked with -Wl,--wrap=flock,--wrap=open.
 */
#ifndef HE2B_TESTS_FLOCK_SHIM_H
#define HE2B_TESTS_FLOCK_SHIM_H

/* All 0: the real calls. */
struct flock_shim {
    int flock_errno; /* what the next flock_times calls for a lock answer */
    int flock_times;
    int open_errno;
    int open_times;
    /* called before a lock is taken, while before_times is above 0 */
    void (*before)(void);
    int before_times;
};

extern struct flock_shim flock_shim;

#endif
