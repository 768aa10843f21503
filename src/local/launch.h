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

/*
 * What the daemon finds when it starts (isolated): uid 0 with every capability that means nothing
 * outside, descriptors 0 (/dev/null), 1, 2 (kept for the reason of a bad end), 3 (LINK_LISTEN_FD),
 * 4 (LINK_CONTROL_FD) and no others, an empty environment, working directory "/", a session of its
 * own. /home/user belongs to uid 1000 ("user"), /root to uid 0. It must not need anything below
 * /etc but what launch_etc.h names.
 *
 * Single-id mode: the daemon is uid 1000, which is the only id there is; setresuid(0) fails with
 * EINVAL or EPERM, so commands run as "user" only and the daemon refuses every other name.
 *
 * Without isolation: the daemon is a plain child with the caller's ids, its working directory is
 * the folder's home/user, and its environment holds PATH, HOME (that directory) and
 * E2B_LOCAL_WITHOUT_ISOLATION=1.
 */

/* What this machine allows, found once at start. */
struct launch_abilities {
    /* user, mount, pid, network namespaces work and bwrap is there; else no start without the flag
     */
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

/*
 * Looks by starting a sandbox that ends at once (some 50 ms); changes nothing. Call it first.
 * without_isolation: --unsafely-without-isolation was given; nothing is tried then, all is false,
 * and launch_make_folder(), launch_delete_folder() and launch_base_id() use the caller's own id.
 */
void launch_look(struct launch_abilities *ret, bool without_isolation);

struct launch_spec {
    /* names the memory cgroup; [A-Za-z0-9_-], at most 64 characters */
    const char *sandbox_id;
    /* O_PATH|O_DIRECTORY descriptor of the sandbox's own folder, made by launch_make_folder() */
    int folder_fd;
    bool internet;
    bool share_host_network;
    /* --unsafely-without-isolation: the daemon runs as a plain child, in the folder */
    bool without_isolation;
    /* become descriptors 3 and 4 of the daemon; borrowed, close your own when launch_start returns
     */
    int listen_fd;
    int control_fd;
    /* most processes inside; most bytes of memory inside, 0 for none */
    unsigned process_limit;
    unsigned long long memory_limit;
};

struct launch;

/*
 * why is one line, "" on a plain end or after launch_kill(). Called once, from the event loop, when
 * everything of the sandbox has ended. launch_del() may be called from inside.
 */
typedef void (*launch_exit_fn)(void *user, const char *why);

/*
 * Starts the daemon. Returns 0 and *ret, or -1 with one line in why[why_size]. Whether the daemon
 * came up is told by itself ("up" on its control descriptor); if the launch fails later, exited
 * comes with the reason. The calling thread must live as long as the sandbox: everything inside is
 * killed when it ends, however it ends.
 */
int launch_start(struct launch **ret, struct event_base *base, const struct launch_spec *spec,
                 launch_exit_fn exited, void *user, char *why, size_t why_size);

/* Kills everything inside at once; exited comes when it is gone (a few milliseconds). */
void launch_kill(struct launch *launch);

/* Frees it; if it still runs, kills it, waits till all of it is gone, and never calls exited. */
void launch_del(struct launch *launch);

/*
 * Makes the folder name below parent_fd (home/user and root inside, owned by the ids that the
 * sandbox will use), or deletes it with all that is in it, through the id map where that is needed.
 * Only for a sandbox that does not run. Both wait for a short-lived child process; deleting takes
 * as long as the file system needs. A folder that is not there is deleted with success.
 * Return 0, or -1 with one line in why.
 */
int launch_make_folder(int parent_fd, const char *name, char *why, size_t why_size);
int launch_delete_folder(int parent_fd, const char *name, char *why, size_t why_size);

/*
 * The host id that is uid 0 inside, 0 when the sandbox has the caller's single id: what the
 * ownership of folders is counted from. The caller records it and refuses a mismatch.
 */
unsigned launch_base_id(void);

#endif
