#include "host/tree.h"

#include "host/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

bool he2b_tree_path_is_plain(const char *path)
{
    size_t depth = 0;

    if (strlen(path) > HE2B_ARCHIVE_NAME_MAX)
        return false;
    for (;;) {
        size_t len = strcspn(path, "/");

        if (len == 0 || (len == 1 && path[0] == '.') || (len == 2 && memcmp(path, "..", 2) == 0))
            return false;
        if (++depth > HE2B_TREE_DEPTH_MAX)
            return false;
        if (path[len] == '\0')
            return true;
        path += len + 1;
    }
}

const char *he2b_tree_path_skip_dot(const char *path)
{
    while (path[0] == '.' && path[1] == '/') {
        path += 2;
        path += strspn(path, "/");
    }
    return path;
}

/* The next part of *path goes to ret; *path goes behind it and its slash. Returns 1 if it is the
 * last, 0 if not, -1 and errno if it is too long. */
static int part(char ret[NAME_MAX + 1], const char **path)
{
    size_t len = strcspn(*path, "/");

    if (len > NAME_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(ret, *path, len);
    ret[len] = '\0';
    if ((*path)[len] == '\0')
        return 1;
    *path += len + 1;
    return 0;
}

static int open_folder(int at, const char *name, bool follow)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
}

/* Steps into name and closes the folder before. Returns the descriptor, or -1 and errno. */
static int step(int at, const char *name, mode_t mode, bool follow)
{
    int fd = open_folder(at, name, follow);

    /* Another process may make it at the same time. */
    if (fd < 0 && errno == ENOENT && mode != 0 && (mkdirat(at, name, mode) == 0 || errno == EEXIST))
        fd = open_folder(at, name, follow);
    if (fd < 0) {
        int error = errno;

        close(at);
        errno = error;
        return -1;
    }
    close(at);
    return fd;
}

static int walk(int root, const char *path, mode_t mode, bool follow, he2b_tree_allows_fn allows,
                const void *user, const char **ret_last)
{
    char name[NAME_MAX + 1];
    struct stat st;
    int at = fcntl(root, F_DUPFD_CLOEXEC, 0);

    while (at >= 0) {
        const char *last = path;
        int r = part(name, &path);
        int error = errno;

        if (r > 0) {
            *ret_last = last;
            return at;
        }
        if (r < 0) {
            close(at);
            errno = error;
            return -1;
        }
        at = step(at, name, mode, follow);
        if (at >= 0 && allows && (fstat(at, &st) < 0 || !allows(user, &st))) {
            close(at);
            errno = EPERM;
            return -1;
        }
    }
    return -1;
}

int he2b_tree_parent(int root, const char *path, mode_t mode, he2b_tree_allows_fn allows,
                     const void *user, const char **ret_last)
{
    return walk(root, path, mode, false, allows, user, ret_last);
}

/* Something is there, but it is no folder, or the way to it leads through something that is none:
 * nothing can be there, and nothing can be put there. */
static enum he2b_tree_there look_in(int at, const char *last, bool follow, int *ret_fd)
{
    struct stat there;
    struct stat opened;
    int fd;

    if (fstatat(at, last, &there, follow ? 0 : AT_SYMLINK_NOFOLLOW) < 0) {
        int error = errno;

        if (error != ENOENT)
            return HE2B_TREE_OTHER;
        /* a link to nowhere is something */
        errno = 0;
        return fstatat(at, last, &there, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT
                   ? HE2B_TREE_NOTHING
                   : HE2B_TREE_OTHER;
    }
    errno = 0;
    if (!S_ISREG(there.st_mode))
        return HE2B_TREE_OTHER;
    /* not blocking, should it become a FIFO just now */
    fd = openat(at, last, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
    if (fd < 0)
        return HE2B_TREE_OTHER;
    if (fstat(fd, &opened) < 0 || !S_ISREG(opened.st_mode)) {
        close(fd);
        errno = 0;
        return HE2B_TREE_OTHER;
    }
    *ret_fd = fd;
    return HE2B_TREE_FILE;
}

enum he2b_tree_there he2b_tree_look(int root, const char *path, bool follow, int *ret_fd)
{
    enum he2b_tree_there there;
    const char *last = NULL;
    int at = walk(root, path, 0, follow, NULL, NULL, &last);
    int error;

    if (at < 0)
        return errno == ENOENT ? HE2B_TREE_NOTHING : HE2B_TREE_OTHER;
    there = look_in(at, last, follow, ret_fd);
    error = errno;
    close(at);
    errno = error;
    return there;
}

bool he2b_tree_unchanged(const struct stat *before, const struct stat *after)
{
    return before->st_size == after->st_size && before->st_mtim.tv_sec == after->st_mtim.tv_sec &&
           before->st_mtim.tv_nsec == after->st_mtim.tv_nsec;
}
