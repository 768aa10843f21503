/*
 * The system calls that namespaces do not divide from the host's, refused by seccomp(2) for
 * everything inside a sandbox.
 */
#ifndef HE2B_LOCAL_LAUNCH_FILTER_H
#define HE2B_LOCAL_LAUNCH_FILTER_H

/*
 * A file in memory with the filter as bwrap(1) takes it, close-on-exec. Returns the descriptor; -1
 * with errno; or -1 with ENOSYS on a processor whose system call numbers are not known here.
 */
int launch_filter_make(void);

#endif
