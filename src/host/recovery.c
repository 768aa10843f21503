#include "host/recovery.h"

#include "core/text.h"
#include "he2b.h"
#include "host/new_file.h"
#include "host/protected.h"
#include "host/snapshot.h"
#include "host/tar_notes.h"
#include "host/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE = 64 * 1024,
    ID_MAX = 64,
    /* File systems that restored files can lie on: home, skills, memories, and mounts in them. */
    DISKS_MAX = 8,
    /* Not for all the world to write, and the owner can read it: Hermes must, to send it again. */
    MODE_KEPT = 0775,
    MODE_ADDED = 0400,
};

struct he2b_recovery {
    struct he2b_protected protected;
    struct he2b_fates fates;
    struct he2b_snapshot snapshot;
    char *prefix;
    char *wanted;
    char id[HE2B_SHA256_HEX_MAX];
    int home;
    int64_t cap;
    int64_t written;
    size_t members;
    struct {
        dev_t device;
        int fd;
    } disks[DISKS_MAX];
    size_t disk_count;
    char why[HE2B_SNAPSHOT_WHY_MAX];
};

static int fail(he2b_recovery *recovery, int code, const char *what, const char *path, int error)
{
    char text[HE2B_SNAPSHOT_WHY_MAX];
    int len = snprintf(text, sizeof(text), "%s%s%s: %s", what, path ? " " : "", path ? path : "",
                       strerror(error));

    he2b_text_line(recovery->why, sizeof(recovery->why), text,
                   (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
    return error == ENOMEM ? HE2B_ERR_NOMEM : code;
}

/* An id that could lead elsewhere becomes its hash (B-12). */
static void name_of(char ret[HE2B_SHA256_HEX_MAX], const char *id)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t len = strlen(id);
    uint8_t sum[HE2B_SHA256_SIZE];

    if (len > 0 && len <= ID_MAX && strspn(id, plain) == len) {
        memcpy(ret, id, len + 1);
        return;
    }
    he2b_sha256_of(id, len, sum);
    he2b_sha256_hex(ret, sum);
}

int he2b_recovery_new(he2b_recovery **ret, const struct he2b_recovery_options *options)
{
    he2b_recovery *recovery = calloc(1, sizeof(*recovery));
    int error;

    if (!recovery)
        return HE2B_ERR_NOMEM;
    recovery->home = -1;
    recovery->snapshot.spool = -1;
    recovery->cap = options->cap ? options->cap : HE2B_ARCHIVE_CAP;
    recovery->members = options->members ? options->members : HE2B_ARCHIVE_MEMBERS_MAX;
    he2b_fates_init(&recovery->fates);
    name_of(recovery->id, options->sandbox_id);
    recovery->prefix = strdup(options->prefix ? options->prefix : "");
    recovery->wanted = strdup(options->wanted ? options->wanted : "");
    if (!recovery->prefix || !recovery->wanted) {
        he2b_recovery_del(recovery);
        return HE2B_ERR_NOMEM;
    }
    error = he2b_protected_new(&recovery->protected, options->home, options->credentials,
                               options->mirrored);
    if (error == 0) {
        recovery->home = open(recovery->protected.home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        error = recovery->home < 0 ? errno : 0;
    }
    if (error == ENOMEM) {
        he2b_recovery_del(recovery);
        return HE2B_ERR_NOMEM;
    }
    he2b_snapshot_init(&recovery->snapshot, recovery->home, recovery->prefix, &recovery->fates);
    recovery->snapshot.wanted = recovery->wanted;
    *ret = recovery;
    return error ? fail(recovery, HE2B_ERR_STEP, "use the profile home", NULL, error) : HE2B_OK;
}

void he2b_recovery_del(he2b_recovery *recovery)
{
    size_t i;

    if (!recovery)
        return;
    he2b_snapshot_free(&recovery->snapshot);
    he2b_fates_free(&recovery->fates);
    he2b_protected_free(&recovery->protected);
    for (i = 0; i < recovery->disk_count; i++)
        close(recovery->disks[i].fd);
    if (recovery->home >= 0)
        close(recovery->home);
    free(recovery->prefix);
    free(recovery->wanted);
    free(recovery);
}

/* ---- reading ---- */

int he2b_recovery_read(he2b_recovery *recovery, he2b_archive_source_fn source, void *user)
{
    he2b_archive *archive = NULL;
    int r = he2b_archive_new(&archive, source, user, recovery->cap, recovery->members);

    if (r)
        return fail(recovery, HE2B_ERR_STEP, "read the sandbox's state", NULL,
                    r == HE2B_ERR_NOMEM ? ENOMEM : ENOSYS);
    r = he2b_snapshot_read(&recovery->snapshot, archive);
    he2b_archive_del(archive);
    if (r)
        he2b_text_line(recovery->why, sizeof(recovery->why), recovery->snapshot.why,
                       strlen(recovery->snapshot.why));
    return r;
}

static int note(void *user, enum he2b_tar_note note, const char *name)
{
    he2b_recovery *recovery = user;
    struct he2b_snapshot *snapshot = &recovery->snapshot;
    const char *path = he2b_snapshot_path(snapshot, name);
    size_t number;

    if (note == HE2B_TAR_UNREAD && path) {
        he2b_fates_add(&recovery->fates, HE2B_FATE_UNREAD, path);
    } else if (note == HE2B_TAR_CHANGED && path &&
               he2b_names_get(&snapshot->by_path, path, &number)) {
        snapshot->files[number].changed = true;
    }
    return 0;
}

int he2b_recovery_notes(he2b_recovery *recovery, const char *text, size_t len)
{
    he2b_tar_notes(text, len, note, recovery);
    return HE2B_OK;
}

bool he2b_recovery_has(const he2b_recovery *recovery, const char *path,
                       uint8_t ret_sum[HE2B_SHA256_SIZE])
{
    size_t number;

    if (!he2b_names_get(&recovery->snapshot.by_path, path, &number))
        return false;
    memcpy(ret_sum, recovery->snapshot.files[number].sum, HE2B_SHA256_SIZE);
    return true;
}

const char *he2b_recovery_wanted(const he2b_recovery *recovery, size_t *ret_len)
{
    *ret_len = recovery->snapshot.wanted_text.len;
    return he2b_buf_str(&recovery->snapshot.wanted_text);
}

void he2b_recovery_leave(he2b_recovery *recovery, const char *path)
{
    size_t number;

    if (he2b_names_get(&recovery->snapshot.by_path, path, &number))
        recovery->snapshot.files[number].leave = true;
}

/* ---- writing ---- */

static bool may_restore(const void *user, const struct stat *folder)
{
    return !he2b_protected_is(user, folder, false);
}

static bool may_park(const void *user, const struct stat *folder)
{
    return !he2b_protected_is(user, folder, true);
}

/* What this host cannot hold under any circumstances (B-85). */
static bool is_unholdable(int error)
{
    return error == ENAMETOOLONG || error == EILSEQ || error == EINVAL || error == EFBIG;
}

/* The disk that was written to is to be flushed in the end. */
static int remember_disk(he2b_recovery *recovery, int folder)
{
    struct stat st;
    size_t i;
    int fd;

    if (fstat(folder, &st) < 0)
        return errno;
    for (i = 0; i < recovery->disk_count; i++)
        if (recovery->disks[i].device == st.st_dev)
            return 0;
    if (recovery->disk_count == DISKS_MAX) {
        sync();
        return 0;
    }
    fd = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    recovery->disks[recovery->disk_count].device = st.st_dev;
    recovery->disks[recovery->disk_count++].fd = fd;
    return 0;
}

/* Writes file as name in folder. Returns 0 or the errno. */
static int write_new(he2b_recovery *recovery, const struct he2b_snapshot_file *file, int folder,
                     const char *name)
{
    struct he2b_new_file new_file;
    char piece[PIECE];
    int64_t done = 0;
    int error = he2b_new_file_begin(&new_file, folder);

    if (error)
        return error;
    while (error == 0 && done < file->size) {
        size_t len = file->size - done < PIECE ? (size_t)(file->size - done) : sizeof(piece);

        error = he2b_snapshot_get(&recovery->snapshot, file->at + done, piece, len);
        if (error == 0)
            error = he2b_new_file_write(&new_file, piece, len);
        done += (int64_t)len;
    }
    if (error == 0)
        error = remember_disk(recovery, folder);
    if (error == 0)
        error = he2b_new_file_publish(&new_file, name, (file->mode & MODE_KEPT) | MODE_ADDED,
                                      file->mtime_s, file->mtime_ns);
    he2b_new_file_drop(&new_file);
    if (error == 0)
        recovery->written += file->size;
    return error;
}

/* Whether fd, which it closes, holds what file does. */
static bool holds(int fd, const struct he2b_snapshot_file *file)
{
    uint8_t sum[HE2B_SHA256_SIZE];
    struct he2b_sha256 hash;
    char piece[PIECE];
    struct stat st;
    ssize_t n = -1;

    if (fstat(fd, &st) == 0 && st.st_size == file->size) {
        he2b_sha256_init(&hash);
        while ((n = read(fd, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR))
            he2b_sha256_add(&hash, piece, n > 0 ? (size_t)n : 0);
        he2b_sha256_end(&hash, sum);
    }
    close(fd);
    return n == 0 && memcmp(sum, file->sum, sizeof(sum)) == 0;
}

/* Puts file at path, a place in the quarantine, or finds it there. Returns 0 or the errno; EEXIST:
 * something else is there or in the way. */
static int park_at(he2b_recovery *recovery, const struct he2b_snapshot_file *file, const char *path)
{
    const char *last;
    int there = -1;
    int folder;
    int error;

    if (he2b_protected_has(&recovery->protected, path, true))
        return EPERM;
    switch (he2b_tree_look(recovery->home, path, false, &there)) {
    case HE2B_TREE_FILE:
        return holds(there, file) ? 0 : EEXIST;
    case HE2B_TREE_OTHER:
        return is_unholdable(errno) ? errno : EEXIST;
    case HE2B_TREE_NOTHING:
        break;
    }
    folder = he2b_tree_parent(recovery->home, path, 0700, may_park, &recovery->protected, &last);
    if (folder < 0)
        return errno;
    error = write_new(recovery, file, folder, last);
    close(folder);
    return error;
}

static int park(he2b_recovery *recovery, const struct he2b_snapshot_file *file, enum he2b_fate fate)
{
    char hex[HE2B_SHA256_HEX_MAX];
    char *path = NULL;
    int error;

    if (asprintf(&path, HE2B_QUARANTINE "/%s/%s", recovery->id, file->path) < 0)
        return fail(recovery, HE2B_ERR_NOMEM, "park", file->path, ENOMEM);
    error = park_at(recovery, file, path);
    free(path);
    if (error == EEXIST) {
        he2b_sha256_hex(hex, file->sum);
        if (asprintf(&path, HE2B_QUARANTINE "/%s-%s/%s", recovery->id, hex, file->path) < 0)
            return fail(recovery, HE2B_ERR_NOMEM, "park", file->path, ENOMEM);
        error = park_at(recovery, file, path);
        free(path);
    }
    if (is_unholdable(error))
        fate = HE2B_FATE_UNHOLDABLE;
    else if (error)
        return fail(recovery, HE2B_ERR_STEP, "park in <home>/" HE2B_QUARANTINE " the sandbox's",
                    file->path, error);
    he2b_fates_add(&recovery->fates, fate, file->path);
    return HE2B_OK;
}

static int restore(he2b_recovery *recovery, const struct he2b_snapshot_file *file)
{
    const char *last;
    int error = 0;
    int folder;

    if (he2b_protected_has(&recovery->protected, file->path, false))
        return park(recovery, file, HE2B_FATE_PROTECTED);
    folder = he2b_tree_parent(recovery->home, file->path, 0755, may_restore, &recovery->protected,
                              &last);
    if (folder < 0) {
        if (errno == EPERM)
            return park(recovery, file, HE2B_FATE_PROTECTED);
        error = errno;
    } else {
        error = write_new(recovery, file, folder, last);
        close(folder);
    }
    switch (error) {
    case 0:
        he2b_fates_add(&recovery->fates, HE2B_FATE_RESTORED, file->path);
        return HE2B_OK;
    case ELOOP:
    case ENOTDIR:
        return park(recovery, file, HE2B_FATE_REDIRECTED);
    case EEXIST:
        /* it came into being just now, or differs in a way that this file system does not see */
        return park(recovery, file, HE2B_FATE_PARKED);
    case EACCES:
    case EPERM:
    case EROFS:
        return park(recovery, file, HE2B_FATE_UNWRITABLE);
    default:
        if (is_unholdable(error)) {
            he2b_fates_add(&recovery->fates, HE2B_FATE_UNHOLDABLE, file->path);
            return HE2B_OK;
        }
        return fail(recovery, HE2B_ERR_STEP, "restore", file->path, error);
    }
}

static int decide(he2b_recovery *recovery, const struct he2b_snapshot_file *file)
{
    int fd = -1;

    if (file->leave) {
        he2b_fates_add(&recovery->fates, HE2B_FATE_DELETED, file->path);
        return HE2B_OK;
    }
    if (file->changed || recovery->snapshot.files[file->target].changed) {
        he2b_fates_add(&recovery->fates, HE2B_FATE_CHANGED, file->path);
        return HE2B_OK;
    }
    if (file->at < 0) {
        he2b_fates_add(&recovery->fates, HE2B_FATE_SAME, file->path);
        return HE2B_OK;
    }
    /* hard links make much out of little */
    if (recovery->written > recovery->cap - file->size)
        return fail(recovery, HE2B_ERR_OVERFLOW, "restore", file->path, EFBIG);
    switch (he2b_tree_look(recovery->home, file->path, true, &fd)) {
    case HE2B_TREE_NOTHING:
        return restore(recovery, file);
    case HE2B_TREE_FILE:
        if (!holds(fd, file))
            break;
        he2b_fates_add(&recovery->fates, HE2B_FATE_SAME, file->path);
        return HE2B_OK;
    case HE2B_TREE_OTHER:
        break;
    }
    return park(recovery, file,
                he2b_protected_has(&recovery->protected, file->path, false) ? HE2B_FATE_PROTECTED
                                                                            : HE2B_FATE_PARKED);
}

/* What was parked may be the only copy left after the push: it must outlive a power cut. */
static int flush(he2b_recovery *recovery)
{
    size_t i;

    for (i = 0; i < recovery->disk_count; i++) {
#ifdef __linux__
        if (syncfs(recovery->disks[i].fd) < 0)
            return fail(recovery, HE2B_ERR_STEP, "write what was recovered to the disk", NULL,
                        errno);
#else
        sync();
#endif
    }
    return HE2B_OK;
}

int he2b_recovery_apply(he2b_recovery *recovery)
{
    int r = HE2B_OK;
    size_t i;

    for (i = 0; i < recovery->snapshot.count && r == HE2B_OK; i++)
        r = decide(recovery, &recovery->snapshot.files[i]);
    return r == HE2B_OK ? flush(recovery) : r;
}

const struct he2b_fates *he2b_recovery_fates(const he2b_recovery *recovery)
{
    return &recovery->fates;
}

const char *he2b_recovery_why(const he2b_recovery *recovery)
{
    return recovery->why;
}
