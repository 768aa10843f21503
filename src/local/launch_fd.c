#include "local/launch_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void launch_fd_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

int launch_fd_raise(int *fd)
{
    if (*fd < 0)
        return 0;
    int raised = fcntl(*fd, F_DUPFD_CLOEXEC, LAUNCH_FD_LOWEST);
    if (raised < 0)
        return -1;
    close(*fd);
    *fd = raised;
    return 0;
}

int launch_fd_pipe(int *ret_read, int *ret_write)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    if (launch_fd_raise(&ends[0]) < 0 || launch_fd_raise(&ends[1]) < 0) {
        int error = errno;
        close(ends[0]);
        close(ends[1]);
        errno = error;
        return -1;
    }
    *ret_read = ends[0];
    *ret_write = ends[1];
    return 0;
}

static int null_standard(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return -1;
    for (int fd = 0; fd <= 2; fd++) {
        if (dup2(null, fd) < 0)
            return -1;
    }
    if (null > 2)
        close(null);
    return 0;
}

int launch_fd_keep_only(const int *keep, size_t n)
{
    if (null_standard() < 0)
        return -1;
    unsigned from = 3;
    for (size_t round = 0; round < n; round++) {
        unsigned next = ~0U;
        for (size_t i = 0; i < n; i++) {
            if (keep[i] >= 0 && (unsigned)keep[i] >= from && (unsigned)keep[i] < next)
                next = (unsigned)keep[i];
        }
        if (next == ~0U)
            break;
        if (next > from && close_range(from, next - 1, 0) < 0)
            return -1;
        from = next + 1;
    }
    return close_range(from, ~0U, 0);
}

int launch_fd_write(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

int launch_fd_of_data(const void *data, size_t size)
{
    int fd = memfd_create("e2b-local", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    if (launch_fd_raise(&fd) < 0 || launch_fd_write(fd, data, size) < 0 ||
        lseek(fd, 0, SEEK_SET) < 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

int launch_fd_write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n;
    do {
        n = write(fd, text, strlen(text));
    } while (n < 0 && errno == EINTR);
    int error = n < 0 ? errno : 0;
    close(fd);
    errno = error;
    return n < 0 ? -1 : 0;
}
