/*
 * Who a request acts as (wire C.6).
 */
#ifndef HE2B_LOCAL_DAEMON_USER_H
#define HE2B_LOCAL_DAEMON_USER_H

#include "local/daemon.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
    DAEMON_USER_NAME_MAX = 256, /* LOGIN_NAME_MAX */
};

struct daemon_user {
    char name[DAEMON_USER_NAME_MAX];
    char home[DAEMON_PATH_MAX];
    uid_t uid;
    gid_t gid;
};

/*
 * name NULL or "": the default user, which is "user" where there is one, else root. False if there
 * is no such user, or this daemon cannot become it: one that is not root is only itself.
 */
bool daemon_user_find(struct daemon_user *ret, const char *name);

/*
 * The user whom "Basic ..." names; without such a header the default one. ret_name
 * (DAEMON_USER_NAME_MAX) gets the name for a message. False if there is no such user.
 */
bool daemon_user_of_header(struct daemon_user *ret, const char *authorization, char *ret_name);

/* Makes what was just made the user's: fd, or path if fd is negative (links are not followed). 0 or
 * an errno; a daemon that cannot give things away leaves them its own, which is the same user. */
int daemon_user_own(const struct daemon_user *user, int fd, const char *path);

#endif
