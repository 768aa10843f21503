/*
 * LD_PRELOAD: the locks of <home>/cache/e2b fail for a while. FLOCK_ERRNO and FLOCK_TIMES say how
 * flock() does, OPEN_ERRNO and OPEN_TIMES how the files are opened (openat() of Python is left
 * alone).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

static int number(const char *name)
{
    const char *text = getenv(name);

    return text ? atoi(text) : 0;
}

/* True for the first so many calls. */
static int due(atomic_int *calls, const char *times)
{
    return atomic_fetch_add(calls, 1) < number(times);
}

int flock(int fd, int operation)
{
    static atomic_int calls;
    int (*real)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "flock");

    if (!(operation & LOCK_UN) && due(&calls, "FLOCK_TIMES")) {
        errno = number("FLOCK_ERRNO");
        return -1;
    }
    return real(fd, operation);
}

static int open_any(const char *name, const char *path, int flags, mode_t mode)
{
    static atomic_int calls;
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);

    if (strstr(path, "/cache/e2b/") && due(&calls, "OPEN_TIMES")) {
        errno = number("OPEN_ERRNO");
        return -1;
    }
    return real(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list args;

    va_start(args, flags);
    if (flags & O_CREAT)
        mode = (mode_t)va_arg(args, int);
    va_end(args);
    return open_any("open", path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list args;

    va_start(args, flags);
    if (flags & O_CREAT)
        mode = (mode_t)va_arg(args, int);
    va_end(args);
    return open_any("open64", path, flags, mode);
}
