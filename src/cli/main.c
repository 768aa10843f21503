#include "cli/cli.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cli_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("hermes-e2b: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static void usage(FILE *out)
{
    fputs("usage: hermes-e2b run [OPTIONS] -- COMMAND...   run a command in a new E2B sandbox\n"
          "       hermes-e2b --help | --version\n"
          "\n"
          "The words of COMMAND are joined by spaces and run by bash, as ssh does it. The sandbox "
          "is killed\n"
          "when the command has ended, and on Ctrl-C.\n"
          "\n"
          "  -t, --template NAME   E2B template to make the sandbox from (base)\n"
          "      --timeout N       seconds the command may take, 0 for no limit (0)\n"
          "  -i, --stdin           send standard input to the command; read to its end first\n"
          "      --sandbox ID      use this sandbox instead of a new one, and leave it running\n"
          "      --no-internet     without internet access\n"
          "  -v, --verbose         tell on standard error what happens\n"
          "\n"
          "Exit status: the command's own; 124 it ran into its limit; 125 it was not started, for "
          "the reason\n"
          "that is printed; 130 interrupted; 255 it was started and how it ended is not known.\n"
          "\n"
          "Environment: E2B_API_KEY (a key from https://e2b.dev/dashboard), E2B_DOMAIN, "
          "E2B_API_URL,\n"
          "E2B_SANDBOX_URL. Without an account: e2b-local & eval \"$(e2b-local env)\"\n",
          out);
}

int main(int argc, char **argv)
{
    /* A reader of ours that leaves ends the command; it does not end us before the sandbox is
     * killed. */
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        usage(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        usage(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("hermes-e2b %s\n", he2b_version());
        return 0;
    }
    if (strcmp(argv[1], "run") == 0)
        return cli_run(argc - 1, argv + 1);
    cli_say("%s: no such command; hermes-e2b --help lists them", argv[1]);
    return CLI_USAGE;
}
