/* The daemon's main: its two descriptors, its signals, its end. */
#include "local/daemon.h"
#include "local/link.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    /* The first packet holds the sandbox's variables. */
    CONTROL_PACKET_MAX = 256 * 1024,
};

struct daemon_globals daemon_globals;

static struct event *listening;

static void on_listen_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    event_add(listening, NULL);
}

static void on_connection(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval a_while = {.tv_usec = 50 * 1000};
    int connection;

    (void)what;
    (void)arg;
    while ((connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
        exchange_accept(connection);
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
        return;
    /* No descriptors or memory: who waits keeps waiting, until something has ended. */
    event_del(listening);
    event_base_once(daemon_globals.base, -1, EV_TIMEOUT, on_listen_again, NULL, &a_while);
}

static void say_up(void)
{
    static const char up[] = "{\"up\":true}";

    while (send(LINK_CONTROL_FD, up, sizeof(up) - 1, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
}

static void init(const he2b_json *values)
{
    const char *id = he2b_json_get_string(values, "sandboxID");
    const char *template_id = he2b_json_get_string(values, "templateID");
    const he2b_json *env_vars = he2b_json_get(values, "envVars");

    snprintf(daemon_globals.sandbox_id, sizeof(daemon_globals.sandbox_id), "%s", id ? id : "");
    snprintf(daemon_globals.template_id, sizeof(daemon_globals.template_id), "%s",
             template_id ? template_id : "");
    if (env_vars) {
        union {
            const he2b_json *in;
            he2b_json *out;
        } cast = {.in = env_vars};
        size_t len = 0;
        const char *text = he2b_json_text(cast.out, &len);

        if (text)
            (void)he2b_json_parse(&daemon_globals.env_vars, text, len);
    }
}

static void start_listening(void)
{
    if (listening)
        return;
    listening =
        event_new(daemon_globals.base, LINK_LISTEN_FD, EV_READ | EV_PERSIST, on_connection, NULL);
    if (!listening || event_add(listening, NULL) != 0)
        exit(1);
    say_up();
}

static void on_control(evutil_socket_t fd, short what, void *arg)
{
    static char packet[CONTROL_PACKET_MAX];
    he2b_json *json = NULL;
    bool freeze = false;
    ssize_t n;

    (void)what;
    (void)arg;
    n = recv(fd, packet, sizeof(packet), 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        /* The plane is gone: so is everything that it started here. */
        process_signal_all(SIGKILL);
        event_base_loopbreak(daemon_globals.base);
        return;
    }
    if (he2b_json_parse(&json, packet, (size_t)n) != 0)
        return;
    if (he2b_json_get(json, "init")) {
        init(he2b_json_get(json, "init"));
        start_listening();
    } else if (he2b_json_bool(he2b_json_get(json, "freeze"), &freeze)) {
        process_signal_all(freeze ? SIGSTOP : SIGCONT);
    }
    he2b_json_del(json);
}

static void close_on_exec(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0) {
        fprintf(stderr,
                "e2b-local-daemon: descriptor %d is not open; e2b-local starts this program\n", fd);
        exit(2);
    }
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Hundreds of processes have four descriptors each; they themselves get what was there. */
static void raise_descriptors(void)
{
    struct rlimit most;

    if (getrlimit(RLIMIT_NOFILE, &daemon_globals.descriptors) != 0)
        return;
    most = daemon_globals.descriptors;
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
}

int main(void)
{
    struct event *control;

    close_on_exec(LINK_LISTEN_FD);
    close_on_exec(LINK_CONTROL_FD);
    signal(SIGPIPE, SIG_IGN);
    /* a file that grows beyond its limit is an error of the write, not our end */
    signal(SIGXFSZ, SIG_IGN);
    raise_descriptors();
    daemon_globals.base = event_base_new();
    if (!daemon_globals.base)
        return 1;
    process_init();
    control =
        event_new(daemon_globals.base, LINK_CONTROL_FD, EV_READ | EV_PERSIST, on_control, NULL);
    if (!control || event_add(control, NULL) != 0)
        return 1;
    event_base_dispatch(daemon_globals.base);
    return 0;
}
