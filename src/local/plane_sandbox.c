#include "he2b.h"
#include "local/link.h"
#include "local/plane.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct event *lease_timer;
static void (*all_ended)(void);

/* ---- records ---- */

static he2b_json *copy_json(const he2b_json *value)
{
    union {
        const he2b_json *in;
        he2b_json *out;
    } cast = {.in = value};
    he2b_json *copy = NULL;
    size_t len = 0;
    const char *text = value ? he2b_json_text(cast.out, &len) : NULL;

    if (text)
        (void)he2b_json_parse(&copy, text, len);
    return copy;
}

static void save(const struct sandbox *sandbox)
{
    he2b_json *record = he2b_json_new_object();
    bool paused = sandbox->state == SANDBOX_PAUSED || sandbox->state == SANDBOX_PAUSING;

    if (!record || he2b_json_add_string(record, "sandboxID", sandbox->id) ||
        he2b_json_add_string(record, "templateID", sandbox->template_id) ||
        he2b_json_add_bool(record, "autoPause", sandbox->auto_pause) ||
        he2b_json_add_bool(record, "autoResume", sandbox->auto_resume) ||
        he2b_json_add_bool(record, "secure", sandbox->secure) ||
        he2b_json_add_bool(record, "allowInternetAccess", sandbox->internet) ||
        he2b_json_add_string(record, "envdAccessToken", sandbox->token) ||
        he2b_json_add_bool(record, "paused", paused) ||
        he2b_json_add_int(record, "startedAt", sandbox->started_us) ||
        he2b_json_add_int(record, "endAt", sandbox->end_us) ||
        (sandbox->metadata &&
         he2b_json_add(record, "metadata", copy_json(sandbox->metadata)) != HE2B_OK) ||
        store_save(sandbox->id, record) != 0)
        plane_log("warning: the record of sandbox %s cannot be written: %s", sandbox->id,
                  strerror(errno));
    he2b_json_del(record);
}

struct sandbox *sandbox_find(const char *id)
{
    struct sandbox *sandbox;

    for (sandbox = plane.sandboxes; sandbox; sandbox = sandbox->next) {
        if (strcmp(sandbox->id, id) == 0)
            return sandbox;
    }
    return NULL;
}

static void sandbox_free(struct sandbox *sandbox)
{
    struct sandbox **link = &plane.sandboxes;

    while (*link && *link != sandbox)
        link = &(*link)->next;
    if (*link)
        *link = sandbox->next;
    free(sandbox->template_id);
    he2b_json_del(sandbox->metadata);
    he2b_json_del(sandbox->env_vars);
    free(sandbox);
}

/* ---- those who wait ---- */

void sandbox_wait(struct sandbox *sandbox, sandbox_fn fn, void *user)
{
    struct sandbox_waiter **end = &sandbox->waiters;
    struct sandbox_waiter *waiter = calloc(1, sizeof(*waiter));

    if (!waiter) {
        fn(user, sandbox, 500, "out of memory");
        return;
    }
    waiter->fn = fn;
    waiter->user = user;
    while (*end)
        end = &(*end)->next;
    *end = waiter;
}

void sandbox_forget_waiter(const void *user)
{
    struct sandbox *sandbox;

    for (sandbox = plane.sandboxes; sandbox; sandbox = sandbox->next) {
        struct sandbox_waiter **link = &sandbox->waiters;

        while (*link) {
            struct sandbox_waiter *waiter = *link;

            if (waiter->user == user) {
                *link = waiter->next;
                free(waiter);
            } else {
                link = &waiter->next;
            }
        }
    }
}

/* The transition is over. A waiter may begin another one. */
static void tell(struct sandbox *sandbox, int status, const char *why)
{
    struct sandbox_waiter *list = sandbox->waiters;

    sandbox->waiters = NULL;
    while (list) {
        struct sandbox_waiter *waiter = list;

        list = waiter->next;
        waiter->fn(waiter->user, sandbox, status, why);
        free(waiter);
    }
}

/* ---- the lease: one timer for the sandbox that ends first ---- */

