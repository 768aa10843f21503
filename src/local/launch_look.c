#include "local/launch.h"

#include "core/text.h"
#include "local/launch_child.h"
#include "local/launch_fd.h"
#include "local/launch_keeper.h"
#include "local/launch_memory.h"
#include "local/launch_programs.h"
#include "local/launch_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
    bool found;
    bool plain;
    struct launch_ids ids;
} setup;

struct launch_ids *launch_setup_ids(void)
{
    if (!setup.found) {
        launch_ids_find(&setup.ids);
        setup.found = true;
    }
    return &setup.ids;
}

bool launch_setup_plain(void)
{
    return setup.plain;
}

/* Starts everything but a daemon and waits for its end. Returns true if all of it worked. */
static bool try(bool internet, char *why, size_t why_size)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        snprintf(why, why_size, "socketpair: %s", strerror(errno));
        return false;
    }
    struct launch_spec sandbox = {.sandbox_id = "look",
                                  .folder_fd = -1,
                                  .internet = internet,
                                  .listen_fd = -1,
                                  .control_fd = -1,
                                  .process_limit = 16};
    struct launch_child keeper = LAUNCH_CHILD_NONE;
    int forked = launch_child_fork(&keeper);
    if (forked == 0) {
        close(pair[0]);
        launch_keeper(&(struct launch_keeper_spec){.sandbox = &sandbox,
                                                   .ids = launch_setup_ids(),
                                                   .trial = true,
                                                   .procs_fd = -1,
                                                   .plane_fd = pair[1]});
    }
    int error = errno;
    close(pair[1]);
    char text[LAUNCH_KEEPER_WHY_MAX] = "";
    ssize_t n = 0;
    if (forked > 0) {
        do {
            n = recv(pair[0], text, sizeof text, 0);
        } while (n < 0 && errno == EINTR);
    }
    close(pair[0]);
    int status = launch_child_wait(&keeper);
    if (forked < 0)
        snprintf(why, why_size, "fork: %s", strerror(error));
    else
        he2b_text_line(why, why_size, text, n > 0 ? (size_t)n : 0);
    return forked > 0 && status == 0;
}

static bool file_says(const char *path, char what)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char byte = 0;
    if (fd >= 0) {
        ssize_t n = read(fd, &byte, 1);
        close(fd);
        if (n != 1)
            byte = 0;
    }
    return byte == what;
}

/* What to do where the kernel is told to refuse user namespaces. */
static const char *isolation_hint(void)
{
    if (file_says("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1'))
        return "allow user namespaces with \"sudo sysctl -w "
               "kernel.apparmor_restrict_unprivileged_userns=0\" (Ubuntu restricts them by "
               "default)";
    if (file_says("/proc/sys/kernel/unprivileged_userns_clone", '0'))
        return "allow user namespaces with \"sudo sysctl -w kernel.unprivileged_userns_clone=1\"";
    if (file_says("/proc/sys/user/max_user_namespaces", '0'))
        return "allow user namespaces with \"sudo sysctl -w user.max_user_namespaces=15000\"";
    return "in a container, start it with user namespaces and an unmasked /proc allowed (Docker: "
           "--privileged)";
}

static void look_at_isolation(struct launch_abilities *ret)
{
    char program[PATH_MAX];
    if (launch_programs_find(program, "bwrap") < 0) {
        snprintf(
            ret->isolation_why, sizeof ret->isolation_why,
            "bwrap is not installed, so nothing can be isolated from this machine; install the "
            "package bubblewrap");
        return;
    }
    struct launch_ids *ids = launch_setup_ids();
    char why[200];
    ret->isolation = try(false, why, sizeof why);
    if (!ret->isolation && ids->many && !ids->privileged) {
        /* perhaps it is only the many ids */
        char many_why[sizeof why + 160];
        snprintf(many_why, sizeof many_why,
                 "65536 ids cannot be used (%s), so commands run as \"user\" only, never as "
                 "root; see /etc/subuid, /etc/subgid",
                 why);
        struct launch_ids saved = *ids;
        launch_ids_single(ids, many_why);
        ret->isolation = try(false, why, sizeof why);
        if (!ret->isolation)
            *ids = saved;
    }
    if (!ret->isolation)
        snprintf(ret->isolation_why, sizeof ret->isolation_why,
                 "nothing can be isolated from this machine (%s), so no sandbox is started; %s",
                 why, isolation_hint());
}

static void look_at_internet(struct launch_abilities *ret)
{
    static const char follows[] = "so sandboxes have no internet";
    char program[PATH_MAX];
    char why[200];
    if (launch_programs_find(program, "slirp4netns") < 0)
        snprintf(ret->internet_why, sizeof ret->internet_why,
                 "slirp4netns is not installed, %s; install the package slirp4netns", follows);
    else if (access("/dev/net/tun", R_OK | W_OK) < 0)
        snprintf(ret->internet_why, sizeof ret->internet_why,
                 "/dev/net/tun cannot be opened (%s), %s; load the module (sudo modprobe tun) and "
                 "allow it (sudo chmod 666 /dev/net/tun)",
                 strerror(errno), follows);
    else if (!try(true, why, sizeof why))
        snprintf(ret->internet_why, sizeof ret->internet_why, "%s, %s; see slirp4netns(1)", why,
                 follows);
    else
        ret->internet = true;
}

void launch_look(struct launch_abilities *ret, bool without_isolation)
{
    *ret = (struct launch_abilities){0};
    setup.plain = without_isolation;
    if (without_isolation) {
        static const char why[] = "isolation was switched off by --unsafely-without-isolation, so "
                                  "commands run on this machine with all that you may do";
        snprintf(ret->isolation_why, sizeof ret->isolation_why, "%s", why);
        return;
    }
    struct launch_ids *ids = launch_setup_ids();
    look_at_isolation(ret);
    if (!ret->isolation)
        return;
    ret->many_ids = ids->many;
    snprintf(ret->many_ids_why, sizeof ret->many_ids_why, "%s", ids->why);
    look_at_internet(ret);
    ret->memory_limit = launch_memory_can(ret->memory_limit_why, sizeof ret->memory_limit_why);
}
