#include "local/launch_memory.h"

#include "local/launch_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define CGROUP_ROOT "/sys/fs/cgroup"
#define HOW_TO                                                                                     \
    "so the memory of a sandbox has no limit; to have one, start e2b-local under \"systemd-run "   \
    "--user --scope -p Delegate=yes\""

enum {
    TEXT_MAX = 4096,
    FOLDER_MAX = PATH_MAX + 128,
    FILE_MAX = FOLDER_MAX + 64
};

/* The cgroup that holds the sandboxes'; "" until this process has moved to its "plane". */
static char base_path[PATH_MAX];

static int read_text(char ret[TEXT_MAX], const char *folder, const char *file)
{
    char path[FILE_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n;
    do {
        n = read(fd, ret, TEXT_MAX - 1);
    } while (n < 0 && errno == EINTR);
    close(fd);
    if (n < 0)
        return -1;
    ret[n] = '\0';
    return 0;
}

static int write_text(const char *folder, const char *file, const char *text)
{
    char path[FILE_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return launch_fd_write_file(path, text);
}

/* The line "0::/a/b" of /proc/self/cgroup is the place in the version 2 hierarchy. */
static int find_own(char ret[PATH_MAX])
{
    char text[TEXT_MAX];
    if (read_text(text, "/proc/self", "cgroup") < 0)
        return -1;
    char *line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (line == NULL)
        return -1;
    line = strstr(line, "0::") + 3;
    line[strcspn(line, "\n")] = '\0';
    int n = snprintf(ret, PATH_MAX, "%s%s", CGROUP_ROOT, strcmp(line, "/") == 0 ? "" : line);
    return n > 0 && n < PATH_MAX - NAME_MAX ? 0 : -1;
}

static bool has_word(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += len) {
        if ((at == text || at[-1] == ' ') && strchr(" \n", at[len]) != NULL)
            return true;
    }
    return false;
}

static bool only_self_in(const char *folder)
{
    char text[TEXT_MAX];
    if (read_text(text, folder, "cgroup.procs") < 0)
        return false;
    char *end;
    long pid = strtol(text, &end, 10);
    return pid == (long)getpid() && strcmp(end, "\n") == 0;
}

bool launch_memory_can(char *why, size_t why_size)
{
    struct statfs fs;
    char own[PATH_MAX];
    char text[TEXT_MAX];
    if (statfs(CGROUP_ROOT, &fs) < 0 || (unsigned long)fs.f_type != CGROUP2_SUPER_MAGIC ||
        find_own(own) < 0) {
        snprintf(why, why_size,
                 "this system has no cgroups of version 2 at %s, so the memory of a sandbox has no "
                 "limit; on a system with systemd they are the default since 2021",
                 CGROUP_ROOT);
        return false;
    }
    if (base_path[0] != '\0')
        return true;
    if (read_text(text, own, "cgroup.controllers") < 0 || !has_word(text, "memory")) {
        snprintf(why, why_size, "the memory controller is not given to this cgroup, %s", HOW_TO);
        return false;
    }
    char control[FILE_MAX];
    snprintf(control, sizeof control, "%s/cgroup.subtree_control", own);
    if (access(own, W_OK) < 0 || access(control, W_OK) < 0 || !only_self_in(own)) {
        snprintf(why, why_size, "e2b-local has no cgroup of its own to divide, %s", HOW_TO);
        return false;
    }
    return true;
}

static int divide(char *why, size_t why_size)
{
    if (base_path[0] != '\0')
        return 0;
    char own[PATH_MAX];
    char plane[PATH_MAX + 64];
    const char *step = "find the own cgroup";
    if (find_own(own) < 0)
        goto fail;
    snprintf(plane, sizeof plane, "%s/plane", own);
    step = "make the cgroup \"plane\"";
    if (mkdir(plane, 0755) < 0 && errno != EEXIST)
        goto fail;
    step = "move into the cgroup \"plane\"";
    if (write_text(plane, "cgroup.procs", "0") < 0)
        goto fail;
    step = "enable the memory controller";
    if (write_text(own, "cgroup.subtree_control", "+memory") < 0)
        goto fail;
    snprintf(base_path, sizeof base_path, "%s", own);
    return 0;
fail:
    snprintf(why, why_size, "the memory limit cannot be set: cannot %s: %s", step, strerror(errno));
    return -1;
}

static void sandbox_path(char ret[FOLDER_MAX], const char *sandbox_id)
{
    snprintf(ret, FOLDER_MAX, "%s/sandbox-%.64s", base_path, sandbox_id);
}

int launch_memory_make(int *ret_procs_fd, const char *sandbox_id, unsigned long long bytes,
                       char *why, size_t why_size)
{
    if (divide(why, why_size) < 0)
        return -1;
    char folder[FOLDER_MAX];
    char path[FILE_MAX];
    char text[32];
    sandbox_path(folder, sandbox_id);
    snprintf(text, sizeof text, "%llu", bytes);
    if (mkdir(folder, 0755) < 0 && errno != EEXIST)
        goto fail;
    if (write_text(folder, "memory.max", text) < 0)
        goto fail;
    /* else the limit is passed by the size of swap; a kernel without swap accounting has no file */
    if (write_text(folder, "memory.swap.max", "0") < 0 && errno != ENOENT)
        goto fail;
    snprintf(path, sizeof path, "%s/cgroup.procs", folder);
    *ret_procs_fd = open(path, O_WRONLY | O_CLOEXEC);
    if (*ret_procs_fd < 0)
        goto fail;
    return 0;
fail:
    snprintf(why, why_size, "the memory limit cannot be set: %s: %s", folder, strerror(errno));
    launch_memory_remove(sandbox_id);
    return -1;
}

void launch_memory_remove(const char *sandbox_id)
{
    if (base_path[0] == '\0')
        return;
    char folder[FOLDER_MAX];
    sandbox_path(folder, sandbox_id);
    (void)rmdir(folder);
}
