#include "cli/usage.h"

#include "cli/exits.h"
#include "cli/message.h"
#include "he2b.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    /* A year; guards the milliseconds against overflow. */
    SECONDS_MAX = 366 * 24 * 3600,
};

void usage_wrong_option(const char *command, int option, char *const *argv)
{
    if (option == ':')
        message_error("%s needs a value; see hermes-e2b %s --help", argv[optind - 1], command);
    else
        message_error("%s: no such option, or not as it is meant; see hermes-e2b %s --help",
                      argv[optind - 1], command);
}

bool usage_help_only(const char *command, const char *help, int argc, char **argv, int *code)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;

    opterr = 0;
    option = getopt_long(argc, argv, ":h", options, NULL);
    if (option == -1)
        return true;
    if (option == 'h') {
        fputs(help, stdout);
        *code = 0;
    } else {
        usage_wrong_option(command, option, argv);
        *code = EXIT_OWN_FAILURE;
    }
    return false;
}

bool usage_seconds(const char *name, const char *text, int64_t *ret_ms)
{
    char *end = NULL;
    double seconds;

    errno = 0;
    seconds = strtod(text, &end);
    if (text[0] < '0' || text[0] > '9' || *end || errno || !(seconds >= 0.001) ||
        seconds > SECONDS_MAX) {
        message_error("%s=%s: give seconds, above 0 and at most %d", name, text, SECONDS_MAX);
        return false;
    }
    *ret_ms = (int64_t)(seconds * 1000);
    return true;
}

bool usage_ids(const char *command, char *const *words, bool several)
{
    if (!words[0]) {
        message_error("%s: which sandbox? hermes-e2b list shows them", command);
        return false;
    }
    if (words[1] && !several) {
        message_error("%s: one sandbox at a time", command);
        return false;
    }
    return true;
}

void usage_version(void)
{
    printf("hermes-e2b %s\n", he2b_version());
}
