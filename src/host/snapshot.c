#include "host/snapshot.h"

#include "he2b.h"
#include "host/manifest.h"
#include "host/new_file.h"
#include "host/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE = 64 * 1024,
    FILES_FIRST = 64,
};

static const char *const roots[] = {"skills/", "memories/"};

void he2b_snapshot_init(struct he2b_snapshot *snapshot, int home, const char *prefix,
                        struct he2b_fates *fates)
{
    *snapshot = (struct he2b_snapshot){
        .home = home, .prefix = prefix, .fates = fates, .spool = -1, .wanted = ""};
    he2b_buf_init(&snapshot->wanted_text, HE2B_MANIFEST_MAX);
    he2b_names_init(&snapshot->by_path);
}

void he2b_snapshot_free(struct he2b_snapshot *snapshot)
{
    size_t i;

    for (i = 0; i < snapshot->count; i++)
        free(snapshot->files[i].path);
    free(snapshot->files);
    he2b_names_free(&snapshot->by_path);
    he2b_buf_free(&snapshot->wanted_text);
    if (snapshot->spool >= 0)
        close(snapshot->spool);
    snapshot->spool = -1;
}

static int fail(struct he2b_snapshot *snapshot, int code, const char *what, const char *why)
{
    snprintf(snapshot->why, sizeof(snapshot->why), "%s: %s", what, why);
    return code;
}

static int no_memory(struct he2b_snapshot *snapshot)
{
    return fail(snapshot, HE2B_ERR_NOMEM, "recover the sandbox's state", "out of memory");
}

/* ---- the spool ---- */

/* Through links, unlike what is restored: the folder is this product's own, and so are the links
 * that a user makes of it or of cache. */
