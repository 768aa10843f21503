#include "tests/unit/host/flock_shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/types.h>

struct flock_shim flock_shim;

/* The names that the linker gives to the calls. */
int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, ...);

int __wrap_flock(int fd, int operation)
{
    if (operation & LOCK_EX) {
        if (flock_shim.before_times > 0) {
            flock_shim.before_times--;
            flock_shim.before();
        }
        if (flock_shim.flock_times > 0) {
            flock_shim.flock_times--;
            errno = flock_shim.flock_errno;
            return -1;
        }
    }
    return __real_flock(fd, operation);
}

int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;

    if (flags & O_CREAT) {
        va_list args;

        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
    }
    if (flock_shim.open_times > 0) {
        flock_shim.open_times--;
        errno = flock_shim.open_errno;
        return -1;
    }
    return __real_open(path, flags, mode);
}
