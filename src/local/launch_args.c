#include "local/launch_args.h"

#include "local/launch_programs.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct list {
    char *text;
    size_t len;
    bool full;
};

static void add(struct list *list, const char *argument)
{
    size_t size = strlen(argument) + 1;
    if (list->full || LAUNCH_ARGS_MAX - list->len < size) {
        list->full = true;
        return;
    }
    memcpy(list->text + list->len, argument, size);
    list->len += size;
}

/* Ends with a NULL. */
static void add_all(struct list *list, const char *first, ...)
{
    va_list more;
    va_start(more, first);
    for (const char *at = first; at != NULL; at = va_arg(more, const char *))
        add(list, at);
    va_end(more);
}

static void add_number(struct list *list, const char *option, unsigned long long number)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", number);
    add_all(list, option, text, NULL);
}

static void add_data(struct list *list, const char *perms, int fd, const char *path)
{
    add_all(list, "--perms", perms, NULL);
    add_number(list, "--ro-bind-data", (unsigned)fd);
    add(list, path);
}

static void add_tmpfs(struct list *list, const char *perms, unsigned mib, const char *path)
{
    add_all(list, "--perms", perms, NULL);
    add_number(list, "--size", mib * 1024ULL * 1024);
    add_all(list, "--tmpfs", path, NULL);
}

/* /usr, and what leads into it: links on a merged system, folders of their own on another one. */
static void add_system(struct list *list)
{
    static const char *const names[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
    add_all(list, "--ro-bind", "/usr", "/usr", NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct stat st;
        if (lstat(names[i], &st) < 0)
            continue;
        char target[PATH_MAX];
        ssize_t n = S_ISLNK(st.st_mode) ? readlink(names[i], target, sizeof target - 1) : -1;
        if (n > 0) {
            target[n] = '\0';
            add_all(list, "--symlink", target, names[i], NULL);
        } else if (S_ISDIR(st.st_mode)) {
            add_all(list, "--ro-bind", names[i], names[i], NULL);
        }
    }
}

static void add_etc(struct list *list, const struct launch_etc_file *etc)
{
    /* public on every system, and without a word about this one */
    static const char *const shared[] = {
        "/etc/ssl/certs",    "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted",
        "/etc/alternatives", "/etc/ld.so.cache",   "/etc/services",
        "/etc/protocols",    "/etc/mime.types",    "/etc/localtime",
    };
    add_all(list, "--dir", "/etc", NULL);
    for (size_t i = 0; i < LAUNCH_ETC_COUNT; i++)
        add_data(list, "0444", etc[i].fd, etc[i].path);
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        add_all(list, "--ro-bind-try", shared[i], shared[i], NULL);
    add_all(list, "--symlink", "../usr/lib/os-release", "/etc/os-release", NULL);
    add_all(list, "--symlink", "../proc/self/mounts", "/etc/mtab", NULL);
}

static void add_folder(struct list *list, const char *folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/home", folder);
    add_all(list, "--bind", path, "/home", NULL);
    snprintf(path, sizeof path, "%s/root", folder);
    add_all(list, "--bind", path, "/root", NULL);
}

size_t launch_args_make(char ret[LAUNCH_ARGS_MAX], const struct launch_args_spec *spec)
{
    struct list list = {.text = ret};
    /* no --unshare-user: bwrap is uid 0 of the namespace that it shall stay in */
    add_all(&list, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", NULL);
    if (spec->network != LAUNCH_NETWORK_HOST)
        add(&list, "--unshare-net");
    add_all(&list, "--hostname", LAUNCH_ETC_HOSTNAME, NULL);

    add_system(&list);
    add_etc(&list, spec->etc);
    add_all(&list, "--proc", "/proc", "--dev", "/dev", NULL);
    add_tmpfs(&list, "1777", LAUNCH_ARGS_SHM_MIB, "/dev/shm");
    add_all(&list, "--remount-ro", "/dev", NULL);
    add_tmpfs(&list, "1777", LAUNCH_ARGS_TMP_MIB, "/tmp");
    add_tmpfs(&list, "0755", LAUNCH_ARGS_RUN_MIB, "/run");
    add_all(&list, "--dir", "/var", "--symlink", "../tmp", "/var/tmp", "--symlink", "../run",
            "/var/run", NULL);
    if (spec->folder != NULL)
        add_folder(&list, spec->folder);
    add_data(&list, "0555", spec->init_fd, LAUNCH_ARGS_PROGRAMS "/init");
    if (spec->daemon_fd >= 0)
        add_data(&list, "0555", spec->daemon_fd, LAUNCH_ARGS_PROGRAMS "/daemon");
    add_all(&list, "--remount-ro", "/", "--chdir", "/", NULL);

    if (spec->filter_fd >= 0)
        add_number(&list, "--seccomp", (unsigned)spec->filter_fd);
    add_all(&list, "--clearenv", "--new-session", "--die-with-parent", "--as-pid-1", NULL);
    add_number(&list, "--info-fd", (unsigned)spec->info_fd);
    return list.full ? 0 : list.len;
}