static void arm_lease_timer(void)
{
    struct sandbox *sandbox;
    int64_t first = INT64_MAX;
    int64_t left;
    struct timeval tv;

    for (sandbox = plane.sandboxes; sandbox; sandbox = sandbox->next) {
        if (sandbox->state == SANDBOX_RUNNING && sandbox->end_us < first)
            first = sandbox->end_us;
    }
    if (first == INT64_MAX) {
        event_del(lease_timer);
        return;
    }
    left = first - plane_now_us();
    if (left < 0)
        left = 0;
    /* A minute at most: the wall clock may be set while the timer sleeps. */
    if (left > 60 * 1000000LL)
        left = 60 * 1000000LL;
    tv.tv_sec = left / 1000000;
    tv.tv_usec = left % 1000000;
    event_add(lease_timer, &tv);
}

static void on_lease(evutil_socket_t fd, short what, void *arg)
{
    struct sandbox *sandbox;
    int64_t now = plane_now_us();

    (void)fd;
    (void)what;
    (void)arg;
    for (sandbox = plane.sandboxes; sandbox; sandbox = sandbox->next) {
        if (sandbox->state != SANDBOX_RUNNING || sandbox->end_us > now)
            continue;
        plane_log("sandbox %s: its lease is over", sandbox->id);
        if (sandbox->auto_pause)
            sandbox_pause(sandbox);
        else
            sandbox_kill(sandbox);
    }
    arm_lease_timer();
}

void sandbox_set_end(struct sandbox *sandbox, int64_t us)
{
    sandbox->end_us = us;
    save(sandbox);
    arm_lease_timer();
}

/* ---- start ---- */

/* Names of sockets go through a descriptor's folder: a path could be longer than a socket's name.
 */
static bool socket_name(struct sockaddr_un *name, const char *id)
{
    int n;

    memset(name, 0, sizeof(*name));
    name->sun_family = AF_UNIX;
    n = snprintf(name->sun_path, sizeof(name->sun_path), "/proc/self/fd/%d/%s", store_run_fd(), id);
    return n > 0 && (size_t)n < sizeof(name->sun_path);
}

