#include "cli/show.h"

#include "cli/duration.h"
#include "cli/exits.h"
#include "cli/json_out.h"
#include "cli/safe.h"
#include "cli/server.h"
#include "cli/usage.h"

#include <getopt.h>
#include <stdio.h>

static const char help[] =
    "Usage: hermes-e2b show [OPTION]... ID\n"
    "Print what the server says of one sandbox. It is looked at, and nothing else.\n"
    "\n"
    "      --json  print a JSON object instead of lines\n"
    "  -h, --help  print this and leave\n"
    "\n"
    "Exit code: 0; 1 if there is no such sandbox; 125 if the server could not be asked.\n";

enum {
    LINE_MAX_BYTES = 1024,
};

static void print_line(const char *name, const char *text)
{
    char safe[LINE_MAX_BYTES];

    safe_text(safe, sizeof(safe), text[0] ? text : "-");
    printf("%-10s %s\n", name, safe);
}

static void print_pair(void *user, const char *key, const char *value)
{
    char safe[LINE_MAX_BYTES];

    (void)user;
    safe_text(safe, sizeof(safe), key);
    printf("%-10s %s=", "metadata", safe);
    safe_text(safe, sizeof(safe), value);
    puts(safe);
}

static void print_lines(const he2b_sandbox_info *info)
{
    char left[32];

    duration_text(left, sizeof(left), he2b_sandbox_info_remaining_ms(info));
    print_line("id", he2b_sandbox_info_id(info));
    print_line("state", he2b_sandbox_info_state(info));
    print_line("template", he2b_sandbox_info_template(info));
    print_line("alias", he2b_sandbox_info_alias(info));
    print_line("scope", he2b_sandbox_info_scope(info));
    print_line("started", he2b_sandbox_info_started_at(info));
    print_line("ends", he2b_sandbox_info_end_at(info));
    print_line("lease", left);
    print_line("ours", he2b_sandbox_info_ours(info) ? "yes" : "no");
    he2b_sandbox_info_each_metadata(info, print_pair, NULL);
}

static void print(void *user, const he2b_sandbox_info *const *items, size_t count)
{
    const bool *json = user;

    if (!count)
        return;
    if (*json) {
        json_out_sandbox(stdout, items[0]);
        putchar('\n');
    } else {
        print_lines(items[0]);
    }
}

static int show_one(const char *id, bool json)
{
    struct server server;
    int code;

    if (!server_open(&server))
        return EXIT_OWN_FAILURE;
    code = server_exit(server_get(&server, id, print, &json));
    server_close(&server);
    return code;
}

int show_main(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    bool json = false;
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        switch (option) {
        case 'j':
            json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return 0;
        default:
            usage_wrong_option("show", option, argv);
            return EXIT_OWN_FAILURE;
        }
    }
    if (!usage_ids("show", argv + optind, false))
        return EXIT_OWN_FAILURE;
    return show_one(argv[optind], json);
}
