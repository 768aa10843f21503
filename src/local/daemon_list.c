/* ListDir (wire C.10). */
#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_entry.h"
#include "local/daemon_exchange.h"
#include "local/daemon_filesystem.h"
#include "local/daemon_job.h"
#include "local/daemon_rpc.h"
#include "local/daemon_user.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    /* Entries of one answer, some 300 bytes each: guards the memory, and fits DAEMON_MESSAGE_MAX.
     */
    ENTRIES_MAX = 100000,
    /* Deeper ones have paths that are too long. */
    DEPTH_MAX = DAEMON_PATH_MAX / 2,
};

struct listing {
    char path[DAEMON_PATH_MAX];
    int depth;
};

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int no_dots(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* One path for the whole walk, so that depth costs little of the stack. */
struct walk {
    he2b_json *entries;
    char path[DAEMON_PATH_MAX];
};

static int list(struct walk *walk, int depth);

/* One name in walk->path; what has vanished meanwhile is left out. */
static int list_one(struct walk *walk, const char *name, int depth)
{
    size_t len = strlen(walk->path);
    const char *slash = len && walk->path[len - 1] == '/' ? "" : "/";
    struct stat info;
    int error = HE2B_OK;
    int n = snprintf(walk->path + len, sizeof(walk->path) - len, "%s%s", slash, name);

    if (n < 0 || (size_t)n >= sizeof(walk->path) - len || lstat(walk->path, &info) != 0)
        goto out;
    error = HE2B_ERR_OVERFLOW;
    if (he2b_json_array_size(walk->entries) >= ENTRIES_MAX)
        goto out;
    error = he2b_json_append(walk->entries, daemon_entry(walk->path, &info));
    if (!error && depth > 1 && S_ISDIR(info.st_mode))
        error = list(walk, depth - 1);
out:
    walk->path[len] = '\0';
    return error;
}

static int list(struct walk *walk, int depth)
{
    struct dirent **found = NULL;
    int count = scandir(walk->path, &found, no_dots, by_name);
    int error = HE2B_OK;
    int i;

    for (i = 0; i < count; i++) {
        if (!error)
            error = list_one(walk, found[i]->d_name, depth);
        free(found[i]);
    }
    free(found);
    return error;
}

static void list_tree(struct job_result *ret, const void *arg)
{
    const struct listing *listing = arg;
    he2b_json *answer = he2b_json_new_object();
    struct walk walk = {.entries = he2b_json_new_array()};
    int error = HE2B_ERR_NOMEM;

    snprintf(walk.path, sizeof(walk.path), "%s", listing->path);
    if (answer && walk.entries)
        error = list(&walk, listing->depth);
    if (!error && he2b_json_array_size(walk.entries) > 0)
        error = he2b_json_add(answer, "entries", walk.entries);
    if (!error) {
        ret->message = answer;
        return;
    }
    ret->code = "resource_exhausted";
    snprintf(ret->why, sizeof(ret->why), "%s has more than %d entries: ask for less depth",
             listing->path, ENTRIES_MAX);
}

void filesystem_list_dir(struct exchange *x, const he2b_json *request)
{
    struct listing listing;
    struct daemon_user user;
    struct stat info;
    int64_t depth = 1;

    if (!filesystem_path(x, listing.path, &user, request, "path"))
        return;
    (void)he2b_json_int(he2b_json_get(request, "depth"), &depth);
    listing.depth = depth < 1 ? 1 : depth > DEPTH_MAX ? DEPTH_MAX : (int)depth;
    if (stat(listing.path, &info) != 0)
        rpc_error(x, errno == ENOENT ? "not_found" : "internal",
                  "directory not found: lstat %s: %s", listing.path, strerror(errno));
    else if (!S_ISDIR(info.st_mode))
        rpc_error(x, "invalid_argument", "path is not a directory: %s", listing.path);
    else
        job_run(x, list_tree, &listing);
}
