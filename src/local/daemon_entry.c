#include "local/daemon_entry.h"

#include "core/text.h"
#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_metadata.h"
#include "local/daemon_path.h"

#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static int add_text(he2b_json *entry, const char *key, const char *text, size_t len)
{
    char clean[3 * DAEMON_PATH_MAX + 1];

    he2b_text_utf8(clean, sizeof(clean), text, len);
    return he2b_json_add_string(entry, key, clean);
}

static const char *type_name(mode_t mode)
{
    if (S_ISREG(mode))
        return "FILE_TYPE_FILE";
    if (S_ISDIR(mode))
        return "FILE_TYPE_DIRECTORY";
    return S_ISLNK(mode) ? "FILE_TYPE_SYMLINK" : NULL;
}

/* As Go prints a mode: "-rw-r--r--", "dtrwxrwxrwx", "Lrwxrwxrwx". */
static void permissions(char out[20], mode_t mode)
{
    static const char letters[] = "rwxrwxrwx";
    size_t n = 0;
    int i;

    if (S_ISDIR(mode))
        out[n++] = 'd';
    if (S_ISLNK(mode))
        out[n++] = 'L';
    if (S_ISBLK(mode) || S_ISCHR(mode))
        out[n++] = 'D';
    if (S_ISFIFO(mode))
        out[n++] = 'p';
    if (S_ISSOCK(mode))
        out[n++] = 'S';
    if (mode & S_ISUID)
        out[n++] = 'u';
    if (mode & S_ISGID)
        out[n++] = 'g';
    if (S_ISCHR(mode))
        out[n++] = 'c';
    if (mode & S_ISVTX)
        out[n++] = 't';
    if (n == 0)
        out[n++] = '-';
    for (i = 0; i < 9; i++)
        out[n++] = mode & (mode_t)(1 << (8 - i)) ? letters[i] : '-';
    out[n] = '\0';
}

/* The last answer is kept: a listing asks for the same again and again. */
static const char *user_name(uid_t uid)
{
    static char name[64];
    static uid_t last;
    const struct passwd *entry;

    if (name[0] && last == uid)
        return name;
    entry = getpwuid(uid);
    if (entry)
        snprintf(name, sizeof(name), "%s", entry->pw_name);
    else
        snprintf(name, sizeof(name), "%u", (unsigned)uid);
    last = uid;
    return name;
}

static const char *group_name(gid_t gid)
{
    static char name[64];
    static gid_t last;
    const struct group *entry;

    if (name[0] && last == gid)
        return name;
    entry = getgrgid(gid);
    if (entry)
        snprintf(name, sizeof(name), "%s", entry->gr_name);
    else
        snprintf(name, sizeof(name), "%u", (unsigned)gid);
    last = gid;
    return name;
}

/* 0, 3, 6 or 9 digits of a fraction (wire C.7). */
static int add_time(he2b_json *entry, const struct timespec *when)
{
    struct tm parts;
    char text[64];
    size_t n;

    gmtime_r(&when->tv_sec, &parts);
    n = strftime(text, sizeof(text) - 16, "%Y-%m-%dT%H:%M:%S", &parts);
    if (when->tv_nsec)
        n += (size_t)snprintf(text + n, sizeof(text) - n, ".%09ld", when->tv_nsec);
    while (when->tv_nsec && strcmp(text + n - 3, "000") == 0) {
        n -= 3;
        text[n] = '\0';
    }
    snprintf(text + n, sizeof(text) - n, "Z");
    return he2b_json_add_string(entry, "modifiedTime", text);
}

/* Where a link leads: type and mode of that, and the path. A broken one has its own path, and
 * neither type nor mode (wire H). */
static int add_target(he2b_json *entry, const char *path, const char **type, mode_t *mode)
{
    char target[PATH_MAX];
    struct stat there;

    if (realpath(path, target) && stat(path, &there) == 0) {
        *type = type_name(there.st_mode);
        *mode = there.st_mode;
    } else {
        snprintf(target, sizeof(target), "%s", path);
        *type = NULL;
        *mode = 0;
    }
    return add_text(entry, "symlinkTarget", target, strlen(target));
}

/* Zero values are left out (wire C.7). */
static int add_size(he2b_json *entry, off_t size)
{
    char text[32];

    if (size == 0)
        return HE2B_OK;
    snprintf(text, sizeof(text), "%lld", (long long)size);
    return he2b_json_add_string(entry, "size", text);
}

static int add_metadata(he2b_json *entry, const char *path, mode_t mode)
{
    he2b_json *metadata = S_ISREG(mode) ? metadata_read(path) : NULL;

    return metadata ? he2b_json_add(entry, "metadata", metadata) : HE2B_OK;
}

he2b_json *daemon_entry(const char *path, const struct stat *info)
{
    he2b_json *entry = he2b_json_new_object();
    const char *name = daemon_path_name(path);
    const char *type = type_name(info->st_mode);
    mode_t mode = info->st_mode;
    char text[20];
    size_t len = strcspn(name, "/");
    int error;

    if (!entry)
        return NULL;
    permissions(text, info->st_mode);
    error = add_text(entry, "name", name, len ? len : 1);
    if (!error)
        error = add_text(entry, "path", path, strlen(path));
    if (!error && S_ISLNK(info->st_mode))
        error = add_target(entry, path, &type, &mode);
    if (!error && type)
        error = he2b_json_add_string(entry, "type", type);
    if (!error)
        error = add_size(entry, info->st_size);
    if (!error && (mode & 0777))
        error = he2b_json_add_int(entry, "mode", mode & 0777);
    if (!error)
        error = he2b_json_add_string(entry, "permissions", text);
    if (!error)
        error = he2b_json_add_string(entry, "owner", user_name(info->st_uid));
    if (!error)
        error = he2b_json_add_string(entry, "group", group_name(info->st_gid));
    if (!error)
        error = add_time(entry, &info->st_mtim);
    if (!error)
        error = add_metadata(entry, path, info->st_mode);
    if (error) {
        he2b_json_del(entry);
        return NULL;
    }
    return entry;
}
