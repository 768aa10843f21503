#include "host/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    TRIES = 100,
};

static int open_nameless(int folder)
{
#ifdef O_TMPFILE
    return openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#else
    (void)folder;
    errno = EOPNOTSUPP;
    return -1;
#endif
}

/* What says that this file system, or kernel, has no files without a name. */
static int is_unsupported(int error)
{
    return error == EOPNOTSUPP || error == EISDIR || error == EINVAL || error == ENOENT ||
           error == ENOSYS;
}

static int open_named(struct he2b_new_file *file)
{
    struct timespec now;
    int i;

    for (i = 0; i < TRIES; i++) {
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(file->name, sizeof(file->name), ".he2b-%lx-%lx-%x", (unsigned long)getpid(),
                 (unsigned long)now.tv_nsec, (unsigned)i);
        file->fd = openat(file->folder, file->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file->fd >= 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    file->name[0] = '\0';
    return errno;
}

int he2b_new_file_begin(struct he2b_new_file *file, int folder)
{
    *file = (struct he2b_new_file){.folder = folder};
    file->fd = open_nameless(folder);
    if (file->fd >= 0)
        return 0;
    return is_unsupported(errno) ? open_named(file) : errno;
}

int he2b_new_file_write_all(int fd, const void *data, size_t len)
{
    const char *at = data;

    while (len > 0) {
        ssize_t n = write(fd, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

int he2b_new_file_write(struct he2b_new_file *file, const void *data, size_t len)
{
    return he2b_new_file_write_all(file->fd, data, len);
}

static int give_name(struct he2b_new_file *file, const char *name)
{
    char here[64];

    if (file->name[0] != '\0')
        return linkat(file->folder, file->name, file->folder, name, 0) == 0 ? 0 : errno;
    snprintf(here, sizeof(here), "/proc/self/fd/%d", file->fd);
    return linkat(AT_FDCWD, here, file->folder, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

int he2b_new_file_publish(struct he2b_new_file *file, const char *name, mode_t mode,
                          int64_t mtime_s, long mtime_ns)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_sec = mtime_s, .tv_nsec = mtime_ns}};
    int error;

    if (mtime_ns < 0 || mtime_ns > 999999999)
        times[1].tv_nsec = 0;
    /* best effort: a time from the far end of the calendar is no reason to lose the file */
    if (futimens(file->fd, times) < 0 && errno != EINVAL && errno != EOVERFLOW && errno != EPERM)
        return errno;
    if (fchmod(file->fd, mode) < 0)
        return errno;
    error = give_name(file, name);
#ifdef RENAME_NOREPLACE
    /* a file system without hard links */
    if (file->name[0] != '\0' && (error == EPERM || error == EOPNOTSUPP || error == ENOSYS)) {
        error = renameat2(file->folder, file->name, file->folder, name, RENAME_NOREPLACE) == 0
                    ? 0
                    : errno;
        if (error == 0)
            file->name[0] = '\0';
    }
#endif
    return error;
}

void he2b_new_file_drop(struct he2b_new_file *file)
{
    if (file->name[0] != '\0')
        unlinkat(file->folder, file->name, 0);
    file->name[0] = '\0';
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

int he2b_new_file_nameless(int folder)
{
    struct he2b_new_file file;
    int error = he2b_new_file_begin(&file, folder);

    if (error) {
        errno = error;
        return -1;
    }
    if (file.name[0] != '\0')
        unlinkat(folder, file.name, 0);
    return file.fd;
}
