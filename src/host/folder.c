#include "host/folder.h"

#include "host/files.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

/* Puts the folder of path into ret. Returns 0 or the errno. */
static int folder_of(char ret[HE2B_HOST_PATH_MAX], const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) : 0;

    if (len == 0)
        return ENOENT;
    if (len >= HE2B_HOST_PATH_MAX)
        return ENAMETOOLONG;
    memcpy(ret, path, len);
    ret[len] = '\0';
    return 0;
}

/* Another process may make it at the same time. */
static int make(const char *folder)
{
    return mkdir(folder, 0700) == 0 || errno == EEXIST ? 0 : errno;
}

int he2b_host_folder_make(const char *path)
{
    char folder[HE2B_HOST_PATH_MAX];
    char above[HE2B_HOST_PATH_MAX];
    int error = folder_of(folder, path);

    if (error == 0)
        error = make(folder);
    if (error != ENOENT || folder_of(above, folder) != 0)
        return error;
    error = make(above);
    return error ? error : make(folder);
}
