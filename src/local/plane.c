#include "local/plane.h"

#include "local/api.h"
#include "local/data.h"
#include "local/http.h"
#include "local/log.h"
#include "local/route.h"
#include "local/sandbox.h"
#include "local/stamp.h"
#include "local/sweep.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    /* without a limit of the system's; guards the tables that grow with descriptors */
    DESCRIPTORS_MAX = 1024 * 1024,
    /* kept for everything but streams, which need two each */
    DESCRIPTORS_SPARE = 256,
    BACKLOG = 1024,
};

/* ---- sandboxes ---- */

struct sandbox *plane_find(const struct plane *plane, const char *id)
{
    struct sandbox *sandbox = plane->first;

    while (sandbox && strcmp(sandbox->id, id) != 0)
        sandbox = sandbox->next;
    return sandbox;
}

int64_t plane_capped_s(const struct plane *plane, int64_t seconds)
{
    int64_t most = plane->options->max_lease_s;
    return seconds < most ? seconds : most;
}

void plane_arm_leases(struct plane *plane)
{
    int64_t nearest = INT64_MAX;

    for (const struct sandbox *s = plane->first; s; s = s->next) {
        if (sandbox_has_lease(s) && sandbox_left_ms(s) < nearest)
            nearest = sandbox_left_ms(s);
    }
    if (!plane->lease_timer)
        return;
    if (nearest == INT64_MAX) {
        event_del(plane->lease_timer);
        return;
    }
    if (nearest < 0)
        nearest = 0;
    /* the clocks differ by what is below a millisecond */
    const struct timeval wait = {nearest / 1000, (suseconds_t)(nearest % 1000 * 1000 + 1000)};
    event_add(plane->lease_timer, &wait);
}

static void expire(struct sandbox *sandbox)
{
    log_line(LOG_LEVEL_INFO, "sandbox %s: its lease is over", sandbox->id);
    if (sandbox->settings.auto_pause)
        sandbox_pause(sandbox, sandbox->settings.auto_pause_memory);
    else
        sandbox_kill(sandbox);
}

static void on_lease(evutil_socket_t fd, short what, void *user)
{
    struct plane *plane = user;
    struct sandbox *sandbox = plane->first;

    (void)fd;
    (void)what;
    while (sandbox) {
        struct sandbox *next = sandbox->next;
        if (sandbox_has_lease(sandbox) && sandbox_left_ms(sandbox) <= 0)
            expire(sandbox);
        sandbox = next;
    }
    plane_arm_leases(plane);
}

static void restore_one(void *user, const char *id, const he2b_json *record)
{
    struct plane *plane = user;

    if (!sandbox_restore(plane, id, record))
        log_line(LOG_LEVEL_WARNING,
                 "the record of sandbox %s makes no sense; its folder is left alone", id);
}

static void sweep_one(void *user, const char *name)
{
    struct plane *plane = user;
    sweep_start(plane->sweep, name);
}

/* ---- requests ---- */

static void on_request(void *user, struct http_request *request)
{
    struct plane *plane = user;
    const char *host = http_header(request, "Host");
    struct route route;

    /* no query: it may hold a signature */
    log_line(LOG_LEVEL_DEBUG, "%s %.*s", http_method(request), (int)http_path_len(request),
             http_target(request));
    route_decide(&route, host ? host : "localhost", http_header(request, "E2b-Sandbox-Id"),
                 http_header(request, "E2b-Sandbox-Port"));
    if (route.kind == ROUTE_CONTROL)
        api_begin(plane, request);
    else
        data_begin(plane, request, &route);
}

/* ---- start ---- */

/* Returns how many connections fit. */
static unsigned raise_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return DESCRIPTORS_SPARE;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > DESCRIPTORS_MAX)
        limit.rlim_max = limit.rlim_cur > DESCRIPTORS_MAX ? limit.rlim_cur : DESCRIPTORS_MAX;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 4 * DESCRIPTORS_SPARE)
        return DESCRIPTORS_SPARE;
    return (unsigned)((limit.rlim_cur - DESCRIPTORS_SPARE) / 2);
}

static void warn(const char *why)
{
    if (*why)
        log_line(LOG_LEVEL_WARNING, "%s", why);
}

static int look(struct plane *plane)
{
    struct launch_abilities *abilities = &plane->abilities;

    launch_look(abilities, plane->options->without_isolation);
    if (plane->options->without_isolation) {
        warn("NO ISOLATION: commands run as you and can read, change and send away everything "
             "that you can");
        return OPTIONS_EXIT_OK;
    }
    if (!abilities->isolation) {
        log_line(LOG_LEVEL_ERROR, "sandboxes cannot be isolated here: %s",
                 abilities->isolation_why);
        return OPTIONS_EXIT_ISOLATION;
    }
    warn(abilities->many_ids_why);
    if (plane->options->share_host_network)
        warn("sandboxes use this machine's network: they reach whatever listens on it, also on "
             "its loopback");
    else if (!plane->options->no_internet)
        warn(abilities->internet_why);
    warn(abilities->memory_limit_why);
    return OPTIONS_EXIT_OK;
}

static void measure(struct plane *plane)
{
    struct statvfs disk;
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    plane->cpu_count = cpus > 0 ? cpus : 1;
    plane->memory_mb = pages > 0 && page > 0 ? (int64_t)pages * page / (1024 * 1024) : 512;
    if (plane->abilities.memory_limit && plane->memory_mb > (int64_t)(PLANE_MEMORY_MAX >> 20))
        plane->memory_mb = (int64_t)(PLANE_MEMORY_MAX >> 20);
    plane->disk_mb = 0;
    if (fstatvfs(plane->store.folders_fd, &disk) == 0)
        plane->disk_mb = (int64_t)(disk.f_blocks * disk.f_frsize / (1024 * 1024));
}

