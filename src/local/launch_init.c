/*
 * e2b-local-init: pid 1 of a sandbox, the second half of the way in. bwrap(1) starts it as uid 0 of
 * the user namespace that owns the sandbox's mounts and network. It makes another user namespace
 * inside, where the daemon runs: root there has no power over those mounts and that network.
 *
 * Usage: init private|host many|single PROCESSES [PROGRAM]
 * Without a program the inner process ends at once with 0: everything before worked.
 *
 * It collects orphans and ends with the daemon, as the daemon did (128 + n after signal n); the
 * kernel kills the rest of the sandbox then. Linked statically where that is possible and includes
 * nothing else of the project.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    /* to the keeper: a byte when bwrap's work is done, one back when there is a network */
    SYNC_FD = 5,
    /* 0, 1, 2, link.h's two, and the one above are all there is to be */
    FIRST_OTHER_FD = 6,
    /* makes the inner namespace, so that what it counts is counted for nobody else */
    SPARE_ID = 65533,
    /* uid of "user", the only one in single-id mode */
    USER_ID = 1000,
};

static _Noreturn void fail(const char *what)
{
    dprintf(STDERR_FILENO, "e2b-local-init: %s: %s\n", what, strerror(errno));
    _exit(125);
}

static int write_text(int fd, const char *text)
{
    ssize_t n;
    do {
        n = write(fd, text, strlen(text));
    } while (n < 0 && errno == EINTR);
    return n < 0 ? -1 : 0;
}

static int write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int result = write_text(fd, text);
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

static char read_byte(int fd)
{
    char byte = 0;
    ssize_t n;
    do {
        n = read(fd, &byte, 1);
    } while (n < 0 && errno == EINTR);
    return n == 1 ? byte : 0;
}

/*
 * What root of a machine could do and root of the inner namespace cannot: ports below 1024 and
 * ping. Comfort, so failures are not looked at. Only in a network of the sandbox's own.
 */
static void set_network(bool many)
{
    (void)write_file("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
    (void)write_file("/proc/sys/net/ipv4/ping_group_range", many ? "0 65535" : "0 0");
}

/*
 * Each start is a boot of its own, and clients tell it by this id (wire A.8); the kernel's is the
 * machine's. Its file has no name of its own that it could be changed by.
 */
static void set_boot_id(void)
{
    static const char path[] = "/proc/sys/kernel/random/boot_id";
    static const char file[] = "/run/boot_id";
    char id[64];
    int from = open("/proc/sys/kernel/random/uuid", O_RDONLY | O_CLOEXEC);
    ssize_t n = from < 0 ? -1 : read(from, id, sizeof id);
    int to = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    /* the umask is whatever the server was started with */
    if (n <= 0 || to < 0 || write(to, id, (size_t)n) != n || fchmod(to, 0444) < 0 || close(to) < 0)
        fail("the boot id cannot be made");
    if (mount(file, path, NULL, MS_BIND, NULL) < 0 ||
        mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
              NULL) < 0)
        fail("the boot id cannot be mounted");
    if (unlink(file) < 0)
        fail(file);
    close(from);
}

static void make_read_only(const char *path)
{
    if (mount(path, path, NULL, MS_BIND | MS_REC, NULL) < 0 ||
        mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
              NULL) < 0)
        fail(path);
}

static void set_limit(int resource, rlim_t limit)
{
    struct rlimit value = {limit, limit};
    struct rlimit present;
    if (getrlimit((__rlimit_resource_t)resource, &present) < 0)
        fail("getrlimit");
    if (value.rlim_max > present.rlim_max)
        value.rlim_cur = value.rlim_max = present.rlim_max;
    if (setrlimit((__rlimit_resource_t)resource, &value) < 0)
        fail("setrlimit");
}

