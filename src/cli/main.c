/* hermes-e2b: commands in E2B sandboxes, from a shell. */
#include "cli/args.h"
#include "cli/run.h"
#include "he2b.h"

#include <signal.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct args args;
    int code = 0;

    /* A reader that goes away is an error of write(), or the sandbox would be left behind. */
    signal(SIGPIPE, SIG_IGN);
    if (!args_read(&args, argc, argv))
        return ARGS_EXIT_OWN_FAILURE;
    switch (args.action) {
    case ARGS_RUN:
        code = run_command(&args);
        break;
    case ARGS_HELP:
        args_print_help();
        break;
    case ARGS_VERSION:
        printf("hermes-e2b %s\n", he2b_version());
        break;
    }
    args_done(&args);
    if (args.action != ARGS_RUN && fflush(stdout) != 0)
        code = ARGS_EXIT_OWN_FAILURE;
    return code;
}
