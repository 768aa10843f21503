#include "host/lock.h"

#include "host/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* Guards against a loop for ever where somebody replaces the file all the time. */
    REPLACED_MAX = 16,
};

/* What this process holds, or tries to. A forked child would keep the parent's locks beyond its
 * death, since a lock is the open file's: so it closes its copies, and never unlocks (B-60). */
static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;
static struct he2b_lock *held;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&held_lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&held_lock);
}

static void in_child(void)
{
    for (; held; held = held->next) {
        close(held->fd);
        held->fd = -1;
        held->owner = 0;
    }
    pthread_mutex_unlock(&held_lock);
}

static void watch_forks(void)
{
    /* Without it a child that outlives the parent keeps the lock: a nuisance, no second writer. */
    (void)pthread_atfork(before_fork, in_parent, in_child);
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

/* Opened and noted in one, seen from a fork: a copy that no child knows of would be kept. */
static bool open_noted(struct he2b_lock *lock, const char *path)
{
    int error;

    pthread_mutex_lock(&held_lock);
    lock->fd = open_file(path);
    error = errno;
    if (lock->fd >= 0) {
        lock->owner = getpid();
        lock->next = held;
        held = lock;
    }
    pthread_mutex_unlock(&held_lock);
    errno = error;
    return lock->fd >= 0;
}

static void forget_held(struct he2b_lock *lock)
{
    struct he2b_lock **link = &held;

    pthread_mutex_lock(&held_lock);
    while (*link && *link != lock)
        link = &(*link)->next;
    if (*link)
        *link = lock->next;
    lock->fd = -1;
    lock->owner = 0;
    pthread_mutex_unlock(&held_lock);
}

void he2b_lock_init(struct he2b_lock *lock)
{
    lock->fd = -1;
    lock->error = 0;
    lock->owner = 0;
    lock->next = NULL;
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
static bool try_file(enum he2b_lock_outcome *ret, struct he2b_lock *lock, const char *path)
{
    int fd = lock->fd;
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
    he2b_lock_release(lock);
    pthread_once(&fork_once, watch_forks);
    for (i = 0; i < REPLACED_MAX; i++) {
        enum he2b_lock_outcome outcome;
        bool done;

        if (!open_noted(lock, path) && errno == ENOENT) {
            int error = he2b_host_folder_make(path);

            if (forbidden(error))
                return refuse(lock, error, HE2B_LOCK_UNSUPPORTED);
            if (error)
                return classify(lock, error);
            (void)open_noted(lock, path);
        }
        if (lock->fd < 0)
            return not_opened(lock, path, errno);
        done = try_file(&outcome, lock, path);
        if (!done || outcome != HE2B_LOCK_HELD)
            he2b_lock_release(lock);
        if (done)
            return outcome;
    }
    return refuse(lock, ESTALE, HE2B_LOCK_FAILED);
}

void he2b_lock_release(struct he2b_lock *lock)
{
    int fd = lock->fd;
    bool ours = lock->owner == getpid();

    if (fd < 0)
        return;
    forget_held(lock);
    if (ours)
        unlock_and_close(fd);
    else
        close(fd);
}
