#include "local/sandbox_daemon.h"

#include "he2b.h"
#include "local/link.h"
#include "local/log.h"
#include "local/plane.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    /* the daemon says {"up":true} and nothing else; guards against a daemon that was taken over */
    PACKET_MAX = 512,
    /* room for the first packet: SANDBOX_ENV_MAX and what stands around it */
    SEND_BUFFER = 2 * SANDBOX_ENV_MAX,
};

static void on_timer(evutil_socket_t fd, short what, void *user)
{
    struct sandbox *sandbox = user;

    (void)fd;
    (void)what;
    snprintf(sandbox->boot_why, sizeof sandbox->boot_why, "its daemon was not up after %d s",
             SANDBOX_BOOT_S);
    if (sandbox->launch)
        launch_kill(sandbox->launch);
}

static void on_control(evutil_socket_t fd, short what, void *user)
{
    struct sandbox *sandbox = user;
    char packet[PACKET_MAX];
    he2b_json *json = NULL;
    bool up = false;
    ssize_t n = recv(fd, packet, sizeof packet, MSG_DONTWAIT);

    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        /* its end itself is told by the launcher, with the reason */
        event_del(sandbox->control);
        return;
    }
    if (he2b_json_parse(&json, packet, (size_t)n) == HE2B_OK)
        he2b_json_bool(he2b_json_get(json, "up"), &up);
    he2b_json_del(json);
    if (!up) {
        log_line(LOG_LEVEL_DEBUG, "sandbox %s: its daemon said something unknown", sandbox->id);
        return;
    }
    if (sandbox->boot_timer)
        event_del(sandbox->boot_timer);
    sandbox_is_up(sandbox);
}

void daemon_link_close(struct sandbox *sandbox)
{
    if (sandbox->boot_timer)
        event_free(sandbox->boot_timer);
    sandbox->boot_timer = NULL;
    if (sandbox->control)
        event_free(sandbox->control);
    sandbox->control = NULL;
    if (sandbox->control_fd >= 0)
        close(sandbox->control_fd);
    sandbox->control_fd = -1;
    store_forget_socket(&sandbox->plane->store, sandbox->id);
}

static void on_exit_(void *user, const char *why)
{
    struct sandbox *sandbox = user;
    char text[SANDBOX_WHY_MAX];

    snprintf(text, sizeof text, "%s", why);
    launch_del(sandbox->launch);
    sandbox->launch = NULL;
    daemon_link_close(sandbox);
    sandbox_has_ended(sandbox, text);
}

static bool send_packet(struct sandbox *sandbox, he2b_json *packet)
{
    size_t len = 0;
    const char *text = packet ? he2b_json_text(packet, &len) : NULL;

    return text &&
           send(sandbox->control_fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
}

static bool send_init(struct sandbox *sandbox)
{
    const char *vars = sandbox->settings.env_vars ? sandbox->settings.env_vars : "{}";
    he2b_json *packet = he2b_json_new_object();
    he2b_json *init = he2b_json_new_object();
    he2b_json *env = NULL;
    bool sent = false;

    if (packet && init && he2b_json_parse(&env, vars, strlen(vars)) == HE2B_OK &&
        he2b_json_add_string(init, "sandboxID", sandbox->id) == HE2B_OK &&
        he2b_json_add_string(init, "templateID", sandbox->settings.template_id) == HE2B_OK &&
        he2b_json_add(init, "envVars", env) == HE2B_OK) {
        int added = he2b_json_add(packet, "init", init);
        init = NULL;
        sent = added == HE2B_OK && send_packet(sandbox, packet);
    }
    he2b_json_del(init);
    he2b_json_del(packet);
    return sent;
}

bool daemon_link_freeze(struct sandbox *sandbox, bool freeze)
{
    he2b_json *packet = he2b_json_new_object();
    bool sent = packet && he2b_json_add_bool(packet, "freeze", freeze) == HE2B_OK &&
                send_packet(sandbox, packet);

    he2b_json_del(packet);
    return sent;
}

static int watch(struct sandbox *sandbox)
{
    const struct timeval limit = {.tv_sec = SANDBOX_BOOT_S};
    struct event_base *base = sandbox->plane->base;

    sandbox->control =
        event_new(base, sandbox->control_fd, EV_READ | EV_PERSIST, on_control, sandbox);
    sandbox->boot_timer = evtimer_new(base, on_timer, sandbox);
    if (!sandbox->control || !sandbox->boot_timer || event_add(sandbox->control, NULL) != 0)
        return -1;
    return event_add(sandbox->boot_timer, &limit);
}

static int start(struct sandbox *sandbox, int listen_fd, int control_fd, int folder_fd,
                 char why[SANDBOX_WHY_MAX])
{
    const struct plane *plane = sandbox->plane;
    const struct launch_spec spec = {
        .sandbox_id = sandbox->id,
        .folder_fd = folder_fd,
        .internet = sandbox->settings.internet && plane->abilities.internet &&
                    !plane->options->no_internet && !plane->options->share_host_network,
        .share_host_network = plane->options->share_host_network,
        .without_isolation = plane->options->without_isolation,
        .listen_fd = listen_fd,
        .control_fd = control_fd,
        .process_limit = PLANE_PROCESSES_MAX,
        .memory_limit = plane->abilities.memory_limit ? PLANE_MEMORY_MAX : 0,
    };
    return launch_start(&sandbox->launch, plane->base, &spec, on_exit_, sandbox, why,
                        SANDBOX_WHY_MAX);
}

int daemon_link_boot(struct sandbox *sandbox, char why[SANDBOX_WHY_MAX])
{
    const int size = SEND_BUFFER;
    int pair[2] = {-1, -1};
    int folder_fd = store_open_folder(&sandbox->plane->store, sandbox->id);
    int listen_fd = folder_fd < 0 ? -1 : store_listen(&sandbox->plane->store, sandbox->id);
    int result = -1;

    sandbox->boot_why[0] = '\0';
    if (listen_fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        snprintf(why, SANDBOX_WHY_MAX, "the sandbox's %s cannot be made: %s",
                 folder_fd < 0   ? "folder"
                 : listen_fd < 0 ? "socket"
                                 : "control socket",
                 strerror(errno));
        goto done;
    }
    sandbox->control_fd = pair[0];
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    /* before it starts: it finds it in the socket */
    if (!send_init(sandbox) || watch(sandbox) != 0) {
        snprintf(why, SANDBOX_WHY_MAX, "the sandbox's daemon cannot be told its settings");
        goto done;
    }
    result = start(sandbox, listen_fd, pair[1], folder_fd, why);
done:
    if (pair[1] >= 0)
        close(pair[1]);
    if (listen_fd >= 0)
        close(listen_fd);
    if (folder_fd >= 0)
        close(folder_fd);
    if (result < 0)
        daemon_link_close(sandbox);
    return result;
}
