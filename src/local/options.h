/*
 * The command line of e2b-local.
 */
#ifndef HE2B_LOCAL_OPTIONS_H
#define HE2B_LOCAL_OPTIONS_H

#include "local/log.h"

#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OPTIONS_PORT = 3000, /* where the SDKs look in debug mode (wire A.1) */
    OPTIONS_TEMPLATES_MAX = 32,
    OPTIONS_WHY_MAX = 512,
    /* longest lease and longest run, as the service's larger plan has it (wire E); and the most
     * that can be asked for, which keeps sums of them far from the ends of the clocks */
    OPTIONS_LEASE_S = 24 * 3600,
    OPTIONS_LEASE_MAX_S = 30 * 24 * 3600,
};

enum options_exit {
    OPTIONS_EXIT_OK = 0,
    OPTIONS_EXIT_FAILED = 1,    /* anything else */
    OPTIONS_EXIT_USAGE = 2,     /* the command line */
    OPTIONS_EXIT_ISOLATION = 3, /* sandboxes cannot be isolated */
    OPTIONS_EXIT_IN_USE = 4,    /* another server has the state folder */
    OPTIONS_EXIT_STATE = 5,     /* the state folder cannot be used */
    OPTIONS_EXIT_LISTEN = 6,    /* the address cannot be listened on */
    OPTIONS_EXIT_NO_SERVER = 7, /* env: no server runs there */
};

enum options_command {
    OPTIONS_SERVE,
    OPTIONS_ENV,
    OPTIONS_HELP,
    OPTIONS_VERSION,
};

struct options {
    enum options_command command;
    /* a loopback address; the port is in network order, 0: any */
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    char state[PATH_MAX];
    /* longest lease, and longest run, in seconds */
    int64_t max_lease_s;
    enum log_level log_level;
    bool no_internet;
    bool share_host_network;
    bool without_isolation;
    /* "base" and those of --template; borrowed from argv */
    const char *templates[OPTIONS_TEMPLATES_MAX];
    size_t template_count;
};

/* 0, or -1 with one line in why, which says what to do. */
int options_parse(struct options *ret, int argc, char **argv, char why[OPTIONS_WHY_MAX]);

/* The text of --help. */
extern const char options_help[];

#endif
