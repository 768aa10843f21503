#include "host/protected.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char env_file[] = ".env";
static const char config_file[] = "config.yaml";

/* path without links, as far as it exists; what does not is put behind as it is. NULL and errno. */
static char *resolve(const char *path)
{
    char *whole = realpath(path, NULL);
    char *copy;
    char *slash;
    char *above;
    char *ret = NULL;

    if (whole || (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP))
        return whole;
    copy = strdup(path);
    if (!copy)
        return NULL;
    slash = strrchr(copy, '/');
    if (!slash || slash == copy)
        return copy;
    *slash = '\0';
    above = resolve(copy);
    if (above && asprintf(&ret, "%s/%s", strcmp(above, "/") == 0 ? "" : above, slash + 1) < 0)
        ret = NULL;
    free(above);
    free(copy);
    return ret;
}

/* Takes path. */
static int add(struct he2b_protected *protected, char *path)
{
    struct he2b_protected_tree *trees;
    struct stat st;

    if (!path)
        return errno ? errno : ENOMEM;
    trees = realloc(protected->trees, (protected->count + 1) * sizeof(*trees));
    if (!trees) {
        free(path);
        return ENOMEM;
    }
    protected->trees = trees;
    trees[protected->count] = (struct he2b_protected_tree){.path = path};
    if (lstat(path, &st) == 0) {
        trees[protected->count].exists = true;
        trees[protected->count].device = st.st_dev;
        trees[protected->count].inode = st.st_ino;
    }
    protected->count++;
    return 0;
}

static char *in_home(const struct he2b_protected *protected, const char *path)
{
    char *joined = NULL;

    if (path[0] == '/')
        return strdup(path);
    return asprintf(&joined, "%s/%s", protected->home, path) < 0 ? NULL : joined;
}

/* A path both as it is named and as it resolves; with_folder: and the folder that holds it. */
static int add_path(struct he2b_protected *protected, const char *path, bool with_folder)
{
    char *named = in_home(protected, path);
    char *real = named ? resolve(named) : NULL;
    int error = real ? add(protected, strdup(real)) : ENOMEM;
    char *slash = real ? strrchr(real, '/') : NULL;

    /* The name may lead through a link that is in the home itself. */
    if (error == 0 && strcmp(named, real) != 0)
        error = add(protected, strdup(named));
    if (error == 0 && with_folder && slash && slash != real) {
        *slash = '\0';
        if (strcmp(real, protected->home) != 0)
            error = add(protected, strdup(real));
    }
    if (error == 0 && with_folder) {
        slash = strrchr(named, '/');
        if (slash && slash != named) {
            char *folder;

            *slash = '\0';
            folder = resolve(named);
            if (!folder)
                error = ENOMEM;
            else if (strcmp(folder, protected->home) != 0)
                error = add(protected, strdup(folder));
            free(folder);
        }
    }
    free(named);
    free(real);
    return error;
}

static int add_all(struct he2b_protected *protected, const char *const *paths, bool with_folder)
{
    int error = 0;

    for (; paths && *paths && error == 0; paths++)
        error = add_path(protected, *paths, with_folder);
    return error;
}

int he2b_protected_new(struct he2b_protected *ret, const char *home, const char *const *credentials,
                       const char *const *mirrored)
{
    static const char *const always[] = {env_file, config_file, "platforms", "cache/e2b", NULL};
    struct he2b_protected protected = {.home = realpath(home, NULL)};
    int error;

    if (!protected.home)
        return errno;
    error = add_all(&protected, always, false);
    if (error == 0)
        error = add_all(&protected, credentials, true);
    if (error == 0)
        error = add_all(&protected, mirrored, false);
    if (error) {
        he2b_protected_free(&protected);
        return error;
    }
    *ret = protected;
    return 0;
}

void he2b_protected_free(struct he2b_protected *protected)
{
    size_t i;

    for (i = 0; i < protected->count; i++)
        free(protected->trees[i].path);
    free(protected->trees);
    free(protected->home);
    *protected = (struct he2b_protected){0};
}

/* The part of tree below home, or NULL. */
static const char *below(const char *home, const char *tree)
{
    size_t len = strlen(home);

    return strncmp(tree, home, len) == 0 && tree[len] == '/' ? tree + len + 1 : NULL;
}

static bool is_in(const char *path, const char *tree)
{
    size_t len = strlen(tree);

    return strncmp(path, tree, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

static bool counts(const struct he2b_protected *protected, size_t i, bool parking)
{
    const char *tree = below(protected->home, protected->trees[i].path);

    return !parking || !tree || !is_in(HE2B_QUARANTINE, tree);
}

bool he2b_protected_has(const struct he2b_protected *protected, const char *path, bool parking)
{
    size_t i;

    for (i = 0; i < protected->count; i++) {
        const char *tree = below(protected->home, protected->trees[i].path);

        if (tree && is_in(path, tree) && counts(protected, i, parking))
            return true;
    }
    return false;
}

bool he2b_protected_is(const struct he2b_protected *protected, const struct stat *folder,
                       bool parking)
{
    size_t i;

    for (i = 0; i < protected->count; i++)
        if (protected->trees[i].exists && protected->trees[i].device == folder->st_dev &&
            protected->trees[i].inode == folder->st_ino && counts(protected, i, parking))
            return true;
    return false;
}

bool he2b_protected_is_own(const char *home, const char *path)
{
    static const char *const own[] = {env_file, config_file};
    struct stat st;
    size_t i;

    if (stat(path, &st) < 0)
        return false;
    for (i = 0; i < sizeof(own) / sizeof(*own); i++) {
        struct stat mine;
        char *name = NULL;
        bool same;

        if (asprintf(&name, "%s/%s", home, own[i]) < 0)
            return true; /* in doubt it stays here */
        same = stat(name, &mine) == 0 && mine.st_dev == st.st_dev && mine.st_ino == st.st_ino;
        free(name);
        if (same)
            return true;
    }
    return false;
}
