#include "cli/list.h"

#include "cli/duration.h"
#include "cli/exits.h"
#include "cli/json_out.h"
#include "cli/message.h"
#include "cli/safe.h"
#include "cli/server.h"
#include "cli/usage.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "Usage: hermes-e2b list [OPTION]...\n"
    "List the sandboxes that hermes-e2b or its Hermes plugin made, the newest first.\n"
    "\n"
    "      --state=STATE  only those that are running, or paused (all)\n"
    "      --json         print a JSON array instead of a table\n"
    "  -h, --help         print this and leave\n"
    "\n"
    "LEASE is what is left until the sandbox is killed or paused. SCOPE names the Hermes\n"
    "profile and task that a kept sandbox belongs to; one without is killed at its end.\n"
    "\n"
    "Exit code: 0, or 125 if the list could not be had.\n";

enum {
    COLUMNS = 6,
    CELL_MAX = 256,
};

struct list {
    const char *state; /* NULL: all */
    bool json;
};

struct row {
    char cells[COLUMNS][CELL_MAX];
    size_t widths[COLUMNS];
};

static bool shown(const char *state, const he2b_sandbox_info *info)
{
    return !state || strcmp(he2b_sandbox_info_state(info), state) == 0;
}

/* ---- JSON ---- */

static void print_json(const struct list *list, const he2b_sandbox_info *const *items, size_t count)
{
    const char *before = "[";
    size_t i;

    for (i = 0; i < count; i++) {
        if (!shown(list->state, items[i]))
            continue;
        fputs(before, stdout);
        json_out_sandbox(stdout, items[i]);
        before = ",\n ";
    }
    puts(before[0] == '[' ? "[]" : "]");
}

/* ---- the table ---- */

static const char *const titles[COLUMNS] = {"ID", "STATE", "STARTED", "LEASE", "TEMPLATE", "SCOPE"};

static void set_cell(struct row *row, int column, const char *text)
{
    row->widths[column] = safe_text(row->cells[column], CELL_MAX, text[0] ? text : "-");
}

static void make_row(struct row *row, const he2b_sandbox_info *info)
{
    const char *alias = he2b_sandbox_info_alias(info);
    char text[64];
    size_t seconds;

    set_cell(row, 0, he2b_sandbox_info_id(info));
    set_cell(row, 1, he2b_sandbox_info_state(info));
    snprintf(text, sizeof(text), "%s", he2b_sandbox_info_started_at(info));
    /* fractions of a second tell a person nothing */
    seconds = strcspn(text, ".");
    if (text[seconds])
        snprintf(text + seconds, sizeof(text) - seconds, "Z");
    set_cell(row, 2, text);
    duration_text(text, sizeof(text), he2b_sandbox_info_remaining_ms(info));
    set_cell(row, 3, text);
    set_cell(row, 4, alias[0] ? alias : he2b_sandbox_info_template(info));
    set_cell(row, 5, he2b_sandbox_info_scope(info));
}

static void make_titles(struct row *row)
{
    int i;

    for (i = 0; i < COLUMNS; i++)
        set_cell(row, i, titles[i]);
}

static void print_row(const struct row *row, const size_t *widths)
{
    int i;

    for (i = 0; i < COLUMNS; i++) {
        fputs(row->cells[i], stdout);
        if (i < COLUMNS - 1)
            printf("%*s", (int)(widths[i] - row->widths[i] + 2), "");
    }
    putchar('\n');
}

static void widen(size_t *widths, const struct row *row)
{
    int i;

    for (i = 0; i < COLUMNS; i++) {
        if (widths[i] < row->widths[i])
            widths[i] = row->widths[i];
    }
}

void list_print_table(const char *state, const he2b_sandbox_info *const *items, size_t count)
{
    size_t widths[COLUMNS] = {0};
    struct row row;
    bool any = false;
    size_t i;

    make_titles(&row);
    widen(widths, &row);
    for (i = 0; i < count; i++) {
        if (!shown(state, items[i]))
            continue;
        any = true;
        make_row(&row, items[i]);
        widen(widths, &row);
    }
    if (!any) {
        message_error("there is no such sandbox");
        return;
    }
    make_titles(&row);
    print_row(&row, widths);
    for (i = 0; i < count; i++) {
        if (!shown(state, items[i]))
            continue;
        make_row(&row, items[i]);
        print_row(&row, widths);
    }
}

static void print(void *user, const he2b_sandbox_info *const *items, size_t count)
{
    const struct list *list = user;

    if (list->json)
        print_json(list, items, count);
    else
        list_print_table(list->state, items, count);
}

/* ---- the whole ---- */

static int list_all(struct list *list)
{
    struct server server;
    int code;

    if (!server_open(&server))
        return EXIT_OWN_FAILURE;
    code = server_exit(server_list(&server, print, list));
    server_close(&server);
    return code;
}

int list_main(int argc, char **argv)
{
    static const struct option options[] = {
        {"state", required_argument, NULL, 's'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct list list = {0};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        switch (option) {
        case 's':
            if (strcmp(optarg, "running") != 0 && strcmp(optarg, "paused") != 0 &&
                strcmp(optarg, "all") != 0) {
                message_error("--state=%s: give running, paused or all", optarg);
                return EXIT_OWN_FAILURE;
            }
            list.state = optarg[0] == 'a' ? NULL : optarg;
            break;
        case 'j':
            list.json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return 0;
        default:
            usage_wrong_option("list", option, argv);
            return EXIT_OWN_FAILURE;
        }
    }
    if (argv[optind]) {
        message_error("list: %s is not expected here; show says more about one sandbox",
                      argv[optind]);
        return EXIT_OWN_FAILURE;
    }
    return list_all(&list);
}
