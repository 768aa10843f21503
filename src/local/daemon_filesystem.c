/* filesystem.Filesystem (wire C.10). */
#include "he2b.h"
#include "local/daemon.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    /* Entries of one ListDir answer: guards the daemon's memory against a deep depth. */
    LIST_MAX = 100000,
    DEPTH_MAX = 256,
};

static const char *type_name(mode_t mode)
{
    if (S_ISREG(mode))
        return "FILE_TYPE_FILE";
    if (S_ISDIR(mode))
        return "FILE_TYPE_DIRECTORY";
    return S_ISLNK(mode) ? "FILE_TYPE_SYMLINK" : NULL;
}

/* As Go prints a mode: "-rw-r--r--", "drwxr-xr-x", "Lrwxrwxrwx". */
static void permissions(char out[12], mode_t mode)
{
    static const char letters[] = "rwxrwxrwx";
    int i;

    out[0] = S_ISDIR(mode)    ? 'd'
             : S_ISLNK(mode)  ? 'L'
             : S_ISFIFO(mode) ? 'p'
             : S_ISSOCK(mode) ? 'S'
                              : '-';
    for (i = 0; i < 9; i++)
        out[1 + i] = mode & (mode_t)(1 << (8 - i)) ? letters[i] : '-';
    out[10] = '\0';
}

static int add_owner(he2b_json *entry, const struct stat *info)
{
    const struct passwd *user = getpwuid(info->st_uid);
    const struct group *group;
    char number[16];
    int error;

    snprintf(number, sizeof(number), "%u", (unsigned)info->st_uid);
    error = he2b_json_add_string(entry, "owner", user ? user->pw_name : number);
    group = getgrgid(info->st_gid);
    snprintf(number, sizeof(number), "%u", (unsigned)info->st_gid);
    if (!error)
        error = he2b_json_add_string(entry, "group", group ? group->gr_name : number);
    return error;
}

static int add_time(he2b_json *entry, const struct timespec *when)
{
    struct tm parts;
    char text[48];
    size_t n;

    gmtime_r(&when->tv_sec, &parts);
    n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
    if (when->tv_nsec)
        n += (size_t)snprintf(text + n, sizeof(text) - n, ".%09ld", when->tv_nsec);
    snprintf(text + n, sizeof(text) - n, "Z");
    return he2b_json_add_string(entry, "modifiedTime", text);
}

/* The entry of path (which exists as info says); NULL when out of memory. */
static he2b_json *make_entry(const char *path, const struct stat *info)
{
    he2b_json *entry = he2b_json_new_object();
    const char *name = strrchr(path, '/');
    const char *type = type_name(info->st_mode);
    mode_t mode = info->st_mode;
    char target[PATH_MAX];
    char text[32];
    int error;

    if (!entry)
        return NULL;
    name = name && name[1] ? name + 1 : path;
    if (S_ISLNK(mode)) {
        struct stat there;

        if (realpath(path, target) && stat(path, &there) == 0) {
            type = type_name(there.st_mode);
            mode = there.st_mode;
        } else {
            /* a broken link: its own path, no type, no mode (wire H) */
            snprintf(target, sizeof(target), "%s", path);
            type = NULL;
            mode = 0;
        }
    }
    error = he2b_json_add_string(entry, "name", name);
    if (!error && type)
        error = he2b_json_add_string(entry, "type", type);
    if (!error)
        error = he2b_json_add_string(entry, "path", path);
    snprintf(text, sizeof(text), "%lld", (long long)info->st_size);
    if (!error && info->st_size)
        error = he2b_json_add_string(entry, "size", text);
    if (!error && (mode & 0777))
        error = he2b_json_add_int(entry, "mode", mode & 0777);
    permissions(text, info->st_mode);
    if (!error)
        error = he2b_json_add_string(entry, "permissions", text);
    if (!error)
        error = add_owner(entry, info);
    if (!error)
        error = add_time(entry, &info->st_mtim);
    if (!error && S_ISLNK(info->st_mode))
        error = he2b_json_add_string(entry, "symlinkTarget", target);
    if (error) {
        he2b_json_del(entry);
        return NULL;
    }
    return entry;
}

/* The user of the call, or an answer that there is none. */
static bool caller(struct exchange *x, struct daemon_user *user)
{
    char name[64];

    if (daemon_user_of_header(user, exchange_header(x, "authorization"), name, sizeof(name)))
        return true;
    rpc_error(x, "unauthenticated", "invalid username: '%s'", name);
    return false;
}

static bool resolve(struct exchange *x, char *out, const he2b_json *request, const char *key,
                    const struct daemon_user *user)
{
    char why[128];

    if (daemon_path(out, DAEMON_PATH_MAX, he2b_json_get_string(request, key), user, why,
                    sizeof(why)))
        return true;
    rpc_error(x, "invalid_argument", "%s", why);
    return false;
}

