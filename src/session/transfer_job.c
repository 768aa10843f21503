#include "session/transfer_job.h"

#include "core/text.h"
#include "he2b.h"
#include "session/transfer_script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FIRST = 16,
};

int he2b_texts_add(struct he2b_texts *texts, const char *text)
{
    char *copy;

    if (texts->count + 1 >= texts->room) {
        size_t room = texts->room ? texts->room * 2 : FIRST;
        char **all = realloc(texts->all, room * sizeof(*all));

        if (!all)
            return HE2B_ERR_NOMEM;
        texts->all = all;
        texts->room = room;
    }
    copy = strdup(text);
    if (!copy)
        return HE2B_ERR_NOMEM;
    texts->all[texts->count++] = copy;
    texts->all[texts->count] = NULL;
    return HE2B_OK;
}

void he2b_texts_free(struct he2b_texts *texts)
{
    size_t i;

    for (i = 0; i < texts->count; i++)
        free(texts->all[i]);
    free(texts->all);
    *texts = (struct he2b_texts){0};
}

/* ---- life ---- */

static void job_free(struct he2b_transfer_job *job)
{
    union {
        const char *in;
        char *out;
    } cast;
    size_t i;

    for (i = 0; i < job->count; i++) {
        cast.in = job->files[i].host;
        free(cast.out);
        cast.in = job->files[i].path;
        free(cast.out);
    }
    free(job->files);
    he2b_texts_free(&job->removed);
    he2b_texts_free(&job->credentials);
    he2b_texts_free(&job->mirrored);
    he2b_manifest_free(&job->manifest);
    he2b_buf_free(&job->list);
    he2b_recovery_del(job->recovery);
    he2b_fates_free(&job->fates);
    if (job->pipe >= 0)
        close(job->pipe);
    if (job->fd >= 0)
        close(job->fd);
    free(job->manifest_name);
    free(job->prefix);
    free(job->sandbox_id);
    free(job->home);
    free(job);
}

int he2b_job_new(struct he2b_transfer_job **ret, const char *home, const char *sandbox_id)
{
    struct he2b_transfer_job *job = calloc(1, sizeof(*job));

    if (!job)
        return HE2B_ERR_NOMEM;
    atomic_init(&job->holders, 1);
    atomic_init(&job->cancelled, false);
    atomic_init(&job->files_moved, 0);
    atomic_init(&job->bytes_moved, 0);
    job->pipe = -1;
    job->fd = -1;
    he2b_manifest_init(&job->manifest);
    he2b_fates_init(&job->fates);
    he2b_buf_init(&job->list, HE2B_JOB_LIST_MAX);
    job->home = strdup(home);
    job->sandbox_id = strdup(sandbox_id);
    if (!job->home || !job->sandbox_id) {
        job_free(job);
        return HE2B_ERR_NOMEM;
    }
    *ret = job;
    return HE2B_OK;
}

struct he2b_transfer_job *he2b_job_hold(struct he2b_transfer_job *job)
{
    atomic_fetch_add(&job->holders, 1);
    return job;
}

void he2b_job_let_go(void *arg)
{
    struct he2b_transfer_job *job = arg;

    if (atomic_fetch_sub(&job->holders, 1) == 1)
        job_free(job);
}

/* ---- work ---- */

static void end(struct he2b_transfer_job *job, int result, const char *why)
{
    job->result = result;
    he2b_text_line(job->why, sizeof(job->why), why, strlen(why));
    if (job->pipe >= 0)
        close(job->pipe);
    job->pipe = -1;
}

static int on_moved(void *user, size_t files, int64_t bytes)
{
    struct he2b_transfer_job *job = user;

    atomic_store(&job->files_moved, files);
    atomic_store(&job->bytes_moved, bytes);
    return atomic_load(&job->cancelled);
}

