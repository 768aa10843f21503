#include "host/manifest.h"

#include "he2b.h"
#include "host/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILES_FIRST = 64,
    HEX = HE2B_SHA256_HEX_MAX - 1,
};

static const char first_line[] = "hermes-e2b state 1\n";
static const char *const kinds[] = {
    [HE2B_KIND_CREDENTIAL] = "credential",
    [HE2B_KIND_SKILL] = "skill",
    [HE2B_KIND_OTHER] = "other",
};

void he2b_manifest_init(struct he2b_manifest *manifest)
{
    *manifest = (struct he2b_manifest){0};
    he2b_names_init(&manifest->by_path);
}

void he2b_manifest_free(struct he2b_manifest *manifest)
{
    size_t i;

    for (i = 0; i < manifest->count; i++)
        free(manifest->files[i].path);
    free(manifest->files);
    he2b_names_free(&manifest->by_path);
    he2b_manifest_init(manifest);
}

static struct he2b_manifest_file *find(const struct he2b_manifest *manifest, const char *path)
{
    size_t number;

    if (!he2b_names_get(&manifest->by_path, path, &number) || !manifest->files[number].path)
        return NULL;
    return &manifest->files[number];
}

static int grow(struct he2b_manifest *manifest)
{
    size_t room = manifest->room ? manifest->room * 2 : FILES_FIRST;
    struct he2b_manifest_file *files;

    if (manifest->count < manifest->room)
        return HE2B_OK;
    files = realloc(manifest->files, room * sizeof(*files));
    if (!files)
        return HE2B_ERR_NOMEM;
    manifest->files = files;
    manifest->room = room;
    return HE2B_OK;
}

int he2b_manifest_put(struct he2b_manifest *manifest, const char *path,
                      const uint8_t sum[HE2B_SHA256_SIZE], enum he2b_manifest_kind kind)
{
    struct he2b_manifest_file *file = find(manifest, path);

    if (!he2b_tree_path_is_plain(path))
        return HE2B_ERR_ARG;
    if (!file) {
        if (grow(manifest) != HE2B_OK)
            return HE2B_ERR_NOMEM;
        file = &manifest->files[manifest->count];
        *file = (struct he2b_manifest_file){.path = strdup(path)};
        if (!file->path)
            return HE2B_ERR_NOMEM;
        if (he2b_names_put(&manifest->by_path, path, manifest->count) != HE2B_OK) {
            free(file->path);
            return HE2B_ERR_NOMEM;
        }
        manifest->count++;
    }
    memcpy(file->sum, sum, HE2B_SHA256_SIZE);
    file->kind = kind;
    return HE2B_OK;
}

void he2b_manifest_remove(struct he2b_manifest *manifest, const char *path)
{
    struct he2b_manifest_file *file = find(manifest, path);

    if (!file)
        return;
    free(file->path);
    file->path = NULL;
}

int he2b_manifest_add_all(struct he2b_manifest *manifest, const struct he2b_manifest *from)
{
    int r = HE2B_OK;
    size_t i;

    for (i = 0; i < from->count && r == HE2B_OK; i++)
        if (from->files[i].path)
            r = he2b_manifest_put(manifest, from->files[i].path, from->files[i].sum,
                                  from->files[i].kind);
    return r;
}

const struct he2b_manifest_file *he2b_manifest_get(const struct he2b_manifest *manifest,
                                                   const char *path)
{
    return find(manifest, path);
}

/* ---- writing ---- */

static int by_path(const void *a, const void *b)
{
    const struct he2b_manifest_file *const *left = a;
    const struct he2b_manifest_file *const *right = b;

    return strcmp((*left)->path, (*right)->path);
}

/* A path in one line: "\n" and "\\" for a line break and a backslash. */
static int put_path(struct he2b_buf *ret, const char *path)
{
    int r = HE2B_OK;

    while (*path && r == HE2B_OK) {
        size_t plain = strcspn(path, "\n\\");

        r = he2b_buf_add(ret, path, plain);
        path += plain;
        if (r == HE2B_OK && *path)
            r = he2b_buf_adds(ret, *path++ == '\n' ? "\\n" : "\\\\");
    }
    return r;
}

