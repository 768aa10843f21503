/*
 * The made-up files below a sandbox's /etc: nothing of the host's own.
 *
 *   passwd, group       root (0) and user (1000, /home/user), nobody
 *   hosts, hostname     localhost and LAUNCH_ETC_HOSTNAME
 *   resolv.conf         slirp4netns's own server; the host's file where the network is shared
 *   nsswitch.conf       files, dns
 *   profile             PATH and a prompt, as a Debian template has them
 *
 * Besides, taken from the host read-only because they are public: CA certificates, alternatives,
 * ld.so.cache, localtime, services, protocols, mime.types (launch_args.c).
 */
#ifndef HE2B_LOCAL_LAUNCH_ETC_H
#define HE2B_LOCAL_LAUNCH_ETC_H

#include <stddef.h>

/* what E2B's machines call themselves */
#define LAUNCH_ETC_HOSTNAME "e2b.local"

enum launch_network {
    LAUNCH_NETWORK_NONE,
    LAUNCH_NETWORK_SLIRP,
    LAUNCH_NETWORK_HOST,
};

enum {
    LAUNCH_ETC_COUNT = 7
};

struct launch_etc_file {
    /* "/etc/passwd" */
    const char *path;
    /* LAUNCH_FD_LOWEST or above, close-on-exec */
    int fd;
};

/* Makes them as files in memory. Returns 0, or -1 with errno (the caller is about to end then). */
int launch_etc_make(struct launch_etc_file ret[LAUNCH_ETC_COUNT], enum launch_network network);

#endif
