#include "local/daemon_path.h"

#include "local/daemon.h"
#include "local/daemon_user.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Takes out ".", ".." and doubled or trailing slashes, as Go's path cleaning does. */
static void clean(char *path)
{
    char *in = path;
    char *out = path;

    while (*in) {
        size_t len;

        in += strspn(in, "/");
        len = strcspn(in, "/");
        if (len == 2 && in[0] == '.' && in[1] == '.') {
            while (out > path && *--out != '/') {
            }
        } else if (len > 0 && !(len == 1 && in[0] == '.')) {
            *out++ = '/';
            memmove(out, in, len);
            out += len;
        }
        in += len;
    }
    if (out == path)
        *out++ = '/';
    *out = '\0';
}

const char *daemon_path(char *out, const char *path, const struct daemon_user *user)
{
    int n;

    if (!path || !path[0])
        n = snprintf(out, DAEMON_PATH_MAX, "%s", user->home);
    else if (path[0] == '/')
        n = snprintf(out, DAEMON_PATH_MAX, "%s", path);
    else if (path[0] == '~' && path[1] != '/' && path[1] != '\0')
        return "cannot expand user-specific home dir";
    else
        n = snprintf(out, DAEMON_PATH_MAX, "%s/%s", user->home, path[0] == '~' ? path + 1 : path);
    if (n < 0 || n >= DAEMON_PATH_MAX)
        return "the path is too long";
    if (path && path[0] != '/')
        clean(out);
    return NULL;
}

const char *daemon_path_name(const char *path)
{
    size_t end = strlen(path);

    while (end > 1 && path[end - 1] == '/')
        end--;
    while (end > 1 && path[end - 1] != '/')
        end--;
    return path + (path[end] ? end : 0);
}

static int make_one(const char *path, const struct daemon_user *user)
{
    struct stat info;

    if (mkdir(path, 0755) == 0)
        return daemon_user_own(user, -1, path);
    if (errno != EEXIST)
        return errno;
    if (stat(path, &info) != 0)
        return errno;
    return S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
}

int daemon_path_make(const char *path, bool whole, const struct daemon_user *user)
{
    char part[DAEMON_PATH_MAX];
    size_t len = strlen(path);
    size_t i;
    int error;

    while (len > 1 && path[len - 1] == '/')
        len--;
    for (i = 1; i <= len; i++) {
        if (i == len ? !whole : path[i] != '/' || path[i - 1] == '/')
            continue;
        snprintf(part, sizeof(part), "%.*s", (int)i, path);
        error = make_one(part, user);
        if (error)
            return error;
    }
    return 0;
}
