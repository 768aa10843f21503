#include "cli/shell.h"

#include "cli/exits.h"
#include "cli/list.h"
#include "cli/message.h"
#include "cli/raw_mode.h"
#include "cli/server.h"
#include "cli/sitting.h"
#include "cli/usage.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: hermes-e2b shell [OPTION]... [ID]\n"
    "Open a terminal in a sandbox, to look at what is being done there. Without an ID in the\n"
    "one that runs; if there are several, they are listed.\n"
    "\n"
    "  -h, --help  print this and leave\n"
    "\n"
    "Every key goes to the shell there, Ctrl-C, Ctrl-D and Ctrl-Z too. Only at the start of a\n"
    "line, that is after Enter, Ctrl-C or Ctrl-D, are these for hermes-e2b:\n"
    "  ~.          leave; the shell and what runs in it go on in the sandbox\n"
    "  ~~          type a ~\n"
    "  ~?          print this list\n"
    "\n"
    "A paused sandbox is woken. While the terminal is open the sandbox's lease is extended,\n"
    "never shortened. Hermes sessions that use the sandbox do not notice.\n"
    "\n"
    "Exit code: that of the shell; 0 after ~.; 1 if there is no such sandbox, or no single\n"
    "one; 125 if no shell could be started; 255 if the connection was lost.\n";

struct choice {
    char id[256];
    size_t running;
};

static void choose(void *user, const he2b_sandbox_info *const *items, size_t count)
{
    struct choice *choice = user;
    size_t i;

    for (i = 0; i < count; i++) {
        if (strcmp(he2b_sandbox_info_state(items[i]), "running") != 0)
            continue;
        choice->running++;
        snprintf(choice->id, sizeof(choice->id), "%s", he2b_sandbox_info_id(items[i]));
    }
    if (choice->running > 1)
        list_print_table("running", items, count);
}

/* 0, or the program's exit code. */
static int choose_running(struct server *server, struct choice *choice)
{
    int code = server_exit(server_list(server, choose, choice));

    if (code)
        return code;
    if (choice->running == 1)
        return 0;
    (void)fflush(stdout);
    if (choice->running)
        message_error("shell: in which one? hermes-e2b shell ID");
    else
        message_error("shell: no sandbox of hermes-e2b or its plugin runs; hermes-e2b list shows "
                      "the paused ones, hermes-e2b shell ID wakes one");
    return EXIT_NOT_DONE;
}

static int shell_in(const char *id)
{
    struct choice choice = {.running = 0};
    struct server server;
    int code = 0;

    if (!server_open(&server))
        return EXIT_OWN_FAILURE;
    if (!id)
        code = choose_running(&server, &choice);
    if (code == 0)
        code = sitting(&server, id ? id : choice.id);
    server_close(&server);
    return code;
}

int shell_main(int argc, char **argv)
{
    int code;

    if (!usage_help_only("shell", help, argc, argv, &code))
        return code;
    if (argv[optind] && !usage_ids("shell", argv + optind, false))
        return EXIT_OWN_FAILURE;
    if (!raw_mode_open(STDIN_FILENO)) {
        message_error("shell: standard input is no terminal; hermes-e2b run -s ID runs a command "
                      "without one");
        return EXIT_OWN_FAILURE;
    }
    return shell_in(argv[optind]);
}
