#include "local/launch_enter.h"

#include "local/launch_args.h"
#include "local/launch_child.h"
#include "local/launch_fd.h"
#include "local/launch_filter.h"
#include "local/link.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Below it a tmpfs of our own hides the host's; every system has this folder, bwrap needs it too.
 */
#define MOUNT_POINT  "/tmp"
#define FOLDER_POINT MOUNT_POINT "/sandbox"

/* A user's desktop outlives a sandbox when memory runs out (proc(5), oom_score_adj). */
#define OOM_SCORE "500"

static _Noreturn void fail(const char *what)
{
    dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(errno));
    _exit(1);
}

/*
 * folder_fd belongs to the mount namespace that this process has left, so it cannot be bound: finds
 * the same folder in the present one.
 */
static int reopen_folder(int folder_fd)
{
    char link[64];
    char path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder_fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0)
        fail("the sandbox's folder has no path");
    path[n] = '\0';
    int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        fail("the sandbox's folder cannot be opened");
    struct stat had;
    struct stat got;
    if (fstat(folder_fd, &had) < 0 || fstat(fd, &got) < 0)
        fail("the sandbox's folder cannot be looked at");
    if (had.st_dev != got.st_dev || had.st_ino != got.st_ino) {
        errno = ESTALE;
        fail("the sandbox's folder was replaced");
    }
    return fd;
}

static void bind_folder(int fd)
{
    char source[64];
    snprintf(source, sizeof source, "/proc/self/fd/%d", fd);
    if (mount("tmpfs", MOUNT_POINT, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=64k") < 0)
        fail("a tmpfs cannot be mounted");
    if (mkdir(FOLDER_POINT, 0755) < 0)
        fail("mkdir");
    if (mount(source, FOLDER_POINT, NULL, MS_BIND, NULL) < 0)
        fail("the sandbox's folder cannot be mounted");
}

static void enter_namespaces(const struct launch_enter_spec *spec)
{
    bool has_folder = spec->folder_fd >= 0;
    /* root reaches a folder below somebody's closed home only before it gives its power away */
    if (has_folder && spec->ids->privileged) {
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
            fail("a mount namespace cannot be made");
        bind_folder(reopen_folder(spec->folder_fd));
    }
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        fail("user and mount namespaces cannot be made");

    char byte = 'u';
    if (launch_fd_write(spec->sync_fd, &byte, 1) < 0)
        fail("write");
    ssize_t n;
    do {
        n = read(spec->sync_fd, &byte, 1);
    } while (n < 0 && errno == EINTR);
    if (n != 1)
        _exit(1);

    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        fail("mounts cannot be made private");
    /* a user reaches it as itself only; the tmpfs takes files from ids that the namespace has only
     */
    int folder = -1;
    if (has_folder && !spec->ids->privileged)
        folder = reopen_folder(spec->folder_fd);
    if (spec->ids->many && setgroups(0, NULL) < 0)
        fail("setgroups");
    if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
        fail("setresuid");
    if (folder >= 0)
        bind_folder(folder);
}

/* Descriptors that bwrap finds by number in its arguments. */
static void pass_on(int fd)
{
    if (fd >= 0 && fcntl(fd, F_SETFD, 0) < 0)
        fail("fcntl");
}

static int make_args(const struct launch_enter_spec *spec)
{
    struct launch_etc_file etc[LAUNCH_ETC_COUNT];
    if (launch_etc_make(etc, spec->network) < 0)
        fail("the files for /etc cannot be made");
    int filter = launch_filter_make();
    if (filter < 0 && errno != ENOSYS)
        fail("the system call filter cannot be made");
    struct launch_args_spec args = {
        .network = spec->network,
        .folder = spec->folder_fd >= 0 ? FOLDER_POINT : NULL,
        .etc = etc,
        .init_fd = spec->init_fd,
        .daemon_fd = spec->daemon_fd,
        .filter_fd = filter,
        .info_fd = spec->info_fd,
    };
    char text[LAUNCH_ARGS_MAX];
    size_t len = launch_args_make(text, &args);
    int fd = len > 0 ? launch_fd_of_data(text, len) : -1;
    if (fd < 0)
        fail("bwrap's arguments cannot be made");
    for (size_t i = 0; i < LAUNCH_ETC_COUNT; i++)
        pass_on(etc[i].fd);
    pass_on(filter);
    pass_on(spec->init_fd);
    pass_on(spec->daemon_fd);
    pass_on(spec->info_fd);
    pass_on(fd);
    return fd;
}

static _Noreturn void exec_bwrap(const struct launch_enter_spec *spec, int args_fd)
{
    char fd[16];
    char limit[16];
    snprintf(fd, sizeof fd, "%d", args_fd);
    snprintf(limit, sizeof limit, "%u", spec->process_limit);
    const char *program = LAUNCH_ARGS_PROGRAMS "/init";
    const char *argv[] = {
        "bwrap",
        "--args",
        fd,
        "--",
        program,
        spec->network == LAUNCH_NETWORK_HOST ? "host" : "private",
        spec->ids->many ? "many" : "single",
        limit,
        spec->daemon_fd >= 0 ? LAUNCH_ARGS_PROGRAMS "/daemon" : NULL,
        NULL,
    };
    char *none[] = {NULL};
    /* execve(2) changes no argument; its type is older than const */
    execve(spec->bwrap, (char *const *)(const void *)argv, none);
    fail("bwrap cannot be run");
}

_Noreturn void launch_enter(const struct launch_enter_spec *spec)
{
    if (dup2(spec->stderr_fd, 1) < 0 || dup2(spec->stderr_fd, 2) < 0)
        _exit(1);
    if (chdir("/") < 0)
        fail("chdir");
    /* before the ids change: /proc/self is root's afterwards. Raising it needs no permission. */
    (void)launch_fd_write_file("/proc/self/oom_score_adj", OOM_SCORE);
    enter_namespaces(spec);
    /* without it the host's session keyring is the sandbox's; keyctl(2) is filtered later as well
     */
    (void)syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
    int args_fd = make_args(spec);
    /* a trial has neither, but e2b-local-init takes them to be open */
    if (dup2(spec->listen_fd < 0 ? 0 : spec->listen_fd, LINK_LISTEN_FD) < 0 ||
        dup2(spec->control_fd < 0 ? 0 : spec->control_fd, LINK_CONTROL_FD) < 0 ||
        dup2(spec->sync_fd, LAUNCH_ENTER_SYNC_FD) < 0)
        fail("dup2");
    if (launch_child_die_with(spec->parent) < 0)
        _exit(1);
    exec_bwrap(spec, args_fd);
}
