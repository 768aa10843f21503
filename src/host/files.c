#include "host/files.h"

#include "core/scope.h"
#include "he2b.h"

#include <stdio.h>
#include <string.h>

static const char folder[] = "/cache/e2b/";
static const char creation_lock[] = ".lock";
static const char writer_lock[] = ".writer.lock";
static const char marker[] = ".state-dirty";

static void compose(char ret[HE2B_HOST_PATH_MAX], const char *home, const char *name,
                    const char *suffix)
{
    snprintf(ret, HE2B_HOST_PATH_MAX, "%s%s%s%s", home, folder, name, suffix);
}

int he2b_host_files(struct he2b_host_files *ret, const char *home, const char *scope)
{
    /* The longest suffix, so that all three fit or none; its size counts the NUL. */
    const size_t longest = sizeof(folder) - 1 + HE2B_SCOPE_NAME_MAX - 1 + sizeof(writer_lock);
    char name[HE2B_SCOPE_NAME_MAX];

    if (home[0] != '/' || strlen(home) > HE2B_HOST_PATH_MAX - longest)
        return HE2B_ERR_SETTING;
    he2b_scope_name(name, scope);
    compose(ret->creation_lock, home, name, creation_lock);
    compose(ret->writer_lock, home, name, writer_lock);
    compose(ret->marker, home, name, marker);
    return HE2B_OK;
}
