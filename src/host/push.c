#include "host/push.h"

#include "core/text.h"
#include "he2b.h"
#include "host/protected.h"
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
};

static void say(struct he2b_push *push, const char *path, const char *what)
{
    char text[HE2B_PUSH_WHY_MAX];
    int len;

    if (push->why[0] != '\0')
        return; /* the first one is the one that is told */
    len = snprintf(text, sizeof(text), "%s: %s", path, what);
    he2b_text_line(push->why, sizeof(push->why), text,
                   (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

/* A FIFO or a device is not even opened. Returns -1 and errno. */
static int open_file(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return -1;
    if (!S_ISREG(st.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static int failed(struct he2b_push *push, const he2b_archive_writer *writer)
{
    int error = he2b_archive_writer_error(writer);

    push->why[0] = '\0';
    say(push, "send the archive", error ? strerror(error) : "out of memory");
    return error ? HE2B_ERR_STEP : HE2B_ERR_NOMEM;
}

static int send_as(struct he2b_push *push, he2b_archive_writer *writer,
                   const struct he2b_push_file *file, const char *name,
                   struct he2b_manifest *manifest)
{
    enum he2b_archive_added added;
    struct he2b_archive_file what;
    int fd = open_file(file->host);

    if (fd < 0) {
        push->missing++;
        say(push, file->host, errno == EINVAL ? "no regular file" : strerror(errno));
        return HE2B_OK;
    }
    added = he2b_archive_add(writer, name, fd, &what);
    close(fd);
    switch (added) {
    case HE2B_ADDED_FAILED:
        return failed(push, writer);
    case HE2B_ADDED_NOT:
        push->missing++;
        say(push, file->host, strerror(what.error));
        return HE2B_OK;
    case HE2B_ADDED_CHANGED:
        push->changed++;
        say(push, file->host, what.error ? strerror(what.error) : "it changed while it was read");
        break;
    case HE2B_ADDED:
        push->sent++;
        if (manifest && he2b_manifest_put(manifest, file->path, what.sum, file->kind) != HE2B_OK)
            return HE2B_ERR_NOMEM;
        break;
    }
    push->bytes += what.size;
    return HE2B_OK;
}

static int send_one(struct he2b_push *push, he2b_archive_writer *writer,
                    const struct he2b_push_file *file, struct he2b_manifest *manifest)
{
    char *name = NULL;
    int r;

    if (he2b_protected_is_own(push->home, file->host)) {
        push->own++;
        return HE2B_OK;
    }
    if (asprintf(&name, "%s%s", push->prefix ? push->prefix : "", file->path) < 0)
        return HE2B_ERR_NOMEM;
    r = send_as(push, writer, file, name, manifest);
    free(name);
    return r;
}

/* Last, since it holds the hashes of what went. */
static int send_manifest(struct he2b_push *push, he2b_archive_writer *writer,
                         const struct he2b_manifest *manifest)
{
    struct he2b_buf text;
    int r;

    he2b_buf_init(&text, HE2B_MANIFEST_MAX);
    r = he2b_manifest_write(manifest, &text, push->hash);
    if (r == HE2B_OK && !he2b_archive_add_text(writer, push->manifest_name, text.data, text.len))
        r = failed(push, writer);
    he2b_buf_free(&text);
    return r;
}

int he2b_push_files(struct he2b_push *push, const struct he2b_push_file *files, size_t count,
                    struct he2b_manifest *manifest)
{
    he2b_archive_writer *writer = NULL;
    size_t i;
    int r;

    push->sent = push->missing = push->changed = push->own = 0;
    push->bytes = 0;
    push->why[0] = push->hash[0] = '\0';
    r = he2b_archive_writer_new(&writer, push->sink, push->sink_user);
    if (r) {
        say(push, "make an archive", he2b_strerror(r));
        return r == HE2B_ERR_NOMEM ? r : HE2B_ERR_STEP;
    }
    if (push->first_name &&
        !he2b_archive_add_text(writer, push->first_name, push->first, push->first_len))
        r = failed(push, writer);
    for (i = 0; i < count && r == HE2B_OK; i++) {
        r = send_one(push, writer, &files[i], manifest);
        if (r == HE2B_OK && push->progress &&
            push->progress(push->progress_user, i + 1, push->bytes) != 0)
            r = HE2B_ERR_CANCELLED;
    }
    if (r == HE2B_OK && push->manifest_name)
        r = send_manifest(push, writer, manifest);
    if (r == HE2B_OK && he2b_archive_writer_finish(writer) != HE2B_OK)
        r = failed(push, writer);
    he2b_archive_writer_del(writer);
    return r;
}

/* ---- one file ---- */

/* Returns HE2B_OK, with 0 or why it could not be read in *ret_error, or HE2B_ERR_STEP. */
static int stream(struct he2b_push *push, int fd, uint8_t sum[HE2B_SHA256_SIZE], int *ret_error)
{
    struct he2b_sha256 hash;
    char piece[PIECE];
    ssize_t n;

    he2b_sha256_init(&hash);
    while ((n = read(fd, piece, sizeof(piece))) != 0) {
        int error;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        he2b_sha256_add(&hash, piece, (size_t)n);
        push->bytes += n;
        error = push->sink(push->sink_user, piece, (size_t)n);
        if (error) {
            push->why[0] = '\0';
            say(push, "send a file", strerror(error));
            return HE2B_ERR_STEP;
        }
    }
    *ret_error = n < 0 ? errno : 0;
    he2b_sha256_end(&hash, sum);
    return HE2B_OK;
}

int he2b_push_one(struct he2b_push *push, const struct he2b_push_file *file,
                  struct he2b_manifest *manifest, struct he2b_push_single *ret)
{
    uint8_t sum[HE2B_SHA256_SIZE];
    struct stat before;
    struct stat after;
    int error = 0;
    int r;
    int fd;

    *ret = (struct he2b_push_single){0};
    if (he2b_protected_is_own(push->home, file->host)) {
        push->own++;
        return HE2B_OK;
    }
    fd = open_file(file->host);
    if (fd < 0 || fstat(fd, &before) < 0) {
        push->missing++;
        say(push, file->host, errno == EINVAL ? "no regular file" : strerror(errno));
        if (fd >= 0)
            close(fd);
        return HE2B_OK;
    }
    r = stream(push, fd, sum, &error);
    if (r == HE2B_OK && (error || fstat(fd, &after) < 0 || !he2b_tree_unchanged(&before, &after))) {
        push->changed++;
        say(push, file->host, error ? strerror(error) : "it changed while it was read");
    } else if (r == HE2B_OK) {
        push->sent++;
        r = he2b_manifest_put(manifest, file->path, sum, file->kind);
    }
    close(fd);
    *ret = (struct he2b_push_single){
        .there = true, .mode = before.st_mode & 0777, .mtime_s = before.st_mtime};
    return r;
}
