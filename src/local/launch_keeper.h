/*
 * The keeper: one process per sandbox, forked by the plane, that starts everything of the sandbox,
 * waits for its end and tells why. All waiting is done here, so that the plane's loop never does.
 *
 *     plane ── keeper ─┬─ bwrap ── e2b-local-init ── daemon ── commands
 *                      └─ slirp4netns
 *
 * When any of them is killed, what stands right of it and below is gone too: the keeper dies with
 * the plane, bwrap with the keeper (PR_SET_PDEATHSIG), the pid namespace with bwrap, slirp4netns
 * with the descriptor that the keeper holds.
 */
#ifndef HE2B_LOCAL_LAUNCH_KEEPER_H
#define HE2B_LOCAL_LAUNCH_KEEPER_H

#include "local/launch.h"
#include "local/launch_ids.h"

enum {
    /* one line; guards the plane against what a sandbox writes to its standard error */
    LAUNCH_KEEPER_WHY_MAX = 512,
    /* from the fork to the start of the daemon; loaded machines need a second, not ten */
    LAUNCH_KEEPER_START_MS = 20000,
};

struct launch_keeper_spec {
    const struct launch_spec *sandbox;
    const struct launch_ids *ids;
    /* no folder, no daemon: ends as soon as all is set up */
    bool trial;
    /* a process id written here puts the process under the memory limit; -1 without */
    int procs_fd;
    /*
     * SOCK_SEQPACKET. A packet or an end of file from the plane: end everything now. To the plane:
     * one packet, the reason of the end ("\n" if plain), then end of file.
     */
    int plane_fd;
};

/*
 * Runs in a forked child (launch_child_fork) and does not return; ends with 0 when the sandbox has
 * started and ended plainly, else with 1.
 */
_Noreturn void launch_keeper(const struct launch_keeper_spec *spec);

#endif
