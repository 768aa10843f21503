#include "local/daemon_files.h"

#include "core/text.h"
#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_exchange.h"
#include "local/daemon_path.h"
#include "local/daemon_user.h"

#include <string.h>

bool files_user(struct exchange *x, struct daemon_user *ret, const char *name)
{
    if (daemon_user_find(ret, name))
        return true;
    exchange_error(x, 401, "error looking up user '%s': user: unknown user %s", name, name);
    return false;
}

bool files_path(struct exchange *x, char *out, struct daemon_user *user)
{
    char name[DAEMON_USER_NAME_MAX];
    char raw[DAEMON_PATH_MAX];
    const char *wrong;

    (void)exchange_query(x, "username", name, sizeof(name));
    if (!files_user(x, user, name))
        return false;
    (void)exchange_query(x, "path", raw, sizeof(raw));
    wrong = daemon_path(out, raw, user);
    if (wrong)
        exchange_error(x, 400, "error resolving path '%s': %s", raw, wrong);
    return !wrong;
}

he2b_json *files_entry(const char *path, const he2b_json *metadata)
{
    char clean[3 * DAEMON_PATH_MAX + 1];
    he2b_json *entry = he2b_json_new_object();
    const char *name;

    he2b_text_utf8(clean, sizeof(clean), path, strlen(path));
    name = strrchr(clean, '/');
    if (entry && he2b_json_add_string(entry, "name", name ? name + 1 : clean) == HE2B_OK &&
        he2b_json_add_string(entry, "path", clean) == HE2B_OK &&
        he2b_json_add_string(entry, "type", "file") == HE2B_OK &&
        (!metadata || he2b_json_add(entry, "metadata", he2b_json_copy(metadata)) == HE2B_OK))
        return entry;
    he2b_json_del(entry);
    return NULL;
}
