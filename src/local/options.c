#include "local/options.h"

#include "local/store.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char options_help[] =
    "usage: e2b-local [serve] [OPTION]...   serve E2B's API for this machine\n"
    "       e2b-local env [--state DIR]     print what to export for the server of that folder\n"
    "\n"
    "  --host ADDRESS       loopback address to listen on (127.0.0.1)\n"
    "  --port N             port (3000); 0 chooses a free one\n"
    "  --state DIR          where sandboxes and the key are kept ($XDG_STATE_HOME/e2b-local or\n"
    "                       ~/.local/state/e2b-local)\n"
    "  --template NAME      one more name that create accepts as a template, besides base\n"
    "  --max-lease TIME     longest lease, and longest run, of a sandbox: a number with h, m or s\n"
    "                       behind it (24h)\n"
    "  --no-internet        no sandbox reaches the network, whatever it asks for\n"
    "  --log-level LEVEL    error, warning, info or debug (info)\n"
    "  --help, --version\n"
    "\n"
    "  --share-host-network-unsafely\n"
    "                       sandboxes use this machine's network, its loopback services included\n"
    "  --unsafely-without-isolation\n"
    "                       commands run as you, with all your files: only for a machine that is\n"
    "                       thrown away afterwards\n"
    "\n"
    "When it is ready it prints \"e2b-local listening on http://ADDRESS:PORT\" on standard "
    "output.\n"
    "Then, in a shell:  eval \"$(e2b-local env)\"\n"
    "Ctrl-C or SIGTERM ends it and everything that it started. The next start finds the sandboxes\n"
    "again, as paused, but for those that were to be killed at the end of a lease that is over.\n"
    "\n"
    "exit codes: 2 command line, 3 sandboxes cannot be isolated here, 4 state folder in use by\n"
    "another e2b-local, 5 state folder cannot be used, 6 address cannot be listened on,\n"
    "7 env: no server runs, 1 anything else\n";

static int fail(char why[OPTIONS_WHY_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int fail(char why[OPTIONS_WHY_MAX], const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, OPTIONS_WHY_MAX, format, args);
    va_end(args);
    return -1;
}

static int read_host(struct options *ret, const char *text, char why[OPTIONS_WHY_MAX])
{
    struct in_addr v4;
    struct in6_addr v6;

    if (strcmp(text, "localhost") == 0)
        text = "127.0.0.1";
    if (inet_pton(AF_INET, text, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127) {
        ret->address.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = v4};
        return 0;
    }
    if (inet_pton(AF_INET6, text, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6)) {
        ret->address.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = v6};
        return 0;
    }
    return fail(why,
                "--host %.100s: only loopback is served (127.0.0.0/8, ::1, localhost): whoever "
                "reaches this server can run programs",
                text);
}

static int read_port(unsigned *ret, const char *text, char why[OPTIONS_WHY_MAX])
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end || value > 65535)
        return fail(why, "--port %.100s: a port is a number from 0 to 65535", text);
    *ret = (unsigned)value;
    return 0;
}

/* Only with a unit: a bare number would be seconds to one and hours to another. */
static int read_lease(int64_t *ret, const char *text, char why[OPTIONS_WHY_MAX])
{
    char *unit;
    unsigned long value = strtoul(text, &unit, 10);
    unsigned long seconds = 0;

    if (strcmp(unit, "h") == 0)
        seconds = 3600;
    else if (strcmp(unit, "m") == 0)
        seconds = 60;
    else if (strcmp(unit, "s") == 0)
        seconds = 1;
    if (*text < '0' || *text > '9' || seconds == 0 || value == 0 ||
        value > OPTIONS_LEASE_MAX_S / seconds)
        return fail(why,
                    "--max-lease %.100s: a time is a number with h, m or s behind it, from 1s to "
                    "%dh",
                    text, OPTIONS_LEASE_MAX_S / 3600);
    *ret = (int64_t)(value * seconds);
    return 0;
}

