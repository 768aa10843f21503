/* e2b-local-daemon: its two descriptors (link.h), its signals, its end. */
#include "local/daemon.h"

#include "he2b.h"
#include "local/daemon_everything.h"
#include "local/daemon_exchange.h"
#include "local/daemon_process.h"
#include "local/daemon_state.h"
#include "local/link.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    /* The first packet holds the sandbox's variables; no socket buffer holds more by default. */
    CONTROL_PACKET_MAX = 256 * 1024,
};

static struct event *listening;

/* ---- connections ---- */

static void on_listen_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    (void)event_add(listening, NULL);
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

static bool start_listening(void)
{
    static const char up[] = "{\"up\":true}";

    listening =
        event_new(daemon_globals.base, LINK_LISTEN_FD, EV_READ | EV_PERSIST, on_connection, NULL);
    if (!listening || event_add(listening, NULL) != 0)
        return false;
    while (send(LINK_CONTROL_FD, up, sizeof(up) - 1, MSG_NOSIGNAL) < 0) {
        if (errno != EINTR)
            return false;
    }
    return true;
}

/* ---- the plane's messages ---- */

/* False: it is none that can come here. */
static bool take_message(const char *text, size_t len)
{
    he2b_json *message = NULL;
    bool freeze = false;
    bool good = true;

    if (he2b_json_parse(&message, text, len) != HE2B_OK)
        return false;
    if (he2b_json_get(message, "init"))
        good = !listening && state_init(message) && start_listening();
    else if (he2b_json_bool(he2b_json_get(message, "freeze"), &freeze))
        everything_signal(freeze ? SIGSTOP : SIGCONT);
    he2b_json_del(message);
    return good;
}

static void on_control(evutil_socket_t fd, short what, void *arg)
{
    static char packet[CONTROL_PACKET_MAX];
    /* the real length is told, also of a packet that does not fit */
    ssize_t n = recv(fd, packet, sizeof(packet), MSG_TRUNC);

    (void)what;
    (void)arg;
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n > 0 && (size_t)n <= sizeof(packet) && take_message(packet, (size_t)n))
        return;
    if (n > 0)
        fprintf(stderr, "e2b-local-daemon: a control message of %zd bytes cannot be understood\n",
                n);
    /* The plane is gone, or not one of ours: so is everything that it started here. */
    everything_signal(SIGKILL);
    event_base_loopbreak(daemon_globals.base);
}

/* ---- start ---- */

static bool is_socket(int fd, int type)
{
    int found = 0;
    socklen_t len = sizeof(found);

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &found, &len) == 0 && found == type &&
           fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

/* Hundreds of processes have four descriptors each; they themselves get what was there. */
static void raise_descriptors(void)
{
    struct rlimit most;

    if (getrlimit(RLIMIT_NOFILE, &daemon_globals.descriptors) != 0)
        return;
    most = daemon_globals.descriptors;
    most.rlim_cur = most.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &most);
}

int main(void)
{
    struct event *control;

    if (!is_socket(LINK_LISTEN_FD, SOCK_STREAM) || !is_socket(LINK_CONTROL_FD, SOCK_SEQPACKET)) {
        fprintf(stderr, "e2b-local-daemon: this program is started by e2b-local\n");
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    /* a file that grows beyond its limit is an error of the write, not our end */
    (void)signal(SIGXFSZ, SIG_IGN);
    raise_descriptors();
    everything_init();
    daemon_globals.base = event_base_new();
    if (!daemon_globals.base || !process_init())
        return 1;
    control =
        event_new(daemon_globals.base, LINK_CONTROL_FD, EV_READ | EV_PERSIST, on_control, NULL);
    if (!control || event_add(control, NULL) != 0)
        return 1;
    event_base_dispatch(daemon_globals.base);
    return 0;
}
