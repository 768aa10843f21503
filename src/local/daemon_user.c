#include "core/base64.h"
#include "he2b.h"
#include "local/daemon.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void from_passwd(struct daemon_user *ret, const struct passwd *entry)
{
    snprintf(ret->name, sizeof(ret->name), "%s", entry->pw_name);
    snprintf(ret->home, sizeof(ret->home), "%s", entry->pw_dir);
    ret->uid = entry->pw_uid;
    ret->gid = entry->pw_gid;
}

/* Without isolation the daemon is just its caller, whose home is where it was told. */
static bool only_myself(struct daemon_user *ret)
{
    const struct passwd *entry = getpwuid(geteuid());
    const char *home = getenv("HOME");

    if (!entry)
        return false;
    from_passwd(ret, entry);
    if (home && home[0] == '/')
        snprintf(ret->home, sizeof(ret->home), "%s", home);
    return true;
}

/* Told by the launcher; inside a sandbox the environment is empty. */
static bool without_isolation(void)
{
    return getenv("E2B_LOCAL_WITHOUT_ISOLATION") != NULL;
}

bool daemon_user_find(struct daemon_user *ret, const char *name)
{
    const struct passwd *entry;
    struct daemon_user me;

    if (without_isolation() || geteuid() != 0) {
        if (!only_myself(&me) ||
            (name && name[0] && strcmp(name, me.name) != 0 && strcmp(name, "user") != 0))
            return false;
        *ret = me;
        return true;
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

bool daemon_user_of_header(struct daemon_user *ret, const char *authorization, char *ret_name,
                           size_t size)
{
    char plain[256];
    size_t len;
    char *colon;

    ret_name[0] = '\0';
    if (!authorization)
        return daemon_user_find(ret, NULL);
    if (strncmp(authorization, "Basic ", 6) != 0 || strlen(authorization) > 300)
        return false;
    len = strlen(authorization + 6);
    if (len / 4 * 3 + 3 >= sizeof(plain) ||
        he2b_base64_decode(plain, &len, authorization + 6, len) != HE2B_OK)
        return false;
    plain[len] = '\0';
    colon = strchr(plain, ':');
    if (colon)
        *colon = '\0';
    snprintf(ret_name, size, "%s", plain);
    return daemon_user_find(ret, plain);
}
