/*
 * A memory limit for a whole sandbox: a cgroup (version 2) of its own below the one that e2b-local
 * was given. cgroups(7), and https://systemd.io/CGROUP_DELEGATION for what may be done there.
 */
#ifndef HE2B_LOCAL_LAUNCH_MEMORY_H
#define HE2B_LOCAL_LAUNCH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether this process is alone in a cgroup that it may divide, with the memory controller. Changes
 * nothing. why: one sentence with what to do if not.
 */
bool launch_memory_can(char *why, size_t why_size);

/*
 * Makes the cgroup for a sandbox, limited to bytes. The first call moves this process into a
 * cgroup "plane" beside it, because only a cgroup without processes can be divided. *ret_procs_fd:
 * where a process id is written to put the process in. Returns 0, or -1 with one line in why.
 */
int launch_memory_make(int *ret_procs_fd, const char *sandbox_id, unsigned long long bytes,
                       char *why, size_t why_size);

/* Takes it away, once it is empty; no error if it is not there. */
void launch_memory_remove(const char *sandbox_id);

#endif
