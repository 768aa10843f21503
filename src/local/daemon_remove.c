/* Remove: a whole tree, links themselves, what is missing is removed (wire C.10). */
#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_exchange.h"
#include "local/daemon_filesystem.h"
#include "local/daemon_job.h"
#include "local/daemon_rpc.h"
#include "local/daemon_user.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* Directories that are open at a time. */
    OPEN_MAX_TREE = 64,
};

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

static void remove_tree(struct job_result *ret, const void *arg)
{
    const char *path = arg;

    if (nftw(path, remove_one, OPEN_MAX_TREE, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT) {
        ret->message = he2b_json_new_object();
        return;
    }
    ret->code = "internal";
    snprintf(ret->why, sizeof(ret->why), "error removing file or directory: %s: %s", path,
             strerror(errno));
}

void filesystem_remove(struct exchange *x, const he2b_json *request)
{
    struct daemon_user user;
    char path[DAEMON_PATH_MAX];
    struct stat info;

    if (!filesystem_path(x, path, &user, request, "path"))
        return;
    if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode))
        job_run(x, remove_tree, path);
    else if (unlink(path) == 0 || errno == ENOENT)
        rpc_answer(x, he2b_json_new_object());
    else
        rpc_error(x, "internal", "error removing file or directory: unlink %s: %s", path,
                  strerror(errno));
}