static int make_listener(const char *id)
{
    struct sockaddr_un name;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    unlinkat(store_run_fd(), id, 0);
    if (fd < 0 || !socket_name(&name, id) ||
        bind(fd, (struct sockaddr *)&name, sizeof(name)) != 0 || listen(fd, SOMAXCONN) != 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

int sandbox_connect(const struct sandbox *sandbox)
{
    struct sockaddr_un name;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (!socket_name(&name, sandbox->id) ||
        connect(fd, (struct sockaddr *)&name, sizeof(name)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void close_channels(struct sandbox *sandbox)
{
    if (sandbox->control_event)
        event_free(sandbox->control_event);
    sandbox->control_event = NULL;
    if (sandbox->control_fd >= 0)
        close(sandbox->control_fd);
    sandbox->control_fd = -1;
    unlinkat(store_run_fd(), sandbox->id, 0);
}

static void send_init(const struct sandbox *sandbox)
{
    he2b_json *packet = he2b_json_new_object();
    he2b_json *values = he2b_json_new_object();
    const char *text = NULL;
    size_t len = 0;

    if (packet && values && !he2b_json_add_string(values, "sandboxID", sandbox->id) &&
        !he2b_json_add_string(values, "templateID", sandbox->template_id) &&
        (!sandbox->env_vars || !he2b_json_add(values, "envVars", copy_json(sandbox->env_vars))) &&
        !he2b_json_add(packet, "init", values))
        text = he2b_json_text(packet, &len);
    if (text)
        (void)!send(sandbox->control_fd, text, len, MSG_NOSIGNAL);
    he2b_json_del(packet);
}

static void on_control(evutil_socket_t fd, short what, void *arg)
{
    struct sandbox *sandbox = arg;
    char packet[1024];
    he2b_json *json = NULL;
    bool up = false;
    ssize_t n = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);

    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        event_del(sandbox->control_event);
        return; /* the launcher will say that it ended */
    }
    if (he2b_json_parse(&json, packet, (size_t)n) == HE2B_OK &&
        he2b_json_bool(he2b_json_get(json, "up"), &up) && up &&
        sandbox->state == SANDBOX_STARTING) {
        sandbox->state = SANDBOX_RUNNING;
        /* The lease counts from here (wire A.6). */
        sandbox->started_us = plane_now_us();
        sandbox_set_end(sandbox, sandbox->started_us + sandbox->timeout_us);
        plane_log("sandbox %s runs", sandbox->id);
        tell(sandbox, 0, "");
    }
    he2b_json_del(json);
}

static void remove_sandbox(struct sandbox *sandbox)
{
    char why[256];

    store_remove(sandbox->id);
    if (launch_delete_folder(store_sandboxes_fd(), sandbox->id, why, sizeof(why)) != 0)
        plane_log("warning: the folder of sandbox %s is left behind: %s", sandbox->id, why);
    sandbox_free(sandbox);
}

static void check_all_ended(void)
{
    const struct sandbox *sandbox;

    for (sandbox = plane.sandboxes; sandbox; sandbox = sandbox->next) {
        if (sandbox->launch)
            return;
    }
    if (plane.ending && all_ended)
        all_ended();
}

static void on_exited(void *user, const char *why)
{
    struct sandbox *sandbox = user;
    enum sandbox_state before = sandbox->state;

    launch_del(sandbox->launch);
    sandbox->launch = NULL;
    close_channels(sandbox);
    if (before == SANDBOX_PAUSING || (plane.ending && sandbox->auto_pause) ||
        (before == SANDBOX_RUNNING && sandbox->auto_pause)) {
        if (before != SANDBOX_PAUSING)
            sandbox->end_us = plane_now_us();
        sandbox->state = SANDBOX_PAUSED;
        he2b_json_del(sandbox->env_vars);
        sandbox->env_vars = NULL;
        save(sandbox);
        plane_log("sandbox %s is paused%s%s", sandbox->id, why[0] ? ": " : "", why);
        tell(sandbox, 0, "");
    } else {
        if (before != SANDBOX_KILLING)
            plane_log("sandbox %s ended: %s", sandbox->id, why[0] ? why : "its daemon ended");
        sandbox->state = SANDBOX_KILLING;
        tell(sandbox, before == SANDBOX_KILLING ? 0 : 500,
             why[0] ? why : "the sandbox ended while it started");
        remove_sandbox(sandbox);
    }
    arm_lease_timer();
    check_all_ended();
}

static int start(struct sandbox *sandbox, char *why, size_t why_size)
{
    struct launch_spec spec = {0};
    int pair[2] = {-1, -1};
    int folder = -1;
    int listener = -1;
    int result = -1;

    folder =
        openat(store_sandboxes_fd(), sandbox->id, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    listener = make_listener(sandbox->id);
    if (folder < 0 || listener < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        snprintf(why, why_size, "%s", strerror(errno));
        goto out;
    }
    spec.sandbox_id = sandbox->id;
    spec.folder_fd = folder;
    spec.internet = sandbox->internet && plane.internet && plane.abilities.internet;
    spec.share_host_network = plane.share_host_network;
    spec.without_isolation = plane.without_isolation;
    spec.listen_fd = listener;
    spec.control_fd = pair[1];
    spec.process_limit = PLANE_PROCESS_LIMIT;
    if (launch_start(&sandbox->launch, plane.base, &spec, on_exited, sandbox, why, why_size) != 0)
        goto out;
    sandbox->state = SANDBOX_STARTING;
    sandbox->control_fd = pair[0];
    pair[0] = -1;
    sandbox->control_event =
        event_new(plane.base, sandbox->control_fd, EV_READ | EV_PERSIST, on_control, sandbox);
    if (sandbox->control_event)
        event_add(sandbox->control_event, NULL);
    send_init(sandbox);
    result = 0;
out:
    if (folder >= 0)
        close(folder);
    if (listener >= 0)
        close(listener);
    if (pair[0] >= 0)
        close(pair[0]);
    if (pair[1] >= 0)
        close(pair[1]);
    return result;
}

struct sandbox *sandbox_create(struct sandbox *made, int64_t timeout_s, sandbox_fn fn, void *user,
                               char *why, size_t why_size)
{
    plane_new_id(made->id);
    if (made->secure)
        plane_random_hex(made->token, PLANE_TOKEN_SIZE - 1);
    made->control_fd = -1;
    made->timeout_us = timeout_s * 1000000;
    made->started_us = plane_now_us();
    made->end_us = made->started_us + made->timeout_us;
    made->state = SANDBOX_STARTING;
    made->next = plane.sandboxes;
    plane.sandboxes = made;
    if (launch_make_folder(store_sandboxes_fd(), made->id, why, why_size) != 0) {
        sandbox_free(made);
        return NULL;
    }
    if (start(made, why, why_size) != 0) {
        remove_sandbox(made);
        return NULL;
    }
    save(made);
    sandbox_wait(made, fn, user);
    return made;
}

int sandbox_resume(struct sandbox *sandbox, int64_t timeout_s, sandbox_fn fn, void *user, char *why,
                   size_t why_size)
{
    sandbox->timeout_us = timeout_s * 1000000;
    if (start(sandbox, why, why_size) != 0)
        return -1;
    sandbox_wait(sandbox, fn, user);
    return 0;
}

void sandbox_pause(struct sandbox *sandbox)
{
    sandbox->state = SANDBOX_PAUSING;
    sandbox->end_us = plane_now_us();
    save(sandbox);
    launch_kill(sandbox->launch);
}

void sandbox_kill(struct sandbox *sandbox)
{
    sandbox->state = SANDBOX_KILLING;
    /* From here on a restart does not find it again, whatever happens to the rest. */
    store_remove(sandbox->id);
    if (sandbox->launch)
        launch_kill(sandbox->launch);
    else
        remove_sandbox(sandbox);
}

/* ---- start and end of the plane ---- */

static void load_one(const he2b_json *record)
{
    const char *id = he2b_json_get_string(record, "sandboxID");
    const char *template_id = he2b_json_get_string(record, "templateID");
    const char *token = he2b_json_get_string(record, "envdAccessToken");
    struct sandbox *sandbox;
    bool paused = false;

    if (!id || !template_id || strlen(id) >= PLANE_ID_SIZE)
        return;
    sandbox = calloc(1, sizeof(*sandbox));
    if (!sandbox)
        return;
    snprintf(sandbox->id, sizeof(sandbox->id), "%s", id);
    snprintf(sandbox->token, sizeof(sandbox->token), "%s", token ? token : "");
    sandbox->template_id = strdup(template_id);
    sandbox->metadata = copy_json(he2b_json_get(record, "metadata"));
    (void)he2b_json_bool(he2b_json_get(record, "autoPause"), &sandbox->auto_pause);
    (void)he2b_json_bool(he2b_json_get(record, "autoResume"), &sandbox->auto_resume);
    (void)he2b_json_bool(he2b_json_get(record, "secure"), &sandbox->secure);
    (void)he2b_json_bool(he2b_json_get(record, "allowInternetAccess"), &sandbox->internet);
    (void)he2b_json_bool(he2b_json_get(record, "paused"), &paused);
    (void)he2b_json_int(he2b_json_get(record, "startedAt"), &sandbox->started_us);
    (void)he2b_json_int(he2b_json_get(record, "endAt"), &sandbox->end_us);
    sandbox->control_fd = -1;
    sandbox->state = SANDBOX_PAUSED;
    sandbox->next = plane.sandboxes;
    plane.sandboxes = sandbox;
    if (!paused && !sandbox->auto_pause) {
        /* What would have been killed at its end is: it did not survive the server. */
        sandbox->state = SANDBOX_KILLING;
        remove_sandbox(sandbox);
    } else if (!paused) {
        if (sandbox->end_us > plane_now_us())
            sandbox->end_us = plane_now_us();
        save(sandbox);
    }
}

void sandbox_load_all(void)
{
    lease_timer = event_new(plane.base, -1, 0, on_lease, NULL);
    if (!lease_timer)
        abort(); /* at start: there is nobody to answer yet */
    store_load(load_one);
}

void sandbox_end_all(void (*done)(void))
{
    struct sandbox *sandbox;
    bool any = false;

    plane.ending = true;
    all_ended = done;
    for (sandbox = plane.sandboxes; sandbox; sandbox = sandbox->next) {
        if (!sandbox->launch)
            continue;
        any = true;
        if (sandbox->state == SANDBOX_STARTING || sandbox->state == SANDBOX_RUNNING) {
            sandbox->state = sandbox->auto_pause ? SANDBOX_PAUSING : SANDBOX_KILLING;
            if (sandbox->auto_pause)
                sandbox->end_us = plane_now_us();
        }
        launch_kill(sandbox->launch);
    }
    if (!any)
        done();
}
