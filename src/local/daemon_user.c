#include "local/daemon_user.h"

#include "core/base64.h"
#include "he2b.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static void from_passwd(struct daemon_user *ret, const struct passwd *entry)
{
    snprintf(ret->name, sizeof(ret->name), "%s", entry->pw_name);
    snprintf(ret->home, sizeof(ret->home), "%s", entry->pw_dir);
    ret->uid = entry->pw_uid;
    ret->gid = entry->pw_gid;
}

/* Told by the launcher; inside a sandbox the environment is empty. */
static bool without_isolation(void)
{
    return getenv("E2B_LOCAL_WITHOUT_ISOLATION") != NULL;
}

/* The caller of the daemon, whose home is where it was told. */
static void myself(struct daemon_user *ret)
{
    const struct passwd *entry = getpwuid(geteuid());
    const char *home = getenv("HOME");

    if (entry) {
        from_passwd(ret, entry);
    } else {
        snprintf(ret->name, sizeof(ret->name), "%u", (unsigned)geteuid());
        snprintf(ret->home, sizeof(ret->home), "/");
        ret->uid = geteuid();
        ret->gid = getegid();
    }
    if (home && home[0] == '/')
        snprintf(ret->home, sizeof(ret->home), "%s", home);
}

bool daemon_user_find(struct daemon_user *ret, const char *name)
{
    const struct passwd *entry;

    if (without_isolation() || geteuid() != 0) {
        myself(ret);
        return !name || !name[0] || strcmp(name, ret->name) == 0 || strcmp(name, "user") == 0;
    }
    if (name && name[0]) {
        entry = getpwnam(name);
    } else {
        entry = getpwnam("user");
        if (!entry)
            entry = getpwuid(0);
    }
    if (!entry)
        return false;
    from_passwd(ret, entry);
    return true;
}

/* The name in "Basic base64(name:password)"; false if the header is not of that form. */
static bool name_in(const char *authorization, char *ret_name)
{
    enum {
        /* a name, a colon, and passwords are empty */
        ENCODED_MAX = 400,
    };
    char plain[ENCODED_MAX];
    const char *encoded;
    const char *colon;
    size_t len;

    if (!authorization || strncasecmp(authorization, "Basic ", 6) != 0)
        return false;
    encoded = authorization + 6;
    len = strlen(encoded);
    if (len > ENCODED_MAX - 4 || he2b_base64_decode(plain, &len, encoded, len) != HE2B_OK)
        return false;
    colon = memchr(plain, ':', len);
    if (!colon || (size_t)(colon - plain) >= DAEMON_USER_NAME_MAX)
        return false;
    snprintf(ret_name, DAEMON_USER_NAME_MAX, "%.*s", (int)(colon - plain), plain);
    return true;
}

bool daemon_user_of_header(struct daemon_user *ret, const char *authorization, char *ret_name)
{
    ret_name[0] = '\0';
    if (!name_in(authorization, ret_name))
        return daemon_user_find(ret, NULL);
    return ret_name[0] && daemon_user_find(ret, ret_name);
}

int daemon_user_own(const struct daemon_user *user, int fd, const char *path)
{
    int result = fd >= 0 ? fchown(fd, user->uid, user->gid) : lchown(path, user->uid, user->gid);

    return result == 0 || geteuid() != 0 ? 0 : errno;
}
