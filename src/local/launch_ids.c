#include "local/launch_ids.h"

#include "local/launch_child.h"
#include "local/launch_fd.h"
#include "local/launch_programs.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    /* A line of /etc/subuid; longer ones belong to nobody who could log in. */
    LINE_MAX_SIZE = 512,
    ARG_SIZE = 24,
};

/* True if the caller's user namespace has the ids first to first + LAUNCH_IDS_COUNT - 1. */
static bool has_range(const char *map_path, unsigned long first)
{
    FILE *file = fopen(map_path, "re");
    if (file == NULL)
        return false;
    bool found = false;
    char line[LINE_MAX_SIZE];
    while (!found && fgets(line, sizeof line, file) != NULL) {
        char *at = line;
        unsigned long inside = strtoul(at, &at, 10);
        strtoul(at, &at, 10);
        unsigned long count = strtoul(at, &at, 10);
        found = inside <= first && first + LAUNCH_IDS_COUNT <= inside + count;
    }
    fclose(file);
    return found;
}

/*
 * The highest LAUNCH_IDS_COUNT ids that the caller's namespace has (it may itself be a
 * container's), none of them below LAUNCH_IDS_COUNT: those are people's and services'.
 */
static bool highest_range(const char *map_path, unsigned *ret)
{
    if (has_range(map_path, LAUNCH_IDS_ROOT_BASE)) {
        *ret = LAUNCH_IDS_ROOT_BASE;
        return true;
    }
    FILE *file = fopen(map_path, "re");
    if (file == NULL)
        return false;
    unsigned long best = 0;
    char line[LINE_MAX_SIZE];
    while (fgets(line, sizeof line, file) != NULL) {
        char *at = line;
        unsigned long inside = strtoul(at, &at, 10);
        strtoul(at, &at, 10);
        unsigned long count = strtoul(at, &at, 10);
        if (count >= LAUNCH_IDS_COUNT && inside + count - LAUNCH_IDS_COUNT > best)
            best = inside + count - LAUNCH_IDS_COUNT;
    }
    fclose(file);
    if (best < LAUNCH_IDS_COUNT || best > UINT_MAX - LAUNCH_IDS_COUNT)
        return false;
    *ret = (unsigned)best;
    return true;
}

/* The first range of at least LAUNCH_IDS_COUNT that the file gives to the user, by name or number.
 */
static bool find_sub(const char *path, const char *name, unsigned *ret)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    char number[ARG_SIZE];
    snprintf(number, sizeof number, "%u", (unsigned)getuid());
    bool found = false;
    char line[LINE_MAX_SIZE];
    while (!found && fgets(line, sizeof line, file) != NULL) {
        char *start = strchr(line, ':');
        if (start == NULL)
            continue;
        *start++ = '\0';
        if (strcmp(line, number) != 0 && (name == NULL || strcmp(line, name) != 0))
            continue;
        char *end;
        unsigned long base = strtoul(start, &end, 10);
        if (*end != ':')
            continue;
        unsigned long count = strtoul(end + 1, NULL, 10);
        if (base == 0 || base > UINT_MAX - LAUNCH_IDS_COUNT || count < LAUNCH_IDS_COUNT)
            continue;
        *ret = (unsigned)base;
        found = true;
    }
    fclose(file);
    return found;
}

void launch_ids_single(struct launch_ids *ids, const char *why)
{
    ids->many = false;
    ids->uid_base = 0;
    ids->gid_base = 0;
    if (why != ids->why)
        snprintf(ids->why, sizeof ids->why, "%s", why);
}

static void find_privileged(struct launch_ids *ids)
{
    if (highest_range("/proc/self/uid_map", &ids->uid_base) &&
        highest_range("/proc/self/gid_map", &ids->gid_base)) {
        ids->many = true;
        return;
    }
    launch_ids_single(ids, "there are no 65536 spare ids in this container's user namespace, so "
                           "commands run as \"user\" only, never as root; give the container "
                           "more ids to have both");
}