static int put(void *user, const void *data, size_t len)
{
    struct he2b_transfer_job *job = user;
    const char *bytes = data;

    while (len > 0) {
        ssize_t n = write(job->pipe, bytes, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

static void open_push(struct he2b_transfer_job *job)
{
    job->push = (struct he2b_push){
        .home = job->home,
        .prefix = HE2B_TRANSFER_PREFIX,
        .first_name = job->list.len ? HE2B_TRANSFER_LIST : NULL,
        .first = job->list.data,
        .first_len = job->list.len,
        .manifest_name = job->manifest_name,
        .sink = put,
        .sink_user = job,
        .progress = on_moved,
        .progress_user = job,
    };
}

void he2b_job_push_single(void *arg)
{
    struct he2b_transfer_job *job = arg;
    int result;

    if (job->single == 0)
        open_push(job);
    result = he2b_push_one(&job->push, &job->files[job->single], &job->manifest, &job->single_file);
    on_moved(job, job->single + 1, job->push.bytes);
    end(job, result, job->push.why[0] ? job->push.why : he2b_strerror(result));
}

void he2b_job_push(void *arg)
{
    struct he2b_transfer_job *job = arg;
    int result;
    size_t i;

    open_push(job);
    for (i = 0; i < job->removed.count; i++)
        he2b_manifest_remove(&job->manifest, job->removed.all[i]);
    result = he2b_push_files(&job->push, job->files, job->count, &job->manifest);
    end(job, result, job->push.why[0] ? job->push.why : he2b_strerror(result));
}

static ssize_t take(void *user, void *data, size_t size)
{
    struct he2b_transfer_job *job = user;
    ssize_t n;

    do
        n = read(job->pipe, data, size);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        job->received += n;
    return n;
}

/* ... of a recovery, which knows no files before it has all of them. */
static ssize_t take_counted(void *user, void *data, size_t size)
{
    struct he2b_transfer_job *job = user;
    ssize_t n = take(job, data, size);

    atomic_store(&job->bytes_moved, job->received);
    return n;
}

static int open_recovery(struct he2b_transfer_job *job)
{
    const struct he2b_recovery_options options = {
        .home = job->home,
        .sandbox_id = job->sandbox_id,
        .prefix = job->prefix,
        .wanted = HE2B_MANIFEST_NAME,
        .credentials = (const char *const *)job->credentials.all,
        .mirrored = (const char *const *)job->mirrored.all,
    };

    return he2b_recovery_new(&job->recovery, &options);
}

static const char *recovery_why(const struct he2b_transfer_job *job, int result)
{
    const char *why = job->recovery ? he2b_recovery_why(job->recovery) : "";

    return why[0] ? why : he2b_strerror(result);
}

void he2b_job_recover(void *arg)
{
    struct he2b_transfer_job *job = arg;
    int result = open_recovery(job);

    if (result == HE2B_OK)
        result = he2b_recovery_read(job->recovery, take_counted, job);
    /* nothing at all: the sandbox' command says why */
    if (result == HE2B_ERR_PROTOCOL && job->received == 0)
        result = HE2B_OK;
    end(job, result, recovery_why(job, result));
}

/* What a pull has written, from its beginning on. */
struct again {
    int fd;
    off_t at;
    off_t until;
};

static ssize_t take_again(void *user, void *data, size_t size)
{
    struct again *again = user;
    off_t left = again->until - again->at;
    ssize_t n = pread(again->fd, data, (off_t)size < left ? size : (size_t)left, again->at);

    if (n > 0)
        again->at += n;
    return n;
}

/* The recovery reads what was written, which is checked, and is there to be read again. */
static int keep(struct he2b_transfer_job *job, off_t from)
{
    struct again again = {.fd = job->fd, .at = from, .until = lseek(job->fd, 0, SEEK_CUR)};
    int result = open_recovery(job);

    return result ? result : he2b_recovery_read(job->recovery, take_again, &again);
}

void he2b_job_pull(void *arg)
{
    struct he2b_transfer_job *job = arg;
    off_t from = lseek(job->fd, 0, SEEK_CUR);
    int result;

    job->pull = (struct he2b_pull){
        .fd = job->fd,
        .prefix = job->prefix,
        .cap = HE2B_PULL_MAX,
        .progress = on_moved,
        .progress_user = job,
        .fates = &job->fates,
    };
    result = he2b_pull_read(&job->pull, take, job);
    if (result == HE2B_ERR_PROTOCOL && job->received == 0)
        result = he2b_pull_nothing(&job->pull);
    if (result) {
        end(job, result, job->pull.why);
        return;
    }
    result = job->keep ? keep(job, from) : HE2B_OK;
    end(job, result, recovery_why(job, result));
}