static void answer_entry(struct exchange *x, const char *path)
{
    he2b_json *answer;
    struct stat info;

    if (lstat(path, &info) != 0) {
        rpc_error(x, "not_found", "file not found: lstat %s: no such file or directory", path);
        return;
    }
    answer = he2b_json_new_object();
    if (answer && he2b_json_add(answer, "entry", make_entry(path, &info)) != HE2B_OK) {
        he2b_json_del(answer);
        answer = NULL;
    }
    rpc_answer(x, answer);
}

void filesystem_stat(struct exchange *x, const he2b_json *request)
{
    struct daemon_user user;
    char path[DAEMON_PATH_MAX];

    if (caller(x, &user) && resolve(x, path, request, "path", &user))
        answer_entry(x, path);
}

void filesystem_make_dir(struct exchange *x, const he2b_json *request)
{
    struct daemon_user user;
    char path[DAEMON_PATH_MAX];
    struct stat info;
    int error;

    if (!caller(x, &user) || !resolve(x, path, request, "path", &user))
        return;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            rpc_error(x, "already_exists", "directory already exists: %s", path);
        else
            rpc_error(x, "invalid_argument", "path already exists but it is not a directory: %s",
                      path);
        return;
    }
    error = daemon_make_parents(path, &user);
    if (!error && mkdir(path, 0755) != 0)
        error = errno;
    if (!error && chown(path, user.uid, user.gid) != 0 && errno != EPERM)
        error = errno;
    if (error)
        rpc_error(x, "internal", "error creating directory: mkdir %s: %s", path, strerror(error));
    else
        answer_entry(x, path);
}

void filesystem_move(struct exchange *x, const he2b_json *request)
{
    struct daemon_user user;
    char from[DAEMON_PATH_MAX];
    char to[DAEMON_PATH_MAX];
    int error;

    if (!caller(x, &user) || !resolve(x, from, request, "source", &user) ||
        !resolve(x, to, request, "destination", &user))
        return;
    error = daemon_make_parents(to, &user);
    if (!error && rename(from, to) != 0)
        error = errno;
    if (error == ENOENT)
        rpc_error(x, "not_found", "source file not found: rename %s %s: no such file or directory",
                  from, to);
    else if (error)
        rpc_error(x, "internal", "error renaming: rename %s %s: %s", from, to, strerror(error));
    else
        answer_entry(x, to);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

void filesystem_remove(struct exchange *x, const he2b_json *request)
{
    struct daemon_user user;
    char path[DAEMON_PATH_MAX];

    if (!caller(x, &user) || !resolve(x, path, request, "path", &user))
        return;
    if (nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
        rpc_error(x, "internal", "error removing file or directory: %s: %s", path, strerror(errno));
    else
        rpc_answer(x, he2b_json_new_object());
}

/* ---- ListDir ---- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int not_dots(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* What vanishes meanwhile is left out. */
static void list(he2b_json *entries, const char *path, int depth)
{
    struct dirent **found = NULL;
    int count = scandir(path, &found, not_dots, by_name);
    int i;

    for (i = 0; i < count; i++) {
        char child[DAEMON_PATH_MAX];
        struct stat info;
        int n = snprintf(child, sizeof(child), "%s/%s", strcmp(path, "/") == 0 ? "" : path,
                         found[i]->d_name);

        free(found[i]);
        if (n < 0 || (size_t)n >= sizeof(child) || lstat(child, &info) != 0 ||
            he2b_json_array_size(entries) > LIST_MAX)
            continue;
        (void)he2b_json_append(entries, make_entry(child, &info));
        if (S_ISDIR(info.st_mode) && depth > 1)
            list(entries, child, depth - 1);
    }
    free(found);
}

void filesystem_list_dir(struct exchange *x, const he2b_json *request)
{
    struct daemon_user user;
    char path[DAEMON_PATH_MAX];
    he2b_json *answer;
    he2b_json *entries;
    struct stat info;
    int64_t depth = 1;

    if (!caller(x, &user) || !resolve(x, path, request, "path", &user))
        return;
    (void)he2b_json_int(he2b_json_get(request, "depth"), &depth);
    if (depth < 1)
        depth = 1;
    if (depth > DEPTH_MAX)
        depth = DEPTH_MAX;
    if (stat(path, &info) != 0) {
        rpc_error(x, "not_found", "directory not found: lstat %s: no such file or directory", path);
        return;
    }
    if (!S_ISDIR(info.st_mode)) {
        rpc_error(x, "invalid_argument", "path is not a directory: %s", path);
        return;
    }
    answer = he2b_json_new_object();
    entries = he2b_json_new_array();
    if (answer && entries) {
        list(entries, path, (int)depth);
        if (he2b_json_array_size(entries) > LIST_MAX) {
            he2b_json_del(answer);
            he2b_json_del(entries);
            rpc_error(x, "resource_exhausted", "%s has more than %d entries: ask for less depth",
                      path, LIST_MAX);
            return;
        }
        if (he2b_json_array_size(entries) > 0) {
            (void)he2b_json_add(answer, "entries", entries);
            entries = NULL;
        }
    }
    he2b_json_del(entries);
    rpc_answer(x, answer);
}
