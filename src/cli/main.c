/* hermes-e2b: commands in E2B sandboxes, and the sandboxes themselves, from a shell. */
#include "cli/connect.h"
#include "cli/doctor.h"
#include "cli/end.h"
#include "cli/exits.h"
#include "cli/list.h"
#include "cli/message.h"
#include "cli/run.h"
#include "cli/shell.h"
#include "cli/show.h"
#include "cli/usage.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
} commands[] = {
    {"run", run_main},   {"list", list_main},   {"show", show_main},   {"connect", connect_main},
    {"kill", kill_main}, {"pause", pause_main}, {"shell", shell_main}, {"doctor", doctor_main},
};

static const char help[] =
    "Usage: hermes-e2b COMMAND [OPTION]... [ARGUMENT]...\n"
    "Run commands in E2B sandboxes, and look after the sandboxes.\n"
    "\n"
    "  run [--] COMMAND...  run a command in a sandbox that is made for it\n"
    "  shell [ID]           open a terminal in a sandbox that runs\n"
    "  list                 list the sandboxes that hermes-e2b and its Hermes plugin made\n"
    "  show ID              print what the server says of one\n"
    "  connect ID           wake a paused one, or extend the lease of one that runs\n"
    "  pause ID...          pause them; their files are kept\n"
    "  kill ID...           end them for good\n"
    "  doctor               look whether everything that is needed is there\n"
    "\n"
    "  -h, --help           print this and leave; hermes-e2b COMMAND --help says more\n"
    "  -V, --version        print the version and leave\n"
    "\n"
    "Exit code: that of the command that was run; else 0, or\n"
    "  1    not done: no such sandbox, in use, not confirmed; doctor: something fails\n"
    "  125  hermes-e2b failed; stderr says why\n"
    "\n"
    "Environment: E2B_API_KEY is needed, from https://e2b.dev/dashboard. E2B_DOMAIN,\n"
    "E2B_API_URL and E2B_SANDBOX_URL name another server; for a local one,\n"
    "  eval \"$(e2b-local env)\"\n"
    "sets all of them. HERMES_HOME is where Hermes keeps its files (~/.hermes).\n";

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static int run_word(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    size_t i;

    if (is_one_of(word, "-h", "--help", "help")) {
        fputs(help, stdout);
        return 0;
    }
    if (is_one_of(word, "-V", "--version", "version")) {
        usage_version();
        return 0;
    }
    for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(word, commands[i].name) == 0)
            return commands[i].main(argc - 1, argv + 1);
    }
    if (word[0])
        message_error("%s: no such command; hermes-e2b --help lists them", word);
    else
        message_error("what to do? For example: hermes-e2b run -- 'uname -a'; --help says more");
    return EXIT_OWN_FAILURE;
}

int main(int argc, char **argv)
{
    int code;

    /* A reader that goes away is an error of write(), or the sandbox would be left behind. */
    signal(SIGPIPE, SIG_IGN);
    code = run_word(argc, argv);
    if (fflush(stdout) != 0 && code == 0)
        code = EXIT_OWN_FAILURE;
    return code;
}
