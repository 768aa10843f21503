/*
 * Deleting sandboxes' folders beside the loop: launch_delete_folder() takes as long as the file
 * system needs, so each runs in a process of its own.
 */
#ifndef HE2B_LOCAL_SWEEP_H
#define HE2B_LOCAL_SWEEP_H

struct event_base;
struct sweep;

/* folders_fd is borrowed. NULL without memory. */
struct sweep *sweep_new(struct event_base *base, int folders_fd);

/* Deletes the folder name; a failure is told in the log, and the next start tries again. */
void sweep_start(struct sweep *sweep, const char *name);

/* Waits for what runs (for at most ten seconds; then it is killed), and frees it. NULL is fine. */
void sweep_del(struct sweep *sweep);

#endif
