/*
 * The daemon in a sandbox: what all of its files know. One process, one thread, one libevent base.
 */
#ifndef HE2B_LOCAL_DAEMON_H
#define HE2B_LOCAL_DAEMON_H

#include "core/json.h"

#include <event2/event.h>
#include <stdbool.h>
#include <sys/resource.h>

enum {
    /* A message in memory: 24 MiB of stdin as base64 (wire H) with room. Guards the memory. */
    DAEMON_MESSAGE_MAX = 48 * 1024 * 1024,
    /* PATH_MAX; longer paths are refused. */
    DAEMON_PATH_MAX = 4096,
};

struct daemon_globals {
    struct event_base *base;
    /*
     * Alone in a pid namespace, right below its pid 1: all other processes belong to the sandbox.
     * Found by looking, so that nobody else's are ever signalled.
     */
    bool isolated;
    char sandbox_id[128];
    char template_id[256];
    he2b_json *env_vars; /* of the sandbox; NULL: none */
    /* what processes get; the daemon itself has raised its own */
    struct rlimit descriptors;
};
extern struct daemon_globals daemon_globals;

#endif
