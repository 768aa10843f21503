#include "local/launch_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const char *folder;
    const char *daemon_name;
} used = {.daemon_name = "e2b-local-daemon"};

void launch_programs_use(const char *folder, const char *daemon_name)
{
    if (folder != NULL)
        used.folder = folder;
    if (daemon_name != NULL)
        used.daemon_name = daemon_name;
}

const char *launch_programs_daemon(void)
{
    return used.daemon_name;
}

static int find_in(char ret[PATH_MAX], const char *folders, const char *name)
{
    while (folders != NULL && *folders != '\0') {
        size_t len = strcspn(folders, ":");
        int n = snprintf(ret, PATH_MAX, "%.*s/%s", (int)len, folders, name);
        if (folders[0] == '/' && n > 0 && n < PATH_MAX && access(ret, X_OK) == 0)
            return 0;
        folders += len + (folders[len] == ':');
    }
    return -1;
}

int launch_programs_find(char ret[PATH_MAX], const char *name)
{
    if (find_in(ret, getenv("PATH"), name) == 0)
        return 0;
    return find_in(ret, "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", name);
}

/* The folder of the running program, with libtool's .libs taken off. */
static int own_folder(char ret[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", ret, PATH_MAX - 1);
    if (n <= 0)
        return -1;
    ret[n] = '\0';
    char *slash = strrchr(ret, '/');
    if (slash == NULL)
        return -1;
    *slash = '\0';
    slash = strrchr(ret, '/');
    if (slash != NULL && strcmp(slash, "/.libs") == 0)
        *slash = '\0';
    return 0;
}

int launch_programs_path(char ret[PATH_MAX], const char *name)
{
    char own[PATH_MAX] = "";
    if (own_folder(own) < 0)
        own[0] = '\0';
    const char *folders[] = {used.folder, own, HE2B_PKGLIBEXECDIR};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (folders[i] == NULL || folders[i][0] == '\0')
            continue;
        int n = snprintf(ret, PATH_MAX, "%s/%s", folders[i], name);
        if (n > 0 && n < PATH_MAX && access(ret, R_OK | X_OK) == 0)
            return 0;
    }
    errno = ENOENT;
    return -1;
}

int launch_programs_open(const char *name)
{
    char path[PATH_MAX];
    if (launch_programs_path(path, name) < 0)
        return -1;
    return open(path, O_RDONLY | O_CLOEXEC);
}
