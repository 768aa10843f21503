#include "launch_attack.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/vm_sockets.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/ip.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FENDED = 0,
    SUCCEEDED = 1,
    UNKNOWN = 2
};

static int succeeded(const char *what)
{
    printf("succeeded: %s\n", what);
    fflush(stdout);
    return SUCCEEDED;
}

/* Knocks by TCP and UDP. Whether it was heard is what counts: slirp4netns may seem to connect. */
static void knock(const char *address, int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, address, &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) < 0 && errno == EINPROGRESS) {
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        (void)poll(&ready, 1, 1000);
    }
    if (fd >= 0)
        close(fd);
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        (void)sendto(fd, "knock", 5, 0, (struct sockaddr *)&to, sizeof to);
        close(fd);
    }
}

/* A server on the host's loopback, by every address that might lead there; it tells if one did. */
static int attack_loopback(const char *argument)
{
    static const char *const addresses[] = {"127.0.0.1", "127.0.0.2", "127.1.1.1", "0.0.0.0",
                                            "10.0.2.2",  "10.0.2.3",  "10.0.2.15"};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        knock(addresses[i], atoi(argument));
    return FENDED;
}

/* The same with 127/8 routed into the tap, which slirp4netns lets through. */
static int attack_route(const char *argument)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct rtentry route = {.rt_flags = RTF_UP | RTF_GATEWAY};
    static char device[] = "tap0";
    struct sockaddr_in address = {.sin_family = AF_INET};
    inet_pton(AF_INET, "127.0.0.0", &address.sin_addr);
    memcpy(&route.rt_dst, &address, sizeof address);
    inet_pton(AF_INET, "255.0.0.0", &address.sin_addr);
    memcpy(&route.rt_genmask, &address, sizeof address);
    inet_pton(AF_INET, "10.0.2.2", &address.sin_addr);
    memcpy(&route.rt_gateway, &address, sizeof address);
    route.rt_dev = device;
    bool routed = ioctl(fd, SIOCADDRT, &route) == 0;
    struct ifreq lo = {.ifr_name = "lo"};
    bool down = ioctl(fd, SIOCSIFFLAGS, &lo) == 0;
    close(fd);
    if (routed)
        return succeeded("a route was added");
    if (down)
        return succeeded("lo was taken down");
    return attack_loopback(argument);
}

static int attack_raw(const char *argument)
{
    (void)argument;
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_IP));
    if (fd >= 0)
        return succeeded("a packet socket");
    fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
    if (fd >= 0)
        return succeeded("a raw socket");
    fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    return fd >= 0 ? succeeded("/dev/net/tun") : FENDED;
}

/* An abstract socket of the host: not a file, so only a network namespace keeps it apart. */
static int attack_abstract(const char *argument)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t len = strlen(argument);
    memcpy(to.sun_path + 1, argument, len);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, size) == 0)
        return succeeded(argument);
    return FENDED;
}

static int attack_vsock(const char *argument)
{
    (void)argument;
    if (socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0)
        return succeeded("a vsock socket");
    /* makes one without socket(2) */
    struct io_uring_params params = {0};
    if (syscall(SYS_io_uring_setup, 8, &params) >= 0)
        return succeeded("io_uring");
    return FENDED;
}

/* Into the terminal that the test gave to its own session, as far as it is ours too. */
static int attack_terminal(const char *argument)
{
    (void)argument;
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        return succeeded("/dev/tty opens");
    for (fd = 0; fd < 64; fd++) {
        if (isatty(fd))
            return succeeded("a descriptor is a terminal");
        if (ioctl(fd, TIOCSTI, "x") == 0)
            return succeeded("TIOCSTI");
    }
    return FENDED;
}

static int attack_descriptors(const char *argument)
{
    (void)argument;
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL)
        return succeeded("no /proc/self/fd");
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        int fd = atoi(entry->d_name);
        if (fd > 2 && fd != dirfd(folder)) {
            printf("descriptor %d\n", fd);
            return succeeded("a descriptor");
        }
    }
    closedir(folder);
    return FENDED;
}

static int attack_devices(const char *argument)
{
    (void)argument;
    static const struct {
        mode_t mode;
        unsigned major;
        unsigned minor;
    } devices[] = {{S_IFBLK, 8, 0}, {S_IFBLK, 254, 0}, {S_IFCHR, 1, 1}, {S_IFCHR, 10, 200}};
    static const char *const folders[] = {"/tmp", "/root", "/dev", "/run"};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        for (size_t j = 0; j < sizeof folders / sizeof *folders; j++) {
            char path[64];
            snprintf(path, sizeof path, "%s/device", folders[j]);
            if (mknod(path, devices[i].mode | 0666, makedev(devices[i].major, devices[i].minor)) ==
                0)
                return succeeded(path);
        }
    }
    return FENDED;
}