static int add_template(struct options *ret, const char *name, char why[OPTIONS_WHY_MAX])
{
    if (ret->template_count == OPTIONS_TEMPLATES_MAX)
        return fail(why, "--template: at most %d names", OPTIONS_TEMPLATES_MAX);
    if (!*name || strlen(name) > 100 ||
        name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_./")] != '\0')
        return fail(
            why, "--template %.100s: a name is made of a-z, 0-9, \"-\", \"_\", \".\", \"/\"", name);
    ret->templates[ret->template_count++] = name;
    return 0;
}

static int read_command(struct options *ret, int argc, char **argv, char why[OPTIONS_WHY_MAX])
{
    if (argc == 0 || strcmp(argv[0], "serve") == 0)
        ret->command = OPTIONS_SERVE;
    else if (strcmp(argv[0], "env") == 0)
        ret->command = OPTIONS_ENV;
    else
        return fail(why, "\"%.100s\" is no command; see e2b-local --help", argv[0]);
    if (argc > 1)
        return fail(why, "\"%.100s\" is one argument too many; see e2b-local --help", argv[1]);
    return 0;
}

static int finish(struct options *ret, const char *host, unsigned port, char why[OPTIONS_WHY_MAX])
{
    if (read_host(ret, host, why) < 0)
        return -1;
    if (ret->address.any.sa_family == AF_INET)
        ret->address.v4.sin_port = htons((uint16_t)port);
    else
        ret->address.v6.sin6_port = htons((uint16_t)port);
    if (!*ret->state && !store_default_path(ret->state, sizeof ret->state))
        return fail(why, "there is no home directory to keep the state in; choose a folder with "
                         "--state");
    return 0;
}

int options_parse(struct options *ret, int argc, char **argv, char why[OPTIONS_WHY_MAX])
{
    enum {
        HOST = 1,
        PORT,
        STATE,
        TEMPLATE,
        LEASE,
        NO_INTERNET,
        LEVEL,
        SHARE,
        UNSAFE,
        HELP,
        VERSION
    };
    static const struct option known[] = {
        {"host", required_argument, NULL, HOST},
        {"port", required_argument, NULL, PORT},
        {"state", required_argument, NULL, STATE},
        {"template", required_argument, NULL, TEMPLATE},
        {"max-lease", required_argument, NULL, LEASE},
        {"no-internet", no_argument, NULL, NO_INTERNET},
        {"log-level", required_argument, NULL, LEVEL},
        {"share-host-network-unsafely", no_argument, NULL, SHARE},
        {"unsafely-without-isolation", no_argument, NULL, UNSAFE},
        {"help", no_argument, NULL, HELP},
        {"version", no_argument, NULL, VERSION},
        {NULL, 0, NULL, 0},
    };
    const char *host = "127.0.0.1";
    unsigned port = OPTIONS_PORT;
    int option;

    memset(ret, 0, sizeof *ret);
    ret->log_level = LOG_LEVEL_INFO;
    ret->max_lease_s = OPTIONS_LEASE_S;
    ret->templates[ret->template_count++] = "base";
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", known, NULL)) != -1) {
        switch (option) {
        case HOST:
            host = optarg;
            break;
        case PORT:
            if (read_port(&port, optarg, why) < 0)
                return -1;
            break;
        case STATE:
            if (!*optarg || strlen(optarg) >= sizeof ret->state)
                return fail(why, "--state needs a path");
            snprintf(ret->state, sizeof ret->state, "%s", optarg);
            break;
        case TEMPLATE:
            if (add_template(ret, optarg, why) < 0)
                return -1;
            break;
        case LEASE:
            if (read_lease(&ret->max_lease_s, optarg, why) < 0)
                return -1;
            break;
        case NO_INTERNET:
            ret->no_internet = true;
            break;
        case LEVEL:
            if (!log_level_parse(&ret->log_level, optarg))
                return fail(why, "--log-level %.100s: error, warning, info or debug", optarg);
            break;
        case SHARE:
            ret->share_host_network = true;
            break;
        case UNSAFE:
            ret->without_isolation = true;
            break;
        case HELP:
        case 'h':
            ret->command = OPTIONS_HELP;
            return 0;
        case VERSION:
            ret->command = OPTIONS_VERSION;
            return 0;
        case ':':
            return fail(why, "%.100s needs a value; see e2b-local --help", argv[optind - 1]);
        default:
            return fail(why, "%.100s is no option; see e2b-local --help", argv[optind - 1]);
        }
    }
    if (read_command(ret, argc - optind, argv + optind, why) < 0)
        return -1;
    return finish(ret, host, port, why);
}
