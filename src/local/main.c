/*
 * e2b-local: a server that speaks E2B's wire on loopback.
 */
#include "he2b.h"
#include "local/options.h"
#include "local/plane.h"
#include "local/store.h"

#include <arpa/inet.h>
#include <stdio.h>

static int print(const char *text)
{
    if (fputs(text, stdout) < 0 || fflush(stdout) != 0) {
        perror("e2b-local: standard output");
        return OPTIONS_EXIT_FAILED;
    }
    return OPTIONS_EXIT_OK;
}

static int print_env(const struct options *options)
{
    char key[CREDENTIAL_KEY_LEN + 1];
    char address[STORE_ADDRESS_MAX];
    char why[STORE_WHY_MAX];
    char text[512];

    if (store_peek(options->state, key, address, why) < 0) {
        log_line(LOG_LEVEL_ERROR, "%s; start it with: e2b-local --state DIR", why);
        return OPTIONS_EXIT_NO_SERVER;
    }
    snprintf(text, sizeof text,
             "export E2B_API_URL=%s\nexport E2B_SANDBOX_URL=%s\nexport E2B_API_KEY=%s\n", address,
             address, key);
    return print(text);
}

int main(int argc, char **argv)
{
    struct options options;
    char why[OPTIONS_WHY_MAX];

    if (options_parse(&options, argc, argv, why) < 0) {
        log_line(LOG_LEVEL_ERROR, "%s", why);
        return OPTIONS_EXIT_USAGE;
    }
    log_set_level(options.log_level);
    switch (options.command) {
    case OPTIONS_HELP:
        return print(options_help);
    case OPTIONS_VERSION:
        return print("e2b-local " HE2B_VERSION "\n");
    case OPTIONS_ENV:
        return print_env(&options);
    case OPTIONS_SERVE:
        break;
    }
    return plane_serve(&options);
}
