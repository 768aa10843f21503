#include "host/deletions.h"

#include "he2b.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char skills[] = "skills/";
static const char memories[] = "memories/";

static bool is_below(const char *path, const char *root)
{
    return strncmp(path, root, strlen(root)) == 0;
}

/* A root that is missing, empty, or cannot be read: perhaps its disk is not mounted. */
static int is_bare(const char *home, const char *root, bool *ret)
{
    const struct dirent *entry;
    char *path = NULL;
    DIR *folder;

    if (asprintf(&path, "%s/%s", home, root) < 0)
        return HE2B_ERR_NOMEM;
    folder = opendir(path);
    free(path);
    *ret = true;
    while (folder && *ret && (entry = readdir(folder)))
        *ret = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (folder)
        closedir(folder);
    return HE2B_OK;
}

/* Whether a file that is gone on the host may go in the sandbox. */
static bool may_go(struct he2b_deletions *deletions, const struct he2b_manifest_file *file,
                   const he2b_recovery *snapshot, bool bare_skills, bool bare_memories)
{
    uint8_t sum[HE2B_SHA256_SIZE];

    /* A credential goes one way only: whatever the sandbox made of it is of no worth here. */
    if (file->kind == HE2B_KIND_CREDENTIAL)
        return true;
    if (!is_below(file->path, skills) && !is_below(file->path, memories))
        return false;
    if (is_below(file->path, skills) && bare_skills) {
        deletions->no_skills = true;
        return false;
    }
    if (is_below(file->path, memories) && bare_memories) {
        deletions->no_memories = true;
        return false;
    }
    return he2b_recovery_has(snapshot, file->path, sum) && memcmp(sum, file->sum, sizeof(sum)) == 0;
}

static int by_text(const void *a, const void *b)
{
    const char *const *left = a;
    const char *const *right = b;

    return strcmp(*left, *right);
}

static int find(struct he2b_deletions *deletions, const struct he2b_manifest *before,
                const struct he2b_names *now, he2b_recovery *snapshot, const char *home)
{
    bool bare_skills;
    bool bare_memories;
    size_t i;

    if (is_bare(home, skills, &bare_skills) || is_bare(home, memories, &bare_memories))
        return HE2B_ERR_NOMEM;
    deletions->paths = calloc(before->count + 1, sizeof(*deletions->paths));
    if (!deletions->paths)
        return HE2B_ERR_NOMEM;
    for (i = 0; i < before->count; i++) {
        const struct he2b_manifest_file *file = &before->files[i];

        if (!file->path || he2b_names_get(now, file->path, NULL) ||
            !may_go(deletions, file, snapshot, bare_skills, bare_memories))
            continue;
        deletions->paths[deletions->count] = strdup(file->path);
        if (!deletions->paths[deletions->count])
            return HE2B_ERR_NOMEM;
        deletions->count++;
    }
    for (i = 0; i < deletions->count; i++)
        he2b_recovery_leave(snapshot, deletions->paths[i]);
    qsort(deletions->paths, deletions->count, sizeof(*deletions->paths), by_text);
    return HE2B_OK;
}

int he2b_deletions_find(struct he2b_deletions *ret, const struct he2b_manifest *before,
                        const struct he2b_names *now, he2b_recovery *snapshot, const char *home)
{
    struct he2b_deletions deletions = {0};
    int r = find(&deletions, before, now, snapshot, home);

    if (r) {
        he2b_deletions_free(&deletions);
        return r;
    }
    *ret = deletions;
    return HE2B_OK;
}

void he2b_deletions_free(struct he2b_deletions *deletions)
{
    size_t i;

    for (i = 0; i < deletions->count; i++)
        free(deletions->paths[i]);
    free(deletions->paths);
    *deletions = (struct he2b_deletions){0};
}
