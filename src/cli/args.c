#include "cli/args.h"

#include "cli/message.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* A year; guards the milliseconds against overflow. */
    TIMEOUT_MAX_S = 366 * 24 * 3600,
};

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
    "  -V, --version      print the version and leave\n"
    "\n"
    "Ctrl-C ends the command and kills the sandbox; a second one leaves at once.\n"
    "\n"
    "Exit code: the command's own (128+N if signal N ended it), or\n"
    "  124  the command was ended at its limit\n"
    "  125  hermes-e2b failed before the command started; stderr says why\n"
    "  129, 130, 143  ended by SIGHUP, Ctrl-C, SIGTERM\n"
    "  141  nobody reads the output any more; the command was ended\n"
    "  255  the command started, or may have, and how it ended is not known\n"
    "\n"
    "Environment: E2B_API_KEY is needed, from https://e2b.dev/dashboard. E2B_DOMAIN,\n"
    "E2B_API_URL and E2B_SANDBOX_URL name another server; for a local one,\n"
    "  eval \"$(e2b-local env)\"\n"
    "sets all of them.\n";

void args_print_help(void)
{
    fputs(help, stdout);
}

/* Seconds as a decimal number to milliseconds. */
static bool read_timeout(const char *text, int64_t *ret)
{
    char *end = NULL;
    double seconds;

    errno = 0;
    seconds = strtod(text, &end);
    if (text[0] < '0' || text[0] > '9' || *end || errno || !(seconds >= 0.001) ||
        seconds > TIMEOUT_MAX_S) {
        message_error("--timeout=%s: give seconds, above 0 and at most %d", text, TIMEOUT_MAX_S);
        return false;
    }
    *ret = (int64_t)(seconds * 1000);
    return true;
}

static bool join_words(struct args *args, char **words)
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

/* argv[0] is "run". */
static bool read_run(struct args *args, int argc, char **argv)
{
    static const struct option options[] = {
        {"template", required_argument, NULL, 't'}, {"sandbox", required_argument, NULL, 's'},
        {"timeout", required_argument, NULL, 'T'},  {"cwd", required_argument, NULL, 'C'},
        {"stdin", no_argument, NULL, 'i'},          {"login", no_argument, NULL, 'l'},
        {"verbose", no_argument, NULL, 'v'},        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},        {NULL, 0, NULL, 0},
    };
    int option;

    args->action = ARGS_RUN;
    opterr = 0;
    /* "+": what follows the first word of the command is the command's */
    while ((option = getopt_long(argc, argv, "+:t:s:ilvhV", options, NULL)) != -1) {
        switch (option) {
        case 't':
            args->template_id = optarg;
            break;
        case 's':
            args->sandbox = optarg;
            break;
        case 'T':
            if (!read_timeout(optarg, &args->timeout_ms))
                return false;
            break;
        case 'C':
            args->cwd = optarg;
            break;
        case 'i':
            args->forward_stdin = true;
            break;
        case 'l':
            args->login = true;
            break;
        case 'v':
            args->verbose = true;
            break;
        case 'h':
            args->action = ARGS_HELP;
            return true;
        case 'V':
            args->action = ARGS_VERSION;
            return true;
        case ':':
            message_error("%s needs a value; see hermes-e2b --help", argv[optind - 1]);
            return false;
        default:
            message_error("%s: no such option, or not as it is meant; see hermes-e2b --help",
                          argv[optind - 1]);
            return false;
        }
    }
    if (args->sandbox && args->template_id) {
        message_error("--template is for a new sandbox, --sandbox for one that runs: give one");
        return false;
    }
    if (!argv[optind]) {
        message_error("run: which command? For example: hermes-e2b run -- 'uname -a'");
        return false;
    }
    return join_words(args, argv + optind);
}

bool args_read(struct args *ret, int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";

    memset(ret, 0, sizeof(*ret));
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "help") == 0) {
        ret->action = ARGS_HELP;
        return true;
    }
    if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0) {
        ret->action = ARGS_VERSION;
        return true;
    }
    if (strcmp(word, "run") == 0)
        return read_run(ret, argc - 1, argv + 1);
    if (word[0])
        message_error("%s: no such command; there is: hermes-e2b run -- COMMAND", word);
    else
        message_error("what to do? For example: hermes-e2b run -- 'uname -a'; --help says more");
    return false;
}

void args_done(struct args *args)
{
    free(args->command);
    args->command = NULL;
}
