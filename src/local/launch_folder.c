#include "core/text.h"
#include "local/launch.h"
#include "local/launch_child.h"
#include "local/launch_fd.h"
#include "local/launch_setup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WHY_MAX = 512
};

/* Fails with one line; a name from inside a sandbox may stand in it, so it is escaped at the end.
 */
struct task {
    int parent_fd;
    const char *name;
    /* 0 inside a sandbox is own here; -1: everything is the caller's anyway */
    int own;
    /* making failed because it is there already */
    bool existed;
    /* while deleting: the folder itself, and the next number for what is lifted into it */
    int top_fd;
    unsigned long number;
    char why[WHY_MAX];
};

static int task_fail(struct task *task, const char *what, const char *name)
{
    snprintf(task->why, sizeof task->why, "%s \"%s\": %s", what, name, strerror(errno));
    return -1;
}

static int make_one(struct task *task, int fd, const char *path, int id, mode_t mode)
{
    if (mkdirat(fd, path, 0700) < 0) {
        task->existed = errno == EEXIST;
        return task_fail(task, "cannot make the folder", path);
    }
    if (fchmodat(fd, path, mode, 0) < 0)
        return task_fail(task, "cannot set the mode of", path);
    uid_t own = (uid_t)(task->own + id);
    if (task->own >= 0 && fchownat(fd, path, own, (gid_t)own, AT_SYMLINK_NOFOLLOW) < 0)
        return task_fail(task, "cannot give away", path);
    return 0;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Moves a folder that is not empty up to the top, under a name that is free there. */
static int lift(struct task *task, int from, const char *name)
{
    char lifted[32];
    do {
        snprintf(lifted, sizeof lifted, "lifted-%lu", task->number++);
        if (renameat2(from, name, task->top_fd, lifted, RENAME_NOREPLACE) == 0)
            return 0;
    } while (errno == EEXIST);
    return task_fail(task, "cannot move", name);
}

static int empty(struct task *task, int fd);

static int delete_entry(struct task *task, int fd, bool at_top, const char *name)
{
    if (unlinkat(fd, name, 0) == 0 || errno == ENOENT)
        return 0;
    /* EPERM: what unlink(2) of a folder gives in POSIX */
    if (errno != EISDIR && errno != EPERM)
        return task_fail(task, "cannot delete", name);
    if (unlinkat(fd, name, AT_REMOVEDIR) == 0)
        return 0;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return task_fail(task, "cannot delete the folder", name);
    if (!at_top)
        return lift(task, fd, name);
    int inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
        return task_fail(task, "cannot open the folder", name);
    if (empty(task, inner) < 0)
        return -1;
    if (unlinkat(fd, name, AT_REMOVEDIR) < 0)
        return task_fail(task, "cannot delete the folder", name);
    return 0;
}

/*
 * Deletes what is in fd, which it closes. Folders below one of the top's folders that are not empty
 * are lifted to the top instead of being entered: so neither depth nor the length of a path has a
 * limit, and two descriptors are enough.
 */
static int empty(struct task *task, int fd)
{
    bool at_top = fd == task->top_fd;
    DIR *folder = fdopendir(fd);
    if (folder == NULL) {
        close(fd);
        return task_fail(task, "cannot read the folder", task->name);
    }
    /* again until nothing is seen: what changes while one reads may be missed */
    bool seen = true;
    int result = 0;
    while (seen && result == 0) {
        seen = false;
        rewinddir(folder);
        const struct dirent *entry;
        while (result == 0 && (entry = readdir(folder)) != NULL) {
            if (is_dots(entry->d_name))
                continue;
            seen = true;
            result = delete_entry(task, fd, at_top, entry->d_name);
        }
    }
    closedir(folder);
    return result;
}

static int task_delete(struct task *task)
{
    task->top_fd =
        openat(task->parent_fd, task->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (task->top_fd < 0 && errno == ENOENT)
        return 0;
    if (task->top_fd < 0)
        return task_fail(task, "cannot open the folder", task->name);
    if (empty(task, task->top_fd) < 0)
        return -1;
    if (unlinkat(task->parent_fd, task->name, AT_REMOVEDIR) < 0)
        return task_fail(task, "cannot delete the folder", task->name);
    return 0;
}

static int make_inside(struct task *task)
{
    int fd = openat(task->parent_fd, task->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return task_fail(task, "cannot open the folder", task->name);
    int result = -1;
    if (make_one(task, fd, "home", 0, 0755) == 0 &&
        make_one(task, fd, "home/user", LAUNCH_IDS_USER, 0755) == 0 &&
        make_one(task, fd, "root", 0, 0700) == 0)
        result = 0;
    close(fd);
    return result;
}

static int task_make(struct task *task)
{
    /* others' ways end here: the sandbox's root goes through it to mount what is inside, once */
    if (make_one(task, task->parent_fd, task->name, 0, 0700) == 0 && make_inside(task) == 0)
        return 0;
    /* nobody can use half a folder; one that was there before is not ours to take away */
    if (!task->existed) {
        struct task undo = *task;
        (void)task_delete(&undo);
    }
    return -1;
}

typedef int (*task_fn)(struct task *task);

/* The child: enters a user namespace, asks for its map, works, says how it went. */
static _Noreturn void child_main(int fd, bool plain, struct task *task, task_fn run)
{
    char byte = 'u';
    /* nothing of the plane's is held open by a long deletion */
    if (launch_fd_raise(&fd) < 0 || launch_fd_raise(&task->parent_fd) < 0 ||
        launch_fd_keep_only((int[]){fd, task->parent_fd}, 2) < 0)
        _exit(1);
    if (!plain && unshare(CLONE_NEWUSER) < 0)
        (void)task_fail(task, "cannot make a user namespace for the folder", task->name);
    else if (!plain && (send(fd, &byte, 1, MSG_NOSIGNAL) != 1 || recv(fd, &byte, 1, 0) != 1))
        _exit(1);
    else if (run(task) == 0)
        _exit(0);
    (void)send(fd, task->why, strlen(task->why), MSG_NOSIGNAL);
    _exit(1);
}

/* One packet as a string; "" at the end of file. Returns its length. */
static size_t receive(int fd, char text[WHY_MAX])
{
    ssize_t n;
    do {
        n = recv(fd, text, WHY_MAX - 1, 0);
    } while (n < 0 && errno == EINTR);
    size_t len = n > 0 ? (size_t)n : 0;
    text[len] = '\0';
    return len;
}

/* Answers the child's one byte. Returns 0, or -1 with the reason in text. */
static int give_map(int fd, pid_t pid, char text[WHY_MAX])
{
    /* a longer packet is the reason why there is no namespace to map */
    if (receive(fd, text) != 1)
        return -1;
    if (launch_ids_write(launch_setup_ids(), LAUNCH_IDS_FOLDER, pid, text, WHY_MAX) < 0)
        return -1;
    return send(fd, "g", 1, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

/* Runs it in a child that has power over the sandbox's ids and the caller's, and over no others. */
static int run_task(int parent_fd, const char *name, task_fn run, char *why, size_t why_size)
{
    bool plain = launch_setup_plain();
    struct task task = {
        .parent_fd = parent_fd,
        .name = name,
        .own = launch_setup_ids()->many && !plain ? 1 : -1,
        .top_fd = -1,
    };
    int pair[2];
    struct launch_child child = LAUNCH_CHILD_NONE;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        snprintf(why, why_size, "socketpair: %s", strerror(errno));
        return -1;
    }
    int forked = launch_child_fork(&child);
    if (forked == 0)
        child_main(pair[1], plain, &task, run);
    int error = errno;
    close(pair[1]);
    int status = -1;
    char text[WHY_MAX];
    if (forked < 0) {
        snprintf(text, sizeof text, "a process for the folder cannot be started: %s",
                 strerror(error));
    } else {
        if (plain || give_map(pair[0], child.pid, text) == 0)
            receive(pair[0], text);
        else
            launch_child_kill(&child);
        status = launch_child_wait(&child);
    }
    close(pair[0]);
    if (status == 0)
        return 0;
    if (text[0] == '\0')
        snprintf(text, sizeof text, "the process for the folder was ended");
    he2b_text_line(why, why_size, text, strlen(text));
    return -1;
}

int launch_make_folder(int parent_fd, const char *name, char *why, size_t why_size)
{
    return run_task(parent_fd, name, task_make, why, why_size);
}

int launch_delete_folder(int parent_fd, const char *name, char *why, size_t why_size)
{
    return run_task(parent_fd, name, task_delete, why, why_size);
}

unsigned launch_base_id(void)
{
    if (launch_setup_plain() || !launch_setup_ids()->many)
        return 0;
    return launch_setup_ids()->uid_base;
}
