#include "host/lock.h"

#include "host/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* Guards against a loop for ever where somebody replaces the file all the time. */
    REPLACED_MAX = 16,
};

void he2b_lock_init(struct he2b_lock *lock)
{
    lock->fd = -1;
    lock->error = 0;
    lock->owner = 0;
}

static enum he2b_lock_outcome refuse(struct he2b_lock *lock, int error,
                                     enum he2b_lock_outcome outcome)
{
    lock->error = error;
    return outcome;
}

/* What an errno says that says it of the file system, whichever call it came from. */
static enum he2b_lock_outcome classify(struct he2b_lock *lock, int error)
{
    switch (error) {
    case ENOLCK:
    case ENOSYS:
    case EOPNOTSUPP:
    case EROFS:
        return refuse(lock, error, HE2B_LOCK_UNSUPPORTED);
    default:
        return refuse(lock, error, HE2B_LOCK_FAILED);
    }
}

static bool forbidden(int error)
{
    return error == EACCES || error == EPERM;
}

/* A link is not followed: what it names would be emptied (B-12). */
static int open_file(const char *path)
{
    int fd;

    do {
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* Whoever made a file that we may not open may be holding it; where there is none, and none can be
 * made, nobody of this user can. */
static enum he2b_lock_outcome not_opened(struct he2b_lock *lock, const char *path, int error)
{
    struct stat there;

    if (!forbidden(error))
        return classify(lock, error);
    if (lstat(path, &there) == 0)
        return HE2B_LOCK_TAKEN;
    return refuse(lock, error, HE2B_LOCK_UNSUPPORTED);
}

static int flock_again(int fd, int operation)
{
    int result;

    do {
        result = flock(fd, operation);
    } while (result < 0 && errno == EINTR);
    return result;
}

/* A lock on a file that was removed or replaced meanwhile keeps nobody out (FB-30). 1: it is the
 * one at path, 0: it is not, -1: errno says why that cannot be told. */
static int is_file_at(int fd, const char *path)
{
    struct stat ours;
    struct stat there;

    if (fstat(fd, &ours) < 0)
        return -1;
    if (lstat(path, &there) < 0)
        return errno == ENOENT ? 0 : -1;
    return ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* Empty, as every holder leaves it. */
static int truncate_again(int fd)
{
    int result;

    do {
        result = ftruncate(fd, 0);
    } while (result < 0 && errno == EINTR);
    return result;
}

/* One try on one open file. False: the file was replaced, start over. */
static bool try_file(enum he2b_lock_outcome *ret, struct he2b_lock *lock, int fd, const char *path)
{
    int same;

    if (flock_again(fd, LOCK_EX | LOCK_NB) < 0) {
        /* EAGAIN is EWOULDBLOCK */
        if (errno == EAGAIN || errno == EACCES)
            *ret = HE2B_LOCK_TAKEN;
        else
            *ret = classify(lock, errno);
        return true;
    }
    same = is_file_at(fd, path);
    if (same == 0)
        return false;
    if (same < 0 || truncate_again(fd) < 0) {
        *ret = refuse(lock, errno, HE2B_LOCK_FAILED);
        return true;
    }
    lock->fd = fd;
    lock->owner = getpid();
    *ret = HE2B_LOCK_HELD;
    return true;
}

/* Closing alone would not free it while a child has a copy of the descriptor (B-60). */
static void unlock_and_close(int fd)
{
    flock_again(fd, LOCK_UN);
    close(fd);
}

enum he2b_lock_outcome he2b_lock_try(struct he2b_lock *lock, const char *path)
{
    int i;

    if (lock->fd >= 0 && lock->owner == getpid())
        return HE2B_LOCK_HELD;
    /* in a child: it is the parent's, and is seen as such below */
    he2b_lock_release(lock);
    for (i = 0; i < REPLACED_MAX; i++) {
        enum he2b_lock_outcome outcome;
        int fd = open_file(path);
        bool done;

        if (fd < 0 && errno == ENOENT) {
            int error = he2b_host_folder_make(path);

            if (forbidden(error))
                return refuse(lock, error, HE2B_LOCK_UNSUPPORTED);
            if (error)
                return classify(lock, error);
            fd = open_file(path);
        }
        if (fd < 0)
            return not_opened(lock, path, errno);
        done = try_file(&outcome, lock, fd, path);
        if (lock->fd != fd)
            unlock_and_close(fd);
        if (done)
            return outcome;
    }
    return refuse(lock, ESTALE, HE2B_LOCK_FAILED);
}

void he2b_lock_release(struct he2b_lock *lock)
{
    if (lock->fd < 0)
        return;
    if (lock->owner == getpid())
        unlock_and_close(lock->fd);
    else
        close(lock->fd);
    lock->fd = -1;
    lock->owner = 0;
}