static int open_store(struct plane *plane)
{
    char why[STORE_WHY_MAX];
    enum store_error error = store_open(&plane->store, plane->options->state, why);

    if (error == STORE_OK && store_check_base(&plane->store, launch_base_id(), why) < 0)
        error = STORE_FAILED;
    if (error == STORE_OK)
        return OPTIONS_EXIT_OK;
    log_line(LOG_LEVEL_ERROR, "%s", why);
    return error == STORE_IN_USE ? OPTIONS_EXIT_IN_USE : OPTIONS_EXIT_STATE;
}

/* The socket, and where it listens as a URL. -1: told already. */
static int listen_on(const struct options *options, char url[STORE_ADDRESS_MAX])
{
    struct options bound = *options;
    bool v6 = options->address.any.sa_family == AF_INET6;
    socklen_t len = v6 ? sizeof bound.address.v6 : sizeof bound.address.v4;
    int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int yes = 1;
    char host[INET6_ADDRSTRLEN] = "";
    unsigned port = ntohs(v6 ? options->address.v6.sin6_port : options->address.v4.sin_port);

    inet_ntop(v6 ? AF_INET6 : AF_INET,
              v6 ? (const void *)&bound.address.v6.sin6_addr : &bound.address.v4.sin_addr, host,
              sizeof host);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0 ||
        bind(fd, &bound.address.any, len) < 0 || listen(fd, BACKLOG) < 0 ||
        getsockname(fd, &bound.address.any, &len) < 0) {
        log_line(LOG_LEVEL_ERROR, "cannot listen on %s, port %u: %s%s", host, port, strerror(errno),
                 errno == EADDRINUSE ? "; --port 0 chooses a free one" : "");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    port = ntohs(v6 ? bound.address.v6.sin6_port : bound.address.v4.sin_port);
    snprintf(url, STORE_ADDRESS_MAX, v6 ? "http://[%s]:%u" : "http://%s:%u", host, port);
    return fd;
}

static int start_http(struct plane *plane, unsigned connections_max, char url[STORE_ADDRESS_MAX])
{
    char why[STORE_WHY_MAX];
    int fd = listen_on(plane->options, url);

    if (fd < 0)
        return OPTIONS_EXIT_LISTEN;
    if (http_new(&plane->http, plane->base, fd, on_request, plane, connections_max, why,
                 sizeof why) < 0 ||
        store_set_address(&plane->store, url, why) < 0) {
        log_line(LOG_LEVEL_ERROR, "%s", why);
        return OPTIONS_EXIT_FAILED;
    }
    return OPTIONS_EXIT_OK;
}

/* ---- running ---- */

static void on_signal(evutil_socket_t number, short what, void *user)
{
    struct plane *plane = user;

    (void)what;
    log_line(LOG_LEVEL_INFO, "%s: ending every sandbox", strsignal((int)number));
    event_base_loopbreak(plane->base);
}

static int run(struct plane *plane, const char *url)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct event *events[3] = {NULL};
    int result = OPTIONS_EXIT_FAILED;

    for (size_t i = 0; i < 3; i++) {
        events[i] = evsignal_new(plane->base, numbers[i], on_signal, plane);
        if (!events[i] || event_add(events[i], NULL) != 0)
            goto done;
    }
    printf("e2b-local listening on %s\n", url);
    if (fflush(stdout) == 0 && event_base_dispatch(plane->base) >= 0)
        result = OPTIONS_EXIT_OK;
done:
    for (size_t i = 0; i < 3; i++) {
        if (events[i])
            event_free(events[i]);
    }
    return result;
}

static void end(struct plane *plane)
{
    if (plane->store.fd >= 0)
        (void)store_set_address(&plane->store, NULL, NULL);
    http_del(plane->http);
    /* all at once, then each is waited for */
    for (struct sandbox *s = plane->first; s; s = s->next) {
        if (s->launch)
            launch_kill(s->launch);
    }
    while (plane->first)
        sandbox_end(plane->first);
    sweep_del(plane->sweep);
    if (plane->create_turn)
        event_free(plane->create_turn);
    if (plane->lease_timer)
        event_free(plane->lease_timer);
    if (plane->base)
        event_base_free(plane->base);
    store_close(&plane->store);
}

static int prepare(struct plane *plane)
{
    plane->base = event_base_new();
    if (plane->base)
        plane->lease_timer = evtimer_new(plane->base, on_lease, plane);
    if (plane->lease_timer)
        plane->create_turn = evtimer_new(plane->base, api_create_turn, plane);
    if (plane->create_turn)
        plane->sweep = sweep_new(plane->base, plane->store.folders_fd);
    if (!plane->sweep) {
        log_line(LOG_LEVEL_ERROR, "out of memory");
        return OPTIONS_EXIT_FAILED;
    }
    measure(plane);
    store_each(&plane->store, restore_one, plane);
    plane_arm_leases(plane);
    store_each_stray(&plane->store, sweep_one, plane);
    return OPTIONS_EXIT_OK;
}

int plane_serve(const struct options *options)
{
    struct plane plane = {.options = options, .store = {-1, -1, -1, -1, -1, "", ""}};
    char url[STORE_ADDRESS_MAX];
    unsigned connections_max = raise_descriptors();
    int result;

    signal(SIGPIPE, SIG_IGN);
    result = look(&plane);
    if (result == OPTIONS_EXIT_OK)
        result = open_store(&plane);
    if (result == OPTIONS_EXIT_OK)
        result = prepare(&plane);
    if (result == OPTIONS_EXIT_OK)
        result = start_http(&plane, connections_max, url);
    if (result == OPTIONS_EXIT_OK)
        result = run(&plane, url);
    end(&plane);
    return result;
}
