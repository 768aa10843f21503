/* e2b-local: E2B's API on loopback, each sandbox in namespaces of its own. */
#include "he2b.h"
#include "local/plane.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <getopt.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    EXIT_USAGE = 2,
    EXIT_ISOLATION = 3,
    EXIT_STATE = 4,
    EXIT_ADDRESS = 5,
};

struct plane plane;

static bool quiet;

void plane_log(const char *format, ...)
{
    va_list args;

    if (quiet)
        return;
    va_start(args, format);
    fputs("e2b-local: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static void usage(FILE *out)
{
    fputs(
        "usage: e2b-local [serve] [OPTIONS]   serve E2B's API on loopback until Ctrl-C\n"
        "       e2b-local env [--state DIR]   print what to export so that E2B's SDKs and "
        "hermes-e2b use it\n"
        "\n"
        "  --host ADDRESS     loopback address to listen on (127.0.0.1)\n"
        "  --port N           port to listen on (3000); 0 takes a free one and prints it\n"
        "  --state DIR        where sandboxes and the key are kept\n"
        "                     ($XDG_STATE_HOME/e2b-local or ~/.local/state/e2b-local)\n"
        "  --template NAME    one more template that create accepts beside \"base\"; all are this\n"
        "                     machine's own programs\n"
        "  --no-internet      no sandbox gets internet access, whatever its create asks for\n"
        "  --quiet            no messages about sandboxes on standard error\n"
        "  --share-host-network-unsafely\n"
        "                     sandboxes use this machine's network, its loopback included\n"
        "  --unsafely-without-isolation\n"
        "                     commands run as you, on this machine, with all your files\n"
        "  --help, --version\n"
        "\n"
        "Exit status: 0 after Ctrl-C, 2 wrong usage, 3 sandboxes cannot be isolated here, 4 the "
        "state\n"
        "folder cannot be used, 5 the address cannot be used.\n",
        out);
}

struct options {
    const char *host;
    const char *state;
    int port;
};

static bool loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;

    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static void add_template(const char *name)
{
    if (plane.template_count == PLANE_TEMPLATES_MAX) {
        fprintf(stderr, "e2b-local: at most %d templates can be named\n", PLANE_TEMPLATES_MAX);
        exit(EXIT_USAGE);
    }
    plane.templates[plane.template_count++] = name;
}

static int read_port(const char *text)
{
    char *end;
    long port = strtol(text, &end, 10);

    if (end == text || *end || port < 0 || port > 65535) {
        fprintf(stderr, "e2b-local: --port %s: not a port\n", text);
        exit(EXIT_USAGE);
    }
    return (int)port;
}

static void read_options(struct options *options, int argc, char **argv)
{
    static const struct option names[] = {
        {"host", required_argument, NULL, 'h'},
        {"port", required_argument, NULL, 'p'},
        {"state", required_argument, NULL, 's'},
        {"template", required_argument, NULL, 't'},
        {"no-internet", no_argument, NULL, 'n'},
        {"quiet", no_argument, NULL, 'q'},
        {"share-host-network-unsafely", no_argument, NULL, 'N'},
        {"unsafely-without-isolation", no_argument, NULL, 'U'},
        {"help", no_argument, NULL, 'H'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    int c;

    options->host = "127.0.0.1";
    options->port = PLANE_PORT_DEFAULT;
    options->state = NULL;
    plane.internet = true;
    add_template("base");
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (c) {
        case 'h':
            options->host = strcasecmp(optarg, "localhost") == 0 ? "127.0.0.1" : optarg;
            break;
        case 'p':
            options->port = read_port(optarg);
            break;
        case 's':
            options->state = optarg;
            break;
        case 't':
            add_template(optarg);
            break;
        case 'n':
            plane.internet = false;
            break;
        case 'q':
            quiet = true;
            break;
        case 'N':
            plane.share_host_network = true;
            break;
        case 'U':
            plane.without_isolation = true;
            break;
        case 'H':
            usage(stdout);
            exit(0);
        case 'V':
            printf("e2b-local %s\n", HE2B_VERSION);
            exit(0);
        default:
            fprintf(stderr, "e2b-local --help lists the options\n");
            exit(EXIT_USAGE);
        }
    }
    if (!loopback(options->host)) {
        fprintf(
            stderr,
            "e2b-local: --host %s: only loopback addresses are served (127.0.0.1, ::1): whoever "
            "reaches this port can run commands\n",
            options->host);
        exit(EXIT_ADDRESS);
    }
}

static const char *state_folder(const struct options *options)
{
    static char folder[4096];

    if (options->state)
        return options->state;
    if (store_default_folder(folder, sizeof(folder)) != 0) {
        fprintf(stderr,
                "e2b-local: HOME is not set: say where sandboxes are kept with --state DIR\n");
        exit(EXIT_STATE);
    }
    return folder;
}

static int print_env(const struct options *options)
{
    char key[PLANE_KEY_SIZE];
    char url[256];
    char why[4500];

    if (store_read(state_folder(options), key, url, sizeof(url), why, sizeof(why)) != 0) {
        fprintf(stderr, "e2b-local: %s: start one with: e2b-local\n", why);
        return EXIT_STATE;
    }
    printf("export E2B_API_URL=%s\nexport E2B_SANDBOX_URL=%s\nexport E2B_API_KEY=%s\n", url, url,
           key);
    return 0;
}

/* ---- serving ---- */

static void look(void)
{
    launch_look(&plane.abilities, plane.without_isolation);
    if (plane.without_isolation) {
        fprintf(stderr,
                "e2b-local: WARNING: --unsafely-without-isolation: every command runs as you, on "
                "this machine, with all your files\n");
        return;
    }
    if (!plane.abilities.isolation) {
        fprintf(stderr, "e2b-local: sandboxes cannot be isolated here: %s\n",
                plane.abilities.isolation_why);
        exit(EXIT_ISOLATION);
    }
    if (plane.share_host_network)
        fprintf(stderr,
                "e2b-local: WARNING: --share-host-network-unsafely: commands reach everything "
                "that this machine reaches, its loopback included\n");
    if (!plane.abilities.many_ids)
        fprintf(stderr, "e2b-local: warning: %s\n", plane.abilities.many_ids_why);
    if (plane.internet && !plane.share_host_network && !plane.abilities.internet)
        fprintf(stderr, "e2b-local: warning: %s\n", plane.abilities.internet_why);
    if (!plane.abilities.memory_limit)
        fprintf(stderr, "e2b-local: warning: %s\n", plane.abilities.memory_limit_why);
}

static void stop_loop(void)
{
    event_base_loopbreak(plane.base);
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    if (plane.ending) {
        stop_loop(); /* asked twice: the kernel ends what is left */
        return;
    }
    plane_log("ending all sandboxes");
    sandbox_end_all(stop_loop);
}

static void raise_descriptors(void)
{
    struct rlimit limit;

    /* two descriptors and more per stream */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int serve(const struct options *options)
{
    const char *folder = state_folder(options);
    struct event *interrupt;
    struct event *terminate;
    char url[256];
    char why[512];
    int port = 0;
    bool v6 = strchr(options->host, ':') != NULL;

    signal(SIGPIPE, SIG_IGN);
    raise_descriptors();
    look();
    if (store_open(folder, why, sizeof(why)) != 0) {
        fprintf(stderr, "e2b-local: state folder %s: %s\n", folder, why);
        return EXIT_STATE;
    }
    plane.base = event_base_new();
    interrupt = plane.base ? evsignal_new(plane.base, SIGINT, on_stop, NULL) : NULL;
    terminate = plane.base ? evsignal_new(plane.base, SIGTERM, on_stop, NULL) : NULL;
    if (!interrupt || !terminate || event_add(interrupt, NULL) != 0 ||
        event_add(terminate, NULL) != 0) {
        fprintf(stderr, "e2b-local: the event loop does not start\n");
        return 1;
    }
    sandbox_load_all();
    if (http_listen(options->host, options->port, &port, why, sizeof(why)) != 0) {
        fprintf(stderr, "e2b-local: cannot listen on %s port %d: %s; --port 0 takes a free port\n",
                options->host, options->port, why);
        return EXIT_ADDRESS;
    }
    snprintf(url, sizeof(url), v6 ? "http://[%s]:%d" : "http://%s:%d", options->host, port);
    if (store_write_address(url) != 0) {
        fprintf(stderr, "e2b-local: state folder %s: the address cannot be written\n", folder);
        return EXIT_STATE;
    }
    printf("e2b-local listening on %s\n", url);
    fflush(stdout);
    event_base_dispatch(plane.base);
    store_remove_address();
    http_close();
    return 0;
}

int main(int argc, char **argv)
{
    struct options options;
    bool env = argc > 1 && strcmp(argv[1], "env") == 0;

    if (argc > 1 && argv[1][0] != '-') {
        if (!env && strcmp(argv[1], "serve") != 0) {
            fprintf(stderr, "e2b-local: %s: no such command\n", argv[1]);
            usage(stderr);
            return EXIT_USAGE;
        }
        argv[1] = argv[0];
        argv++;
        argc--;
    }
    read_options(&options, argc, argv);
    if (optind < argc) {
        fprintf(stderr, "e2b-local: %s: not expected\n", argv[optind]);
        return EXIT_USAGE;
    }
    return env ? print_env(&options) : serve(&options);
}