int he2b_manifest_write(const struct he2b_manifest *manifest, struct he2b_buf *ret,
                        char ret_hash[HE2B_SHA256_HEX_MAX])
{
    size_t from = ret->len;
    const struct he2b_manifest_file **order = calloc(manifest->count + 1, sizeof(*order));
    uint8_t sum[HE2B_SHA256_SIZE];
    char hex[HE2B_SHA256_HEX_MAX];
    size_t count = 0;
    size_t i;
    int r;

    if (!order)
        return HE2B_ERR_NOMEM;
    for (i = 0; i < manifest->count; i++)
        if (manifest->files[i].path)
            order[count++] = &manifest->files[i];
    qsort(order, count, sizeof(*order), by_path);
    r = he2b_buf_adds(ret, first_line);
    for (i = 0; i < count && r == HE2B_OK; i++) {
        he2b_sha256_hex(hex, order[i]->sum);
        r = he2b_buf_addf(ret, "%s %s ", hex, kinds[order[i]->kind]);
        if (r == HE2B_OK)
            r = put_path(ret, order[i]->path);
        if (r == HE2B_OK)
            r = he2b_buf_adds(ret, "\n");
    }
    free(order);
    if (r)
        return r;
    he2b_sha256_of(ret->data + from, ret->len - from, sum);
    he2b_sha256_hex(ret_hash, sum);
    return he2b_buf_addf(ret, "%s\n", ret_hash);
}

/* ---- reading ---- */

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_sum(uint8_t ret[HE2B_SHA256_SIZE], const char *hex)
{
    size_t i;

    for (i = 0; i < HE2B_SHA256_SIZE; i++) {
        int high = digit(hex[2 * i]);
        int low = high < 0 ? -1 : digit(hex[2 * i + 1]);

        if (low < 0)
            return false;
        ret[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* In place. */
static bool read_path(char *path)
{
    char *to = path;

    while (*path) {
        if (*path != '\\') {
            *to++ = *path++;
            continue;
        }
        if (path[1] != 'n' && path[1] != '\\')
            return false;
        *to++ = path[1] == 'n' ? '\n' : '\\';
        path += 2;
    }
    *to = '\0';
    return true;
}

/* One line, NUL-terminated, to be cut to pieces. */
static int read_line(struct he2b_manifest *manifest, char *line)
{
    uint8_t sum[HE2B_SHA256_SIZE];
    char *kind = line + HEX + 1;
    char *path;
    int k;
    int r;

    if (strlen(line) < HEX + 2 || line[HEX] != ' ' || !read_sum(sum, line))
        return HE2B_ERR_PROTOCOL;
    path = strchr(kind, ' ');
    if (!path)
        return HE2B_ERR_PROTOCOL;
    *path++ = '\0';
    for (k = HE2B_KIND_CREDENTIAL; k <= HE2B_KIND_OTHER; k++)
        if (strcmp(kind, kinds[k]) == 0)
            break;
    if (k > HE2B_KIND_OTHER || !read_path(path) || find(manifest, path))
        return HE2B_ERR_PROTOCOL;
    r = he2b_manifest_put(manifest, path, sum, (enum he2b_manifest_kind)k);
    return r == HE2B_ERR_ARG ? HE2B_ERR_PROTOCOL : r;
}

static int read_lines(struct he2b_manifest *manifest, char *text)
{
    int r = HE2B_OK;

    while (*text && r == HE2B_OK) {
        char *end = strchr(text, '\n');

        if (!end)
            return HE2B_ERR_PROTOCOL;
        *end = '\0';
        r = read_line(manifest, text);
        text = end + 1;
    }
    return r;
}

int he2b_manifest_read(struct he2b_manifest *manifest, const char *text, size_t len,
                       char ret_hash[HE2B_SHA256_HEX_MAX])
{
    const size_t first = sizeof(first_line) - 1;
    uint8_t sum[HE2B_SHA256_SIZE];
    char hash[HE2B_SHA256_HEX_MAX];
    char *copy;
    size_t body;
    int r;

    if (len < first + HEX + 1 || len > HE2B_MANIFEST_MAX || memchr(text, '\0', len) ||
        text[len - 1] != '\n' || memcmp(text, first_line, first) != 0)
        return HE2B_ERR_PROTOCOL;
    body = len - HEX - 1;
    he2b_sha256_of(text, body, sum);
    he2b_sha256_hex(hash, sum);
    if (text[body - 1] != '\n' || memcmp(text + body, hash, HEX) != 0)
        return HE2B_ERR_PROTOCOL;
    copy = strndup(text + first, body - first);
    if (!copy)
        return HE2B_ERR_NOMEM;
    r = read_lines(manifest, copy);
    free(copy);
    if (r) {
        he2b_manifest_free(manifest);
        return r;
    }
    memcpy(ret_hash, hash, sizeof(hash));
    return HE2B_OK;
}
