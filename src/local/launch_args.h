/*
 * The argument list of bwrap(1): what a sandbox sees of the world, as one text, for its --args.
 */
#ifndef HE2B_LOCAL_LAUNCH_ARGS_H
#define HE2B_LOCAL_LAUNCH_ARGS_H

#include "local/launch_etc.h"

#include <stdbool.h>
#include <stddef.h>

/* Where the sandbox's own two programs are, inside. */
#define LAUNCH_ARGS_PROGRAMS "/.e2b-local"

enum {
    /* The list is made of constants and a few numbers; it has about 2 KiB. */
    LAUNCH_ARGS_MAX = 16 * 1024,
    /* Files in memory are the host's memory: so much of it below /tmp, /dev/shm, /run each. */
    LAUNCH_ARGS_TMP_MIB = 1024,
    LAUNCH_ARGS_SHM_MIB = 256,
    LAUNCH_ARGS_RUN_MIB = 64,
};

struct launch_args_spec {
    /* bwrap keeps the network it was started in when this is LAUNCH_NETWORK_HOST */
    enum launch_network network;
    /* a folder with "home" and "root" in it as the process that becomes bwrap sees it; NULL: none
     */
    const char *folder;
    const struct launch_etc_file *etc;
    /* descriptors that bwrap inherits; filter_fd may be -1 */
    int init_fd;
    int daemon_fd;
    int filter_fd;
    int info_fd;
};

/* Each argument ends in NUL. Returns the length, or 0 if it does not fit (it always does). */
size_t launch_args_make(char ret[LAUNCH_ARGS_MAX], const struct launch_args_spec *spec);

#endif
