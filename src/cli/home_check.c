#include "cli/home_check.h"

#include "cli/home.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_MAX_BYTES = 4096,
};

bool home_check_folder(char *out, size_t size)
{
    char home[PATH_MAX_BYTES];
    struct stat st;

    if (!home_path(home, sizeof(home)) || home[0] != '/') {
        snprintf(out, size, "not known; set HERMES_HOME to an absolute path");
        return false;
    }
    if (stat(home, &st) != 0) {
        snprintf(out, size, "%s%s%s", home,
                 errno == ENOENT ? " is not there yet; Hermes makes it" : ": ",
                 errno == ENOENT ? "" : strerror(errno));
        return errno == ENOENT;
    }
    if (!S_ISDIR(st.st_mode)) {
        snprintf(out, size, "%s is no folder", home);
        return false;
    }
    if (access(home, R_OK | W_OK | X_OK) != 0) {
        snprintf(out, size, "%s cannot be written: %s", home, strerror(errno));
        return false;
    }
    snprintf(out, size, "%s", home);
    return true;
}

/* Cuts path to the nearest folder that exists; false if there is none. */
static bool nearest(char *path)
{
    struct stat st;

    while (stat(path, &st) != 0) {
        char *slash = strrchr(path, '/');

        if (errno != ENOENT || !slash || slash == path)
            return false;
        *slash = '\0';
    }
    return true;
}

static int try_lock(const char *folder)
{
    char path[PATH_MAX_BYTES + 64];
    int error = 0;
    int fd;

    if ((size_t)snprintf(path, sizeof(path), "%s/.hermes-e2b-doctor-XXXXXX", folder) >=
        sizeof(path))
        return ENAMETOOLONG;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return errno;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        error = errno;
    close(fd);
    unlink(path);
    return error;
}

bool home_check_locks(char *out, size_t size)
{
    char home[PATH_MAX_BYTES];
    char folder[PATH_MAX_BYTES + 64];
    int error;

    if (!home_path(home, sizeof(home)))
        return false;
    snprintf(folder, sizeof(folder), "%s/cache/e2b", home);
    error = nearest(folder) ? try_lock(folder) : errno;
    if (error) {
        snprintf(out, size,
                 "no file can be locked in %s (%s): two sessions of one scope are not kept apart",
                 folder, strerror(error));
        return false;
    }
    snprintf(out, size, "work in %s", folder);
    return true;
}
