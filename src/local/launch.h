/*
 * Launching a sandbox's daemon inside namespaces of its own: the one place of e2b-local that knows
 * how isolation is made. The plane calls it on its event loop; nothing here blocks for longer than
 * a fork.
 */
#ifndef HE2B_LOCAL_LAUNCH_H
#define HE2B_LOCAL_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

struct event_base;

/* What this machine allows, found once at start. */
struct launch_abilities {
    /* user, mount, pid, network namespaces work and bwrap is there; else no start without the flag */
    bool isolation;
    /* uid 0 and 1000 (65,536 ids) inside; else single-id mode, said loudly */
    bool many_ids;
    /* slirp4netns and /dev/net/tun: internet possible; else none, said loudly */
    bool internet;
    /* a delegated cgroup: memory can be limited per sandbox */
    bool memory_limit;
    /* one sentence for each thing that is missing: what, why, what to do; "" if nothing */
    char isolation_why[512];
    char many_ids_why[512];
    char internet_why[512];
    char memory_limit_why[512];
};

/* Looks; never changes anything. share_host_network: asked for by the unsafe flag. */
void launch_look(struct launch_abilities *ret);

struct launch_spec {
    const char *sandbox_id;
    /* O_PATH|O_DIRECTORY descriptor of the sandbox's own folder, made by launch_make_folder() */
    int folder_fd;
    bool internet;
    bool share_host_network;
    /* --unsafely-without-isolation: the daemon runs as a plain child, in the folder */
    bool without_isolation;
    /* become descriptors 3 and 4 of the daemon; borrowed */
    int listen_fd;
    int control_fd;
    /* most processes inside; most bytes of memory inside, 0 for none */
    unsigned process_limit;
    unsigned long long memory_limit;
};

struct launch;

/* why is one line, "" on a plain end. Called once, when everything of the sandbox has ended. */
typedef void (*launch_exit_fn)(void *user, const char *why);

/*
 * Starts the daemon. Returns 0 and *ret, or -1 with one line in why[why_size]. Whether the daemon
 * came up is told by itself ("up" on its control descriptor); if the launch fails later, exited
 * comes with the reason.
 */
int launch_start(struct launch **ret, struct event_base *base, const struct launch_spec *spec,
                 launch_exit_fn exited, void *user, char *why, size_t why_size);

/* Kills everything inside at once; exited comes when it is gone. */
void launch_kill(struct launch *launch);

/* Frees it; kills first if it still runs, and exited is not called any more. */
void launch_del(struct launch *launch);

/*
 * Makes the folder name below parent_fd (home/user and root inside, owned by the ids that the
 * sandbox will use), or deletes it with all that is in it, through the id map where that is needed.
 * base_id is what the ownership is counted from: recorded by the caller, who refuses a mismatch.
 * Return 0, or -1 with one line in why.
 */
int launch_make_folder(int parent_fd, const char *name, char *why, size_t why_size);
int launch_delete_folder(int parent_fd, const char *name, char *why, size_t why_size);
/* The host id that is uid 0 inside (0 when the sandbox has the caller's single id). */
unsigned launch_base_id(void);

#endif
