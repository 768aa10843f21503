#include "host/marker.h"

#include "core/text.h"
#include "host/files.h"
#include "host/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* Guards the one line that people read; a reason is a sentence. */
    REASON_MAX = 512,
    CONTENT_MAX = REASON_MAX + 32,
};

static const char unique[] = ".XXXXXX";

/* A new file beside path, whose name goes to ret. Returns its descriptor, or -1 and errno. */
static int open_beside(char ret[HE2B_HOST_PATH_MAX], const char *path)
{
    int fd;

    if (strlen(path) + sizeof(unique) > HE2B_HOST_PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    do {
        snprintf(ret, HE2B_HOST_PATH_MAX, "%s%s", path, unique);
        fd = mkostemp(ret, O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* Returns 0 or the errno. */
static int write_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

int he2b_marker_set(const char *path, const char *reason)
{
    char beside[HE2B_HOST_PATH_MAX];
    char content[CONTENT_MAX];
    char line[REASON_MAX];
    int error;
    int len;
    int fd = open_beside(beside, path);

    if (fd < 0 && errno == ENOENT) {
        error = he2b_host_folder_make(path);
        if (error)
            return error;
        fd = open_beside(beside, path);
    }
    if (fd < 0)
        return errno;
    he2b_text_line(line, sizeof(line), reason, strlen(reason));
    len = snprintf(content, sizeof(content), "%s\npid=%ld\n", line, (long)getpid());
    error = write_all(fd, content, (size_t)len);
    /* a full disk may show here first */
    if (close(fd) < 0 && error == 0 && errno != EINTR)
        error = errno;
    if (error == 0 && rename(beside, path) < 0)
        error = errno;
    if (error)
        unlink(beside);
    return error;
}

int he2b_marker_clear(const char *path)
{
    return unlink(path) == 0 || errno == ENOENT ? 0 : errno;
}

bool he2b_marker_dirty(const char *path, int *ret_error)
{
    struct stat there;
    int error = lstat(path, &there) == 0 ? 0 : errno;

    *ret_error = error == ENOENT ? 0 : error;
    return error != ENOENT;
}