/* The child: becomes the daemon. up and go are pipe ends, close-on-exec; program may be NULL. */
static _Noreturn void become_daemon(int up, int go, bool many, rlim_t processes, char *program)
{
    set_limit(RLIMIT_NPROC, processes);
    /* a dump would be written by the host's kernel, where the host's settings say */
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_NOFILE, RLIM_INFINITY);
    if (many && (setresgid(SPARE_ID, SPARE_ID, SPARE_ID) < 0 ||
                 setresuid(SPARE_ID, SPARE_ID, SPARE_ID) < 0))
        fail("setresuid");
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        fail("the inner user namespace cannot be made");
    if (write(up, "u", 1) != 1 || read_byte(go) != 'g')
        _exit(125);
    uid_t id = many ? 0 : USER_ID;
    if (setresgid(id, id, id) < 0 || (many && setgroups(0, NULL) < 0) || setresuid(id, id, id) < 0)
        fail("the ids of the daemon cannot be set");
    if (program == NULL)
        _exit(0);
    char *argv[] = {program, NULL};
    char *none[] = {NULL};
    execve(program, argv, none);
    fail("the daemon cannot be run");
}

static void write_maps(pid_t pid, bool many)
{
    char path[64];
    const char *map = many ? "0 0 65536" : "1000 0 1";
    if (!many) {
        snprintf(path, sizeof path, "/proc/%d/setgroups", (int)pid);
        if (write_file(path, "deny") < 0)
            fail("setgroups");
    }
    snprintf(path, sizeof path, "/proc/%d/uid_map", (int)pid);
    if (write_file(path, map) < 0)
        fail("uid_map");
    snprintf(path, sizeof path, "/proc/%d/gid_map", (int)pid);
    if (write_file(path, map) < 0)
        fail("gid_map");
}

/* Its work is done: pid 1 needs no power from here on. */
static void drop_power(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    if (syscall(SYS_capset, &header, none) < 0)
        fail("capset");
    if (prctl(PR_SET_DUMPABLE, 0) < 0)
        fail("prctl");
}

static _Noreturn void collect(pid_t daemon)
{
    for (;;) {
        int status = 0;
        pid_t pid = waitpid(-1, &status, 0);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0)
            fail("waitpid");
        if (pid != daemon)
            continue;
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
}

int main(int argc, char **argv)
{
    if (argc < 4 || getpid() != 1) {
        dprintf(STDERR_FILENO, "e2b-local-init is started by e2b-local, as the first process of a "
                               "sandbox\n");
        return 2;
    }
    bool own_network = strcmp(argv[1], "private") == 0;
    bool many = strcmp(argv[2], "many") == 0;
    rlim_t processes = strtoul(argv[3], NULL, 10);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        fail("prctl");
    if (close_range(FIRST_OTHER_FD, ~0U, 0) < 0)
        fail("close_range");

    if (write(SYNC_FD, "n", 1) != 1 || read_byte(SYNC_FD) != 'g')
        _exit(125);
    close(SYNC_FD);
    if (own_network)
        set_network(many);
    int namespaces = open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);
    if (namespaces < 0)
        fail("/proc/sys/user/max_user_namespaces");
    make_read_only("/proc/sys");
    set_boot_id();

    int up[2];
    int go[2];
    if (pipe2(up, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0)
        fail("pipe");
    pid_t daemon = fork();
    if (daemon < 0)
        fail("fork");
    if (daemon == 0) {
        close(up[0]);
        close(go[1]);
        become_daemon(up[1], go[0], many, processes, argv[4]);
    }
    close(up[1]);
    close(go[0]);
    /* nobody but the daemon holds the plane's two */
    close(3);
    close(4);
    if (read_byte(up[0]) != 'u')
        collect(daemon);
    write_maps(daemon, many);
    /*
     * No user namespaces further in: each would be root over a network of its own, which is where
     * most of the kernel's holes for unprivileged users were. The limit counts for all below.
     */
    if (write_text(namespaces, "0") < 0)
        fail("max_user_namespaces");
    close(namespaces);
    drop_power();
    if (write(go[1], "g", 1) != 1)
        fail("write");
    close(up[0]);
    close(go[1]);
    collect(daemon);
}
