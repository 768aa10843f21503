#include "cli/connect.h"

#include "cli/duration.h"
#include "cli/exits.h"
#include "cli/safe.h"
#include "cli/server.h"
#include "cli/usage.h"

#include <getopt.h>
#include <stdio.h>

static const char help[] =
    "Usage: hermes-e2b connect [OPTION]... ID\n"
    "Wake a paused sandbox, or extend the lease of one that runs; it is never shortened.\n"
    "Afterwards hermes-e2b run -s ID uses it.\n"
    "\n"
    "      --timeout=N  lease from now on, in seconds (300)\n"
    "  -h, --help       print this and leave\n"
    "\n"
    "A paused sandbox boots: its files are there, its processes are not. Below 120 seconds\n"
    "the boot may not be over in time.\n"
    "\n"
    "Exit code: 0; 1 if there is no such sandbox; 125 if it could not be done.\n";

enum {
    LEASE_S = 300,
};

static void print(void *user, const he2b_sandbox_info *const *items, size_t count)
{
    char id[256];
    char state[64];
    char left[32];

    (void)user;
    if (!count)
        return;
    safe_text(id, sizeof(id), he2b_sandbox_info_id(items[0]));
    safe_text(state, sizeof(state), he2b_sandbox_info_state(items[0]));
    duration_text(left, sizeof(left), he2b_sandbox_info_remaining_ms(items[0]));
    printf("%s %s, lease %s\n", id, state, left);
}

static int connect_to(const char *id, int64_t lease_s)
{
    struct server server;
    int code;

    if (!server_open(&server))
        return EXIT_OWN_FAILURE;
    code = server_exit(server_connect(&server, id, lease_s));
    /* It is done; the plan may have given less than was asked for, so the server is asked. */
    if (code == 0)
        (void)server_get(&server, id, print, NULL);
    server_close(&server);
    return code;
}

int connect_main(int argc, char **argv)
{
    static const struct option options[] = {
        {"timeout", required_argument, NULL, 'T'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int64_t lease_ms = LEASE_S * 1000;
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        switch (option) {
        case 'T':
            if (!usage_seconds("--timeout", optarg, &lease_ms))
                return EXIT_OWN_FAILURE;
            break;
        case 'h':
            fputs(help, stdout);
            return 0;
        default:
            usage_wrong_option("connect", option, argv);
            return EXIT_OWN_FAILURE;
        }
    }
    if (!usage_ids("connect", argv + optind, false))
        return EXIT_OWN_FAILURE;
    return connect_to(argv[optind], (lease_ms + 999) / 1000);
}
