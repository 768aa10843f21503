/*
 * The first half of the way into a sandbox: a process that enters new namespaces and becomes
 * bwrap(1), which builds the sandbox's view and starts e2b-local-init in it.
 */
#ifndef HE2B_LOCAL_LAUNCH_ENTER_H
#define HE2B_LOCAL_LAUNCH_ENTER_H

#include "local/launch_etc.h"
#include "local/launch_ids.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
    LAUNCH_ENTER_SYNC_FD = 5
};

/* All descriptors are LAUNCH_FD_LOWEST or above and close-on-exec. */
struct launch_enter_spec {
    const struct launch_ids *ids;
    enum launch_network network;
    unsigned process_limit;
    const char *bwrap;
    /* the process that forked this one */
    pid_t parent;
    /*
     * A byte to it is answered twice: from here when the namespaces' ids can be written, and from
     * e2b-local-init, which inherits it as LAUNCH_ENTER_SYNC_FD, when the network can be connected.
     */
    int sync_fd;
    /* become 3 and 4, and 1 and 2; the first two are -1 in a trial */
    int listen_fd;
    int control_fd;
    int stderr_fd;
    /* O_PATH, or -1 in a trial */
    int folder_fd;
    int init_fd;
    /* -1 in a trial: e2b-local-init then ends at once */
    int daemon_fd;
    int info_fd;
};

/* Runs in a forked child and does not return. A failure is one line to stderr_fd and status 1. */
_Noreturn void launch_enter(const struct launch_enter_spec *spec);

#endif
