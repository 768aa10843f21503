#include "local/daemon.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "." and "..", doubled and trailing slashes taken out, as Go's path cleaning does. */
static void clean(char *path)
{
    char *in = path;
    char *out = path;

    while (*in) {
        size_t len;

        while (*in == '/')
            in++;
        len = strcspn(in, "/");
        if (len == 0)
            break;
        if (len == 1 && in[0] == '.') {
            in += len;
        } else if (len == 2 && in[0] == '.' && in[1] == '.') {
            while (out > path && *--out != '/') {
            }
            in += len;
        } else {
            *out++ = '/';
            memmove(out, in, len);
            out += len;
            in += len;
        }
    }
    if (out == path)
        *out++ = '/';
    *out = '\0';
}

bool daemon_path(char *out, size_t size, const char *path, const struct daemon_user *user,
                 char *why, size_t why_size)
{
    int n;

    if (!path || !path[0])
        n = snprintf(out, size, "%s", user->home);
    else if (path[0] == '~' && (path[1] == '/' || path[1] == '\0'))
        n = snprintf(out, size, "%s%s", user->home, path + 1);
    else if (path[0] == '~') {
        snprintf(why, why_size, "cannot expand user-specific home dir");
        return false;
    } else if (path[0] == '/')
        n = snprintf(out, size, "%s", path);
    else
        n = snprintf(out, size, "%s/%s", user->home, path);
    if (n < 0 || (size_t)n >= size) {
        snprintf(why, why_size, "path is too long");
        return false;
    }
    clean(out);
    return true;
}

int daemon_make_parents(const char *path, const struct daemon_user *user)
{
    char part[DAEMON_PATH_MAX];
    struct stat info;
    size_t i;

    for (i = 1; path[i]; i++) {
        if (path[i] != '/')
            continue;
        snprintf(part, sizeof(part), "%.*s", (int)i, path);
        if (mkdir(part, 0755) == 0) {
            if (chown(part, user->uid, user->gid) != 0 && errno != EPERM)
                return errno;
        } else if (errno != EEXIST) {
            return errno;
        } else if (stat(part, &info) != 0) {
            return errno;
        } else if (!S_ISDIR(info.st_mode)) {
            return ENOTDIR;
        }
    }
    return 0;
}
