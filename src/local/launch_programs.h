/*
 * The programs that a launch needs, and where they are.
 */
#ifndef HE2B_LOCAL_LAUNCH_PROGRAMS_H
#define HE2B_LOCAL_LAUNCH_PROGRAMS_H

#include <limits.h>

/*
 * Looks for a program in the absolute folders of PATH, then in the usual ones (a user's PATH often
 * lacks sbin). Returns 0, or -1 if there is none.
 */
int launch_programs_find(char ret[PATH_MAX], const char *name);

/*
 * Opens one of e2b-local's own programs for reading, close-on-exec: beside the running program
 * (the build tree), else in pkglibexecdir. Returns the descriptor or -1 with errno.
 */
int launch_programs_open(const char *name);

/* Where launch_programs_open() finds it, for the mode that executes it in place. 0, or -1. */
int launch_programs_path(char ret[PATH_MAX], const char *name);

/* For tests: another folder is looked at first, and the daemon has this name. NULL: unchanged. */
void launch_programs_use(const char *folder, const char *daemon_name);

/* "e2b-local-daemon" unless a test says otherwise */
const char *launch_programs_daemon(void);

#define LAUNCH_PROGRAM_INIT "e2b-local-init"

#endif
