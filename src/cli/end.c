#include "cli/end.h"

#include "cli/confirm.h"
#include "cli/exits.h"
#include "cli/home.h"
#include "cli/message.h"
#include "cli/safe.h"
#include "cli/server.h"
#include "cli/usage.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define OPTIONS_HELP                                                                               \
    "  -y, --yes    do not ask; needed where there is no terminal to ask on\n"                     \
    "  -f, --force  also a sandbox that hermes-e2b did not make, or that a Hermes session on\n"    \
    "               this host is using\n"                                                          \
    "  -h, --help   print this and leave\n"                                                        \
    "\n"                                                                                           \
    "Exit code: 0 if all of them are; 1 if one is not there, in use, or not confirmed; 125\n"      \
    "if hermes-e2b failed.\n"

static const char kill_help[] =
    "Usage: hermes-e2b kill [OPTION]... ID...\n"
    "End sandboxes for good: what is in them is lost. Each is asked for first.\n"
    "\n" OPTIONS_HELP;

static const char pause_help[] =
    "Usage: hermes-e2b pause [OPTION]... ID...\n"
    "Pause sandboxes: their files are kept, their processes end. Each is asked for first.\n"
    "\n" OPTIONS_HELP;

enum {
    PATH_MAX_BYTES = 4096,
    SHOWN_MAX = 256,
};

struct end {
    const char *name;     /* "kill" */
    const char *question; /* "Kill" */
    const char *done;     /* "killed" */
    const char *help;
    int (*act)(struct server *server, const char *id);
    bool yes;
    bool force;
    struct server server;
};

/* What is known of the one at hand. */
struct target {
    char id[SHOWN_MAX];
    char state[SHOWN_MAX]; /* safe for a terminal */
    char scope[SHOWN_MAX];
    bool ours;
};

/* ---- may it be? ---- */

static bool writer_is_away(const char *id, const char *scope)
{
    char home[PATH_MAX_BYTES];
    int error = home_path(home, sizeof(home)) ? he2b_scope_writer(home, scope) : HE2B_ERR_SETTING;

    switch (error) {
    case HE2B_OK:
        return true;
    case HE2B_ERR_BUSY:
        message_error("%s: a Hermes session on this host is using it (%s/cache/e2b); end that "
                      "first, or give --force",
                      id, home);
        return false;
    case HE2B_ERR_SETTING:
        message_error("%s: whether a Hermes session uses it cannot be told: set HERMES_HOME to an "
                      "absolute path, or give --force",
                      id);
        return false;
    default:
        message_error("%s: whether a Hermes session uses it cannot be told (%s); give --force to "
                      "do it all the same",
                      id, strerror(errno));
        return false;
    }
}

static bool confirmed(const struct end *end, const struct target *target)
{
    if (end->yes || confirm("%s sandbox %s (%s)? [y/N] ", end->question, target->id, target->state))
        return true;
    message_error("%s: left as it is", target->id);
    return false;
}

static bool allowed(const struct end *end, const struct target *target)
{
    if (!end->force && !target->ours) {
        message_error("%s: hermes-e2b did not make it; give --force to %s it all the same",
                      target->id, end->name);
        return false;
    }
    if (!end->force && target->scope[0] && !writer_is_away(target->id, target->scope))
        return false;
    return confirmed(end, target);
}

/* Only noted: files and people are waited for when the loop does not run. */
static void note(void *user, const he2b_sandbox_info *const *items, size_t count)
{
    struct target *target = user;

    if (!count)
        return;
    safe_text(target->id, sizeof(target->id), he2b_sandbox_info_id(items[0]));
    safe_text(target->state, sizeof(target->state), he2b_sandbox_info_state(items[0]));
    snprintf(target->scope, sizeof(target->scope), "%s", he2b_sandbox_info_scope(items[0]));
    target->ours = he2b_sandbox_info_ours(items[0]) != 0;
}

/* ---- one after the other ---- */

static int end_one(struct end *end, const char *id)
{
    struct target target = {0};
    int error = server_get(&end->server, id, note, &target);

    if (!error && !allowed(end, &target))
        return EXIT_NOT_DONE;
    if (!error)
        error = end->act(&end->server, id);
    if (!error) {
        printf("%s %s\n", id, end->done);
        fflush(stdout);
    }
    return server_exit(error);
}

static int end_all(struct end *end, char *const *ids)
{
    int worst = 0;

    if (!end->yes && !confirm_possible()) {
        message_error("%s: there is no terminal to ask on; give --yes if you mean it", end->name);
        return EXIT_NOT_DONE;
    }
    if (!server_open(&end->server))
        return EXIT_OWN_FAILURE;
    for (; *ids; ids++) {
        int code = end_one(end, *ids);

        if (code > worst)
            worst = code;
    }
    server_close(&end->server);
    return worst;
}

static int end_main(struct end *end, int argc, char **argv)
{
    static const struct option options[] = {
        {"yes", no_argument, NULL, 'y'},
        {"force", no_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":yfh", options, NULL)) != -1) {
        switch (option) {
        case 'y':
            end->yes = true;
            break;
        case 'f':
            end->force = true;
            break;
        case 'h':
            fputs(end->help, stdout);
            return 0;
        default:
            usage_wrong_option(end->name, option, argv);
            return EXIT_OWN_FAILURE;
        }
    }
    if (!usage_ids(end->name, argv + optind, true))
        return EXIT_OWN_FAILURE;
    return end_all(end, argv + optind);
}

int kill_main(int argc, char **argv)
{
    struct end end = {.name = "kill",
                      .question = "Kill",
                      .done = "killed",
                      .help = kill_help,
                      .act = server_kill};

    return end_main(&end, argc, argv);
}

int pause_main(int argc, char **argv)
{
    struct end end = {.name = "pause",
                      .question = "Pause",
                      .done = "paused",
                      .help = pause_help,
                      .act = server_pause};

    return end_main(&end, argc, argv);
}
