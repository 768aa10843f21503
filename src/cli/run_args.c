#include "cli/run_args.h"

#include "cli/message.h"
#include "cli/usage.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: hermes-e2b run [OPTION]... [--] COMMAND [ARGUMENT]...\n"
    "Run a command in an E2B sandbox: one that is made for it and killed afterwards.\n"
    "\n"
    "The words of the command are joined with blanks and given to bash, as ssh does it:\n"
    "quote what the shell in the sandbox is to see. stdout and stderr come as one stream,\n"
    "on stdout, as they are produced.\n"
    "\n"
    "  -t, --template=T   template to make the sandbox from (base)\n"
    "  -s, --sandbox=ID   use this running sandbox instead of a new one; it is not killed\n"
    "      --timeout=N    end the command after N seconds (no limit)\n"
    "      --cwd=DIR      working directory (/home/user)\n"
    "  -i, --stdin        give the command this program's standard input, read to its end\n"
    "                     before the command starts; without it the command has none\n"
    "  -l, --login        run the command in a login shell\n"
    "  -v, --verbose      say on stderr what is being done\n"
    "  -h, --help         print this and leave\n"
    "\n"
    "Ctrl-C ends the command and kills the sandbox; a second one leaves at once.\n"
    "\n"
    "Exit code: the command's own (128+N if signal N ended it), or\n"
    "  124  the command was ended at its limit\n"
    "  125  hermes-e2b failed before the command started; stderr says why\n"
    "  129, 130, 143  ended by SIGHUP, Ctrl-C, SIGTERM\n"
    "  141  nobody reads the output any more; the command was ended\n"
    "  255  the command started, or may have, and how it ended is not known\n";

static bool join_words(struct run_args *args, char **words)
{
    size_t size = 1;
    size_t i;
    char *at;

    for (i = 0; words[i]; i++)
        size += strlen(words[i]) + 1;
    args->command = malloc(size);
    if (!args->command) {
        message_error("out of memory");
        return false;
    }
    at = args->command;
    for (i = 0; words[i]; i++) {
        if (i)
            *at++ = ' ';
        at = stpcpy(at, words[i]);
    }
    *at = '\0';
    return true;
}

static bool check(const struct run_args *args, char *const *words)
{
    if (args->sandbox && args->template_id) {
        message_error("--template is for a new sandbox, --sandbox for one that runs: give one");
        return false;
    }
    if (!words[0]) {
        message_error("run: which command? For example: hermes-e2b run -- 'uname -a'");
        return false;
    }
    return true;
}

enum run_args_outcome run_args_read(struct run_args *ret, int argc, char **argv)
{
    static const struct option options[] = {
        {"template", required_argument, NULL, 't'}, {"sandbox", required_argument, NULL, 's'},
        {"timeout", required_argument, NULL, 'T'},  {"cwd", required_argument, NULL, 'C'},
        {"stdin", no_argument, NULL, 'i'},          {"login", no_argument, NULL, 'l'},
        {"verbose", no_argument, NULL, 'v'},        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},        {NULL, 0, NULL, 0},
    };
    int option;

    memset(ret, 0, sizeof(*ret));
    opterr = 0;
    /* "+": what follows the first word of the command is the command's */
    while ((option = getopt_long(argc, argv, "+:t:s:ilvhV", options, NULL)) != -1) {
        switch (option) {
        case 't':
            ret->template_id = optarg;
            break;
        case 's':
            ret->sandbox = optarg;
            break;
        case 'T':
            if (!usage_seconds("--timeout", optarg, &ret->timeout_ms))
                return RUN_ARGS_WRONG;
            break;
        case 'C':
            ret->cwd = optarg;
            break;
        case 'i':
            ret->forward_stdin = true;
            break;
        case 'l':
            ret->login = true;
            break;
        case 'v':
            ret->verbose = true;
            break;
        case 'h':
            fputs(help, stdout);
            return RUN_ARGS_TOLD;
        case 'V':
            usage_version();
            return RUN_ARGS_TOLD;
        default:
            usage_wrong_option("run", option, argv);
            return RUN_ARGS_WRONG;
        }
    }
    return check(ret, argv + optind) && join_words(ret, argv + optind) ? RUN_ARGS_RUN
                                                                       : RUN_ARGS_WRONG;
}

void run_args_done(struct run_args *args)
{
    free(args->command);
    args->command = NULL;
}
