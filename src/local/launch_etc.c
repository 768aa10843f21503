#include "local/launch_etc.h"

#include "local/launch_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A resolv.conf: glibc reads three servers and six domains of it. */
enum {
    RESOLV_MAX = 16384
};

static const char passwd[] = "root:x:0:0:root:/root:/bin/bash\n"
                             "user:x:1000:1000:user:/home/user:/bin/bash\n"
                             "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
static const char group[] = "root:x:0:\n"
                            "tty:x:5:\n"
                            "user:x:1000:\n"
                            "nogroup:x:65534:\n";
static const char hosts[] = "127.0.0.1 localhost " LAUNCH_ETC_HOSTNAME "\n"
                            "::1 localhost ip6-localhost ip6-loopback\n";
static const char hostname[] = LAUNCH_ETC_HOSTNAME "\n";
static const char nsswitch[] = "passwd: files\n"
                               "group: files\n"
                               "hosts: files dns\n"
                               "services: files\n"
                               "protocols: files\n";
static const char profile[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
                              "export PATH\n"
                              "if [ \"${PS1-}\" ]; then\n"
                              "    PS1='\\u@\\h:\\w\\$ '\n"
                              "fi\n";
static const char resolv_slirp[] = "nameserver 10.0.2.3\n";
static const char resolv_none[] = "# this sandbox has no network\n";

static int host_resolv(char *ret, size_t size, size_t *ret_len)
{
    int fd = open("/etc/resolv.conf", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t len = 0;
    ssize_t n = 1;
    while (len < size && n > 0) {
        n = read(fd, ret + len, size - len);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            len += (size_t)n;
    }
    close(fd);
    *ret_len = len;
    return 0;
}

static int resolv_make(enum launch_network network)
{
    char own[RESOLV_MAX];
    size_t len = 0;
    switch (network) {
    case LAUNCH_NETWORK_SLIRP:
        return launch_fd_of_data(resolv_slirp, sizeof resolv_slirp - 1);
    case LAUNCH_NETWORK_HOST:
        if (host_resolv(own, sizeof own, &len) == 0)
            return launch_fd_of_data(own, len);
        break;
    case LAUNCH_NETWORK_NONE:
        break;
    }
    return launch_fd_of_data(resolv_none, sizeof resolv_none - 1);
}

int launch_etc_make(struct launch_etc_file ret[LAUNCH_ETC_COUNT], enum launch_network network)
{
    static const struct {
        const char *path;
        const char *text;
    } texts[LAUNCH_ETC_COUNT - 1] = {
        {"/etc/passwd", passwd},     {"/etc/group", group},     {"/etc/hosts", hosts},
        {"/etc/hostname", hostname}, {"/etc/profile", profile}, {"/etc/nsswitch.conf", nsswitch},
    };
    for (size_t i = 0; i < LAUNCH_ETC_COUNT - 1; i++) {
        ret[i].path = texts[i].path;
        ret[i].fd = launch_fd_of_data(texts[i].text, strlen(texts[i].text));
        if (ret[i].fd < 0)
            return -1;
    }
    ret[LAUNCH_ETC_COUNT - 1].path = "/etc/resolv.conf";
    ret[LAUNCH_ETC_COUNT - 1].fd = resolv_make(network);
    return ret[LAUNCH_ETC_COUNT - 1].fd < 0 ? -1 : 0;
}