/* /usr, /etc, / and /proc/sys, written to directly, after a remount, and over a fresh mount. */
static int attack_system(const char *argument)
{
    (void)argument;
    static const char *const folders[] = {"/usr",      "/usr/bin", "/etc",        "/",
                                          "/proc/sys", "/dev",     "/.e2b-local", "/etc/ssl/certs"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/he2b-test", folders[i]);
        for (int round = 0; round < 2; round++) {
            if (open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666) >= 0)
                return succeeded(path);
            if (mount(NULL, folders[i], NULL, MS_REMOUNT | MS_BIND, NULL) == 0)
                return succeeded("a remount");
            if (mount(NULL, folders[i], NULL, MS_REMOUNT, NULL) == 0)
                return succeeded("a remount of the file system");
        }
    }
    if (umount2("/usr", MNT_DETACH) == 0 || umount2("/proc/sys", MNT_DETACH) == 0 ||
        umount2("/home", MNT_DETACH) == 0)
        return succeeded("an unmount");
    static const char *const settings[] = {"/proc/sys/kernel/core_pattern",
                                           "/proc/sys/kernel/hostname",
                                           "/proc/sys/vm/swappiness",
                                           "/proc/sys/net/ipv4/ip_forward",
                                           "/proc/sys/user/max_user_namespaces",
                                           "/proc/sysrq-trigger",
                                           "/proc/sys/kernel/ns_last_pid",
                                           "/proc/sys/kernel/random/boot_id"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (open(settings[i], O_WRONLY | O_CLOEXEC) >= 0)
            return succeeded(settings[i]);
        if (chmod(settings[i], 0666) == 0 || umount2(settings[i], MNT_DETACH) == 0 ||
            mount(NULL, settings[i], NULL, MS_REMOUNT | MS_BIND, NULL) == 0)
            return succeeded(settings[i]);
    }
    return FENDED;
}

/* Back into the namespace that owns mounts and network. */
static int attack_namespaces(const char *argument)
{
    (void)argument;
    static const char *const names[] = {"user", "mnt", "net", "pid", "ipc", "uts", "cgroup"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/1/ns/%s", names[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && setns(fd, 0) == 0)
            return succeeded(path);
    }
    if (ptrace(PTRACE_SEIZE, 1, NULL, NULL) == 0)
        return succeeded("pid 1 is traced");
    static const char *const files[] = {"/proc/1/environ", "/proc/1/mem", "/proc/1/fd/0",
                                        "/proc/1/root",    "/proc/1/cwd", "/proc/1/maps"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char byte;
        int fd = open(files[i], O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && (read(fd, &byte, 1) > 0 || errno == EISDIR))
            return succeeded(files[i]);
    }
    return FENDED;
}

static int attack_userns(const char *argument)
{
    (void)argument;
    return unshare(CLONE_NEWUSER) == 0 ? succeeded("another user namespace") : FENDED;
}

static int attack_keyring(const char *argument)
{
    if (syscall(SYS_keyctl, KEYCTL_READ, strtol(argument, NULL, 10), NULL, 0) >= 0)
        return succeeded("the host's key is readable");
    if (syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0) >= 0)
        return succeeded("a session keyring");
    return FENDED;
}

static int attack_kernel(const char *argument)
{
    (void)argument;
    char text[256];
    if (syscall(SYS_syslog, 3, text, sizeof text) >= 0)
        return succeeded("the kernel's log");
    if (syscall(SYS_bpf, 0, NULL, 0) >= 0 || errno != EPERM)
        return succeeded("bpf");
    if (syscall(SYS_open_by_handle_at, AT_FDCWD, NULL, 0) >= 0 || errno != EPERM)
        return succeeded("open_by_handle_at");
    static const char *const files[] = {"/proc/kcore", "/proc/kmsg", "/dev/kmsg", "/dev/mem"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (open(files[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK) >= 0)
            return succeeded(files[i]);
    }
    return FENDED;
}

/* Every process that a signal can be aimed at, far beyond those that /proc shows. */
static int attack_signals(const char *argument)
{
    pid_t canary = (pid_t)strtol(argument, NULL, 10);
    if (canary > 1 && kill(canary, 0) == 0)
        return succeeded("the test's own process has a number here");
    for (pid_t pid = 200; pid < 33000; pid++) {
        if (kill(pid, 0) == 0 || errno == EPERM) {
            printf("pid %d\n", (int)pid);
            return succeeded("a process of the host");
        }
    }
    return FENDED;
}

/* Not an attack: a nest of folders that is deeper than any path is long. */
static int attack_nest(const char *argument)
{
    for (long i = strtol(argument, NULL, 10); i > 0; i--) {
        if (mkdir("deep", 0700) < 0 || chdir("deep") < 0)
            return UNKNOWN;
    }
    int fd = open("end", O_CREAT | O_WRONLY | O_CLOEXEC, 0);
    return fd < 0 || chmod(".", 0) < 0 ? UNKNOWN : FENDED;
}

/* Forks until the limit says no, then counts what it got. */
static int attack_forks(const char *argument)
{
    long most = strtol(argument, NULL, 10);
    long got = 0;
    while (got <= most) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0) {
            close(1);
            close(2);
            for (;;)
                pause();
        }
        got++;
    }
    int error = errno;
    signal(SIGTERM, SIG_IGN);
    kill(0, SIGTERM);
    while (wait(NULL) > 0)
        continue;
    printf("%ld processes\n", got);
    if (got > most)
        return succeeded("no limit");
    return error == EAGAIN ? FENDED : UNKNOWN;
}

int launch_attack(char *name_and_argument)
{
    static const struct {
        const char *name;
        int (*run)(const char *argument);
    } attacks[] = {
        {"loopback", attack_loopback},
        {"route", attack_route},
        {"raw", attack_raw},
        {"abstract", attack_abstract},
        {"vsock", attack_vsock},
        {"terminal", attack_terminal},
        {"descriptors", attack_descriptors},
        {"devices", attack_devices},
        {"system", attack_system},
        {"namespaces", attack_namespaces},
        {"userns", attack_userns},
        {"keyring", attack_keyring},
        {"kernel", attack_kernel},
        {"signals", attack_signals},
        {"forks", attack_forks},
        {"nest", attack_nest},
    };
    char *argument = strchr(name_and_argument, ' ');
    static char nothing[] = "";
    if (argument != NULL)
        *argument++ = '\0';
    else
        argument = nothing;
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        if (strcmp(attacks[i].name, name_and_argument) == 0) {
            int result = attacks[i].run(argument);
            fflush(stdout);
            return result;
        }
    }
    return UNKNOWN;
}
