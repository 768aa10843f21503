#include "launch_box.h"

#include "local/launch_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    DEADLINE_S = 20
};

static char build_folder[PATH_MAX];

/* Three levels above this program: tests/unit/local_server. */
static void find_build_folder(void)
{
    ssize_t n = readlink("/proc/self/exe", build_folder, sizeof build_folder - 1);
    assert_true(n > 0);
    build_folder[n] = '\0';
    for (int i = 0; i < 4; i++)
        *strrchr(build_folder, '/') = '\0';
}

const struct launch_abilities *box_abilities(void)
{
    static struct launch_abilities abilities;
    if (build_folder[0] == '\0') {
        find_build_folder();
        launch_programs_use(build_folder, "tests/unit/local_server/launch_probe");
        launch_look(&abilities, false);
    }
    return &abilities;
}

void box_skip(const char *why)
{
    print_message("skipped: %s\n", why);
    skip();
}

int box_setup(void **state)
{
    static struct box box;
    *state = NULL;
    if (!box_abilities()->isolation)
        return 0;
    box_open(&box);
    *state = &box;
    return 0;
}

int box_teardown(void **state)
{
    if (*state != NULL)
        box_close(*state);
    return 0;
}

struct box *box_need(void **state)
{
    if (*state == NULL)
        box_skip(box_abilities()->isolation_why);
    return *state;
}

struct box *box_need_started(void **state)
{
    struct box *box = box_need(state);
    box_start(box, &(struct launch_spec){.internet = false});
    return box;
}

void box_open(struct box *box)
{
    *box = (struct box){.control_fd = -1, .name = "box"};
    (void)box_abilities();
    const char *folder = getenv("TMPDIR");
    bool fits = folder != NULL && folder[0] == '/' && strlen(folder) < 32;
    snprintf(box->parent, sizeof box->parent, "%s/he2b-launch-XXXXXX", fits ? folder : "/tmp");
    assert_non_null(mkdtemp(box->parent));
    box->parent_fd = open(box->parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(box->parent_fd >= 0);
    box->base = event_base_new();
    assert_non_null(box->base);
    char why[512] = "";
    if (launch_make_folder(box->parent_fd, box->name, why, sizeof why) < 0)
        fail_msg("%s", why);
}

void box_close(struct box *box)
{
    char why[512] = "";
    if (box->launch != NULL)
        box_stop(box);
    if (launch_delete_folder(box->parent_fd, box->name, why, sizeof why) < 0)
        fail_msg("%s", why);
    close(box->parent_fd);
    assert_int_equal(rmdir(box->parent), 0);
    if (box->control_fd >= 0)
        close(box->control_fd);
    event_base_free(box->base);
}

static void on_end(void *user, const char *why)
{
    struct box *box = user;
    box->ended++;
    snprintf(box->why, sizeof box->why, "%s", why);
    event_base_loopbreak(box->base);
}

static int listen_somewhere(const struct box *box)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s/listen", box->parent);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 4), 0);
    unlink(at.sun_path);
    return fd;
}

void box_launch_in(struct box *box, const struct launch_spec *spec)
{
    int pair[2];
    struct timeval deadline = {.tv_sec = DEADLINE_S};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
    struct launch_spec own = *spec;
    own.sandbox_id = "test";
    own.listen_fd = listen_somewhere(box);
    own.control_fd = pair[1];
    if (own.process_limit == 0)
        own.process_limit = BOX_PROCESSES;
    box->ended = 0;
    char why[512] = "";
    if (launch_start(&box->launch, box->base, &own, on_end, box, why, sizeof why) < 0)
        fail_msg("%s", why);
    close(own.listen_fd);
    close(own.control_fd);
    if (box->control_fd >= 0)
        close(box->control_fd);
    box->control_fd = pair[0];
}

void box_launch(struct box *box, const struct launch_spec *spec)
{
    struct launch_spec own = *spec;
    own.folder_fd = openat(box->parent_fd, box->name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(own.folder_fd >= 0);
    box_launch_in(box, &own);
    close(own.folder_fd);
}

void box_start(struct box *box, const struct launch_spec *spec)
{
    box_launch(box, spec);
    box_hear(box);
    assert_string_equal(box->text, "up");
}

void box_hear(struct box *box)
{
    ssize_t n = recv(box->control_fd, box->text, sizeof box->text - 1, 0);
    if (n <= 0) {
        int error = errno;
        box_wait_end(box);
        fail_msg("no packet (%s); the sandbox ended: %s", n == 0 ? "end of file" : strerror(error),
                 box->why);
    }
    box->text[n] = '\0';
}

void box_tell(struct box *box, const char *request)
{
    ssize_t len = (ssize_t)strlen(request);
    assert_int_equal(send(box->control_fd, request, (size_t)len, MSG_NOSIGNAL), len);
}

int box_ask(struct box *box, const char *request)
{
    box_tell(box, request);
    box_hear(box);
    char *rest;
    int status = (int)strtol(box->text, &rest, 10);
    assert_int_equal(*rest, ':');
    memmove(box->text, rest + 1, strlen(rest));
    return status;
}

void box_wait_end(struct box *box)
{
    struct timeval deadline = {.tv_sec = DEADLINE_S};
    event_base_loopexit(box->base, &deadline);
    if (box->ended == 0)
        event_base_dispatch(box->base);
    if (box->ended == 0)
        fail_msg("the sandbox did not end");
}

void box_stop(struct box *box)
{
    if (box->ended == 0) {
        launch_kill(box->launch);
        box_wait_end(box);
    }
    launch_del(box->launch);
    box->launch = NULL;
}

void box_attack(struct box *box, const char *name_and_argument)
{
    static const unsigned users[] = {0, 1000};
    for (size_t i = 0; i < 2; i++) {
        char request[160];
        if (users[i] == 0 && !box_abilities()->many_ids)
            continue;
        snprintf(request, sizeof request, "%u!%s", users[i], name_and_argument);
        int status = box_ask(box, request);
        if (status != 0)
            fail_msg("%s as uid %u: status %d: %s", name_and_argument, users[i], status, box->text);
    }
}

void box_attack_works(struct box *box, const char *name_and_argument)
{
    char request[160];
    snprintf(request, sizeof request, "1000!%s", name_and_argument);
    if (box_ask(box, request) != 1)
        fail_msg("%s should work without protection, but: %s", name_and_argument, box->text);
}