static void find_user(struct launch_ids *ids)
{
    const struct passwd *entry = getpwuid(getuid());
    const char *name = entry == NULL ? NULL : entry->pw_name;
    char shown[64];
    if (name == NULL)
        snprintf(shown, sizeof shown, "%u", (unsigned)getuid());
    else
        snprintf(shown, sizeof shown, "%s", name);
    if (launch_programs_find(ids->newuidmap, "newuidmap") < 0 ||
        launch_programs_find(ids->newgidmap, "newgidmap") < 0) {
        launch_ids_single(ids, "newuidmap and newgidmap are not installed, so commands run as "
                               "\"user\" only, never as root; install the package uidmap "
                               "(shadow-utils on Fedora) to have both");
        return;
    }
    if (find_sub("/etc/subuid", name, &ids->uid_base) &&
        find_sub("/etc/subgid", name, &ids->gid_base)) {
        ids->many = true;
        return;
    }
    snprintf(ids->why, sizeof ids->why,
             "/etc/subuid and /etc/subgid give no 65536 ids to %s, so commands run as \"user\" "
             "only, never as root; to have both: sudo usermod --add-subuids "
             "600000-665535 --add-subgids 600000-665535 %s",
             shown, shown);
    launch_ids_single(ids, ids->why);
}

void launch_ids_find(struct launch_ids *ret)
{
    *ret = (struct launch_ids){.privileged = geteuid() == 0};
    if (ret->privileged)
        find_privileged(ret);
    else
        find_user(ret);
}

struct extent {
    unsigned inside;
    unsigned outside;
    unsigned count;
};

static size_t extents(struct extent ret[2], enum launch_ids_map map, bool many, unsigned own,
                      unsigned base)
{
    if (!many) {
        ret[0] = (struct extent){0, own, 1};
        return 1;
    }
    if (map == LAUNCH_IDS_SANDBOX) {
        ret[0] = (struct extent){0, base, LAUNCH_IDS_COUNT};
        return 1;
    }
    ret[0] = (struct extent){0, own, 1};
    ret[1] = (struct extent){1, base, LAUNCH_IDS_COUNT};
    return 2;
}

static int write_direct(pid_t pid, const char *file, const struct extent *list, size_t n)
{
    char path[64];
    char text[128];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    size_t len = 0;
    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%u %u %u\n", list[i].inside,
                                list[i].outside, list[i].count);
    return launch_fd_write_file(path, text);
}

static int write_by_program(char *program, pid_t pid, const struct extent *list, size_t n)
{
    char numbers[7][ARG_SIZE];
    char *argv[9] = {program};
    size_t used = 0;
    snprintf(numbers[used++], ARG_SIZE, "%d", (int)pid);
    for (size_t i = 0; i < n; i++) {
        snprintf(numbers[used++], ARG_SIZE, "%u", list[i].inside);
        snprintf(numbers[used++], ARG_SIZE, "%u", list[i].outside);
        snprintf(numbers[used++], ARG_SIZE, "%u", list[i].count);
    }
    for (size_t i = 0; i < used; i++)
        argv[i + 1] = numbers[i];
    argv[used + 1] = NULL;
    int status = launch_child_run(program, argv);
    if (status != 0 && status != -1)
        errno = EPERM;
    return status == 0 ? 0 : -1;
}

int launch_ids_write(const struct launch_ids *ids, enum launch_ids_map map, pid_t pid, char *why,
                     size_t why_size)
{
    struct extent uids[2];
    struct extent gids[2];
    size_t n = extents(uids, map, ids->many, (unsigned)geteuid(), ids->uid_base);
    extents(gids, map, ids->many, (unsigned)getegid(), ids->gid_base);
    const char *what;
    if (ids->many && !ids->privileged) {
        char program[PATH_MAX];
        snprintf(program, sizeof program, "%s", ids->newuidmap);
        what = "newuidmap";
        if (write_by_program(program, pid, uids, n) < 0)
            goto fail;
        snprintf(program, sizeof program, "%s", ids->newgidmap);
        what = "newgidmap";
        if (write_by_program(program, pid, gids, n) < 0)
            goto fail;
        return 0;
    }
    if (!ids->privileged) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/setgroups", (int)pid);
        what = "setgroups";
        if (launch_fd_write_file(path, "deny") < 0)
            goto fail;
    }
    what = "uid_map";
    if (write_direct(pid, "uid_map", uids, n) < 0)
        goto fail;
    what = "gid_map";
    if (write_direct(pid, "gid_map", gids, n) < 0)
        goto fail;
    return 0;
fail:
    snprintf(why, why_size, "the ids of a new user namespace cannot be set (%s: %s)", what,
             strerror(errno));
    return -1;
}
