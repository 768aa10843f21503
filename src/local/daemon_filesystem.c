#include "local/daemon_filesystem.h"

#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_entry.h"
#include "local/daemon_exchange.h"
#include "local/daemon_path.h"
#include "local/daemon_rpc.h"
#include "local/daemon_user.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool filesystem_path(struct exchange *x, char *out, struct daemon_user *user,
                     const he2b_json *request, const char *key)
{
    char name[DAEMON_USER_NAME_MAX];
    const char *wrong;

    if (!daemon_user_of_header(user, exchange_header(x, "authorization"), name)) {
        rpc_error(x, "unauthenticated", "invalid username: '%s'", name);
        return false;
    }
    wrong = daemon_path(out, he2b_json_get_string(request, key), user);
    if (wrong)
        rpc_error(x, "invalid_argument", "%s", wrong);
    return !wrong;
}

static void answer_entry(struct exchange *x, const char *path)
{
    he2b_json *answer;
    struct stat info;

    if (lstat(path, &info) != 0) {
        rpc_error(x, errno == ENOENT ? "not_found" : "internal", "file not found: lstat %s: %s",
                  path, strerror(errno));
        return;
    }
    answer = he2b_json_new_object();
    if (answer && he2b_json_add(answer, "entry", daemon_entry(path, &info)) != HE2B_OK) {
        he2b_json_del(answer);
        answer = NULL;
    }
    rpc_answer(x, answer);
}

void filesystem_stat(struct exchange *x, const he2b_json *request)
{
    struct daemon_user user;
    char path[DAEMON_PATH_MAX];

    if (filesystem_path(x, path, &user, request, "path"))
        answer_entry(x, path);
}

void filesystem_make_dir(struct exchange *x, const he2b_json *request)
{
    struct daemon_user user;
    char path[DAEMON_PATH_MAX];
    struct stat info;
    int error;

    if (!filesystem_path(x, path, &user, request, "path"))
        return;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            rpc_error(x, "already_exists", "directory already exists: %s", path);
        else
            rpc_error(x, "invalid_argument", "path already exists but it is not a directory: %s",
                      path);
        return;
    }
    error = daemon_path_make(path, true, &user);
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

    if (!filesystem_path(x, from, &user, request, "source") ||
        !filesystem_path(x, to, &user, request, "destination"))
        return;
    error = daemon_path_make(to, false, &user);
    if (!error && rename(from, to) != 0)
        error = errno;
    if (error == ENOENT)
        rpc_error(x, "not_found", "source file not found: rename %s %s: %s", from, to,
                  strerror(error));
    else if (error)
        rpc_error(x, "internal", "error renaming: rename %s %s: %s", from, to, strerror(error));
    else
        answer_entry(x, to);
}
