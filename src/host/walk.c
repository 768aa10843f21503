#include "host/walk.h"

#include "he2b.h"
#include "host/archive.h"
#include "host/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct walk {
    he2b_walk_fn fn;
    void *user;
    size_t files;
    char path[HE2B_ARCHIVE_NAME_MAX + 1];
};

static int walk_in(struct walk *walk, int fd, size_t len, int depth);

/* One entry; path and len are those of its folder. */
static int visit(struct walk *walk, int folder, const char *name, size_t len, int depth)
{
    size_t name_len = strlen(name);
    struct stat st;
    int fd;

    if (len + name_len + 1 > HE2B_ARCHIVE_NAME_MAX)
        return HE2B_ERR_OVERFLOW;
    memcpy(walk->path + len, name, name_len + 1);
    len += name_len;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (S_ISREG(st.st_mode)) {
        if (++walk->files > HE2B_ARCHIVE_MEMBERS_MAX)
            return HE2B_ERR_OVERFLOW;
        return walk->fn(walk->user, walk->path);
    }
    if (!S_ISDIR(st.st_mode))
        return 0;
    fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    walk->path[len] = '/';
    return walk_in(walk, fd, len + 1, depth + 1);
}

/* Takes fd. */
static int walk_in(struct walk *walk, int fd, size_t len, int depth)
{
    const struct dirent *entry;
    DIR *folder;
    int r = 0;

    if (depth > HE2B_TREE_DEPTH_MAX) {
        close(fd);
        return HE2B_ERR_OVERFLOW;
    }
    folder = fdopendir(fd);
    if (!folder) {
        r = -errno;
        close(fd);
        return r;
    }
    while (r == 0 && (entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = visit(walk, fd, entry->d_name, len, depth);
    closedir(folder);
    return r;
}

int he2b_walk(const char *folder, he2b_walk_fn fn, void *user)
{
    struct walk walk = {.fn = fn, .user = user};
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? -errno : walk_in(&walk, fd, 0, 1);
}