static int open_spool(struct he2b_snapshot *snapshot)
{
    int error = 0;
    int folder;

    if (snapshot->spool >= 0)
        return 0;
    if ((mkdirat(snapshot->home, "cache", 0700) < 0 && errno != EEXIST) ||
        (mkdirat(snapshot->home, "cache/e2b", 0700) < 0 && errno != EEXIST))
        return errno;
    folder = openat(snapshot->home, "cache/e2b", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return errno;
    snapshot->spool = he2b_new_file_nameless(folder);
    if (snapshot->spool < 0)
        error = errno;
    close(folder);
    return error;
}

static int keep(struct he2b_snapshot *snapshot, const void *data, size_t len)
{
    int error = open_spool(snapshot);

    if (error == 0)
        error = he2b_new_file_write_all(snapshot->spool, data, len);
    if (error)
        return fail(snapshot, HE2B_ERR_STEP, "keep the sandbox's state in <home>/cache/e2b",
                    strerror(error));
    snapshot->spooled += (int64_t)len;
    return HE2B_OK;
}

int he2b_snapshot_get(const struct he2b_snapshot *snapshot, int64_t at, void *into, size_t len)
{
    char *to = into;

    while (len > 0) {
        ssize_t n = pread(snapshot->spool, to, len, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        to += n;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Keeps the first len bytes of the host's file, which are those of the member. */
static int keep_start(struct he2b_snapshot *snapshot, int host, int64_t len)
{
    char piece[PIECE];
    int64_t at = 0;

    while (at < len) {
        size_t want = len - at < PIECE ? (size_t)(len - at) : sizeof(piece);
        ssize_t n = pread(host, piece, want, (off_t)at);
        int r;

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(snapshot, HE2B_ERR_STEP, "compare with a file of this machine",
                        n < 0 ? strerror(errno) : "it shrank");
        r = keep(snapshot, piece, (size_t)n);
        if (r)
            return r;
        at += n;
    }
    return HE2B_OK;
}

/* ---- members ---- */

const char *he2b_snapshot_path(const struct he2b_snapshot *snapshot, const char *name)
{
    size_t prefix = strlen(snapshot->prefix);
    size_t i;

    name = he2b_tree_path_skip_dot(name);
    if (strncmp(name, snapshot->prefix, prefix) != 0)
        return NULL;
    name += prefix;
    for (i = 0; i < sizeof(roots) / sizeof(*roots); i++)
        if (strncmp(name, roots[i], strlen(roots[i])) == 0)
            return name;
    return NULL;
}

/* The next file, with its path. Its number is count - 1. */
static struct he2b_snapshot_file *add(struct he2b_snapshot *snapshot, const char *path,
                                      const struct he2b_member *member)
{
    struct he2b_snapshot_file *file;

    if (snapshot->count == snapshot->room) {
        size_t room = snapshot->room ? snapshot->room * 2 : FILES_FIRST;
        struct he2b_snapshot_file *files = realloc(snapshot->files, room * sizeof(*files));

        if (!files)
            return NULL;
        snapshot->files = files;
        snapshot->room = room;
    }
    file = &snapshot->files[snapshot->count];
    *file = (struct he2b_snapshot_file){
        .path = strdup(path),
        .at = -1,
        .mtime_s = member->mtime_s,
        .mtime_ns = member->mtime_ns,
        .mode = member->mode,
        .target = snapshot->count,
    };
    if (!file->path)
        return NULL;
    snapshot->names_size += strlen(path);
    snapshot->count++;
    return file;
}

/* Whether the host's file goes on with the same bytes. */
static bool goes_on(int host, int64_t at, const void *data, size_t len)
{
    const char *bytes = data;
    char piece[PIECE];

    while (len > 0) {
        ssize_t n = pread(host, piece, len < sizeof(piece) ? len : sizeof(piece), (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || memcmp(piece, bytes, (size_t)n) != 0)
            return false;
        bytes += n;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

/* One piece of file; *host is the host's as long as it is the same, else -1. */
static int take(struct he2b_snapshot *snapshot, struct he2b_snapshot_file *file, int *host,
                const void *data, size_t len)
{
    int r = HE2B_OK;

    if (*host >= 0 && goes_on(*host, file->size, data, len)) {
        file->size += (int64_t)len;
        return HE2B_OK;
    }
    if (file->at < 0)
        file->at = snapshot->spooled;
    if (*host >= 0) {
        r = keep_start(snapshot, *host, file->size);
        close(*host);
        *host = -1;
    }
    if (r == HE2B_OK)
        r = keep(snapshot, data, len);
    file->size += (int64_t)len;
    return r;
}

/* At the end of the member: is the host's longer? */
static int settle(struct he2b_snapshot *snapshot, struct he2b_snapshot_file *file, int host)
{
    char byte;

    if (host < 0) {
        if (file->at < 0)
            file->at = snapshot->spooled; /* an empty one that the host does not have */
        return HE2B_OK;
    }
    if (pread(host, &byte, 1, (off_t)file->size) == 0)
        return HE2B_OK;
    file->at = snapshot->spooled;
    return keep_start(snapshot, host, file->size);
}

static int archive_failed(struct he2b_snapshot *snapshot, const he2b_archive *archive)
{
    int code = he2b_archive_error(archive);

    return fail(snapshot, code == HE2B_ERR_SYSTEM ? HE2B_ERR_STEP : code,
                "read the sandbox's state", he2b_archive_why(archive));
}

static int take_content(struct he2b_snapshot *snapshot, he2b_archive *archive,
                        struct he2b_snapshot_file *file)
{
    enum he2b_archive_answer answer;
    struct he2b_sha256 hash;
    const void *data;
    size_t len;
    int host = -1;
    int r = HE2B_OK;

    if (he2b_tree_look(snapshot->home, file->path, true, &host) != HE2B_TREE_FILE)
        host = -1;
    he2b_sha256_init(&hash);
    while ((answer = he2b_archive_data(archive, &data, &len)) == HE2B_ARCHIVE_MORE &&
           r == HE2B_OK) {
        he2b_sha256_add(&hash, data, len);
        r = take(snapshot, file, &host, data, len);
    }
    he2b_sha256_end(&hash, file->sum);
    if (answer == HE2B_ARCHIVE_FAILED)
        r = archive_failed(snapshot, archive);
    if (r == HE2B_OK)
        r = settle(snapshot, file, host);
    if (host >= 0)
        close(host);
    return r;
}

/* The content of a file that only the host has: kept now, should a hard link need it. */
static int keep_from_host(struct he2b_snapshot *snapshot, struct he2b_snapshot_file *file,
                          bool *ret_kept)
{
    int64_t at = snapshot->spooled;
    struct he2b_sha256 hash;
    uint8_t sum[HE2B_SHA256_SIZE];
    char piece[PIECE];
    ssize_t n;
    int host = -1;
    int r = HE2B_OK;

    *ret_kept = false;
    if (he2b_tree_look(snapshot->home, file->path, true, &host) != HE2B_TREE_FILE)
        return HE2B_OK;
    he2b_sha256_init(&hash);
    while (r == HE2B_OK && snapshot->spooled - at <= file->size &&
           (n = read(host, piece, sizeof(piece))) > 0) {
        he2b_sha256_add(&hash, piece, (size_t)n);
        r = keep(snapshot, piece, (size_t)n);
    }
    close(host);
    he2b_sha256_end(&hash, sum);
    *ret_kept = r == HE2B_OK && memcmp(sum, file->sum, sizeof(sum)) == 0;
    if (*ret_kept && file->size > 0)
        file->at = at;
    return r;
}

/* B-86: a hard link to an earlier member is that member's content. */
static int take_link(struct he2b_snapshot *snapshot, struct he2b_snapshot_file *file,
                     const char *link)
{
    const char *path = he2b_snapshot_path(snapshot, link);
    struct he2b_snapshot_file *target;
    bool kept = true;
    size_t number;
    int r = HE2B_OK;

    if (!path || !he2b_names_get(&snapshot->by_path, path, &number)) {
        he2b_fates_add(snapshot->fates, HE2B_FATE_UNREAD, file->path);
        free(file->path);
        snapshot->count--;
        return HE2B_OK;
    }
    target = &snapshot->files[number];
    if (target->at < 0)
        r = keep_from_host(snapshot, target, &kept);
    if (r)
        return r;
    if (!kept) {
        he2b_fates_add(snapshot->fates, HE2B_FATE_CHANGED, file->path);
        free(file->path);
        snapshot->count--;
        return HE2B_OK;
    }
    file->target = target->target;
    file->size = target->size;
    file->at = target->at < 0 ? snapshot->spooled : target->at;
    memcpy(file->sum, target->sum, sizeof(file->sum));
    return HE2B_OK;
}

/* The last one of that name counts; one above the bound is none. */
static int take_wanted(struct he2b_snapshot *snapshot, he2b_archive *archive)
{
    enum he2b_archive_answer answer;
    const void *data;
    size_t len;
    bool fits = true;

    he2b_buf_clear(&snapshot->wanted_text);
    while ((answer = he2b_archive_data(archive, &data, &len)) == HE2B_ARCHIVE_MORE) {
        int r = fits ? he2b_buf_add(&snapshot->wanted_text, data, len) : HE2B_OK;

        if (r == HE2B_ERR_NOMEM)
            return no_memory(snapshot);
        fits = fits && r == HE2B_OK;
    }
    if (!fits)
        he2b_buf_clear(&snapshot->wanted_text);
    return answer == HE2B_ARCHIVE_FAILED ? archive_failed(snapshot, archive) : HE2B_OK;
}

static int take_member(struct he2b_snapshot *snapshot, he2b_archive *archive,
                       const struct he2b_member *member)
{
    const char *path;
    struct he2b_snapshot_file *file;
    size_t before = snapshot->count;
    int r;

    if (member->kind == HE2B_MEMBER_OTHER)
        return HE2B_OK;
    if (!he2b_tree_path_is_plain(he2b_tree_path_skip_dot(member->name))) {
        he2b_fates_add(snapshot->fates, HE2B_FATE_UNSAFE, member->name);
        return HE2B_OK;
    }
    if (member->kind == HE2B_MEMBER_FILE &&
        strcmp(he2b_tree_path_skip_dot(member->name), snapshot->wanted) == 0)
        return take_wanted(snapshot, archive);
    path = he2b_snapshot_path(snapshot, member->name);
    if (!path)
        return HE2B_OK;
    if (member->kind == HE2B_MEMBER_SPARSE) {
        he2b_fates_add(snapshot->fates, HE2B_FATE_UNREAD, path);
        return HE2B_OK;
    }
    file = add(snapshot, path, member);
    if (!file)
        return no_memory(snapshot);
    if (snapshot->names_size > HE2B_SNAPSHOT_NAMES_MAX)
        return fail(snapshot, HE2B_ERR_OVERFLOW, "read the sandbox's state",
                    "its names are too long all together");
    r = member->kind == HE2B_MEMBER_FILE ? take_content(snapshot, archive, file)
                                         : take_link(snapshot, file, member->link);
    if (r || snapshot->count == before)
        return r;
    if (he2b_names_put(&snapshot->by_path, file->path, before) != HE2B_OK)
        return no_memory(snapshot);
    return HE2B_OK;
}

int he2b_snapshot_read(struct he2b_snapshot *snapshot, he2b_archive *archive)
{
    enum he2b_archive_answer answer;
    struct he2b_member member;
    int r = HE2B_OK;

    while (r == HE2B_OK && (answer = he2b_archive_next(archive, &member)) != HE2B_ARCHIVE_END) {
        if (answer == HE2B_ARCHIVE_FAILED)
            return archive_failed(snapshot, archive);
        r = take_member(snapshot, archive, &member);
    }
    return r;
}
