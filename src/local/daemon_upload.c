/* POST /files (wire D.3): not atomic, through links, into the user's hands. */
#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_exchange.h"
#include "local/daemon_files.h"
#include "local/daemon_metadata.h"
#include "local/daemon_multipart.h"
#include "local/daemon_path.h"
#include "local/daemon_user.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* Files of one request; their paths are compared: guards time and memory. */
    FILES_MAX = 10000,
};

struct upload {
    struct exchange *x;
    struct daemon_user user;
    char asked[DAEMON_PATH_MAX]; /* by the query; "": the parts name theirs */
    char path[DAEMON_PATH_MAX];  /* of the file that is being written */
    int fd;                      /* of that; -1: none */
    bool multipart_body;
    struct multipart multipart;
    he2b_json *metadata; /* NULL: none */
    he2b_json *written;  /* the answer */
    int status;          /* of the first error; 0: none so far */
    char why[DAEMON_PATH_MAX + 256];
};

__attribute__((format(printf, 3, 4))) static void fail(struct upload *upload, int status,
                                                       const char *format, ...)
{
    va_list args;

    if (upload->status)
        return;
    upload->status = status;
    va_start(args, format);
    vsnprintf(upload->why, sizeof(upload->why), format, args);
    va_end(args);
}

/* No room is 507; more than a file may have here counts as that, too. */
static void fail_errno(struct upload *upload, const char *doing, int error)
{
    const char *length = exchange_header(upload->x, "content-length");

    if (error != ENOSPC && error != EDQUOT && error != EFBIG)
        fail(upload, 500, "error %s '%s': %s", doing, upload->path, strerror(error));
    else if (length)
        fail(upload, 507, "attempted to write %s bytes: not enough disk space available", length);
    else
        fail(upload, 507, "not enough disk space available");
}

/* ---- one file ---- */

static void file_begin(struct upload *upload, const char *path)
{
    struct stat info;
    int error;

    snprintf(upload->path, sizeof(upload->path), "%s", path);
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        fail(upload, 400, "path is a directory: %s", path);
        return;
    }
    error = daemon_path_make(path, false, &upload->user);
    if (error) {
        fail_errno(upload, "ensuring directories: mkdir", error);
        return;
    }
    /* a FIFO without a reader would wait for one */
    upload->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0644);
    if (upload->fd < 0) {
        fail_errno(upload, "opening file", errno);
        return;
    }
    error = daemon_user_own(&upload->user, upload->fd, NULL);
    if (!error)
        error = metadata_write(upload->fd, upload->metadata);
    if (error)
        fail_errno(upload, "changing file", error);
}

static void file_write(struct upload *upload, const char *data, size_t len)
{
    while (len && upload->fd >= 0 && !upload->status) {
        ssize_t n = write(upload->fd, data, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            fail_errno(upload, "writing file", errno);
            return;
        }
        data += n;
        len -= (size_t)n;
    }
}

static void file_end(struct upload *upload)
{
    if (upload->fd < 0)
        return;
    if (close(upload->fd) != 0)
        fail_errno(upload, "writing file", errno);
    upload->fd = -1;
    if (!upload->status &&
        he2b_json_append(upload->written, files_entry(upload->path, upload->metadata)) != HE2B_OK)
        fail(upload, 500, "out of memory");
}

/* ---- parts ---- */

static bool written_before(const struct upload *upload, const char *path)
{
    size_t i;

    for (i = 0; i < he2b_json_array_size(upload->written); i++) {
        const char *earlier = he2b_json_get_string(he2b_json_at(upload->written, i), "path");

        if (earlier && strcmp(earlier, path) == 0)
            return true;
    }
    return false;
}

static void on_part(void *user, const char *name, const char *filename)
{
    struct upload *upload = user;
    char path[DAEMON_PATH_MAX];
    const char *wrong = NULL;

    if (upload->status || strcmp(name, "file") != 0)
        return;
    if (upload->asked[0])
        snprintf(path, sizeof(path), "%s", upload->asked);
    else if (!filename[0])
        wrong = "path or filename is required";
    else
        wrong = daemon_path(path, filename, &upload->user);
    if (wrong)
        fail(upload, 400, "error resolving path '%s': %s", filename, wrong);
    else if (he2b_json_array_size(upload->written) >= FILES_MAX)
        fail(upload, 400, "more than %d files in one upload request", FILES_MAX);
    else if (written_before(upload, path))
        fail(upload, 400,
             "you cannot upload multiple files to the same path '%s' in one upload request", path);
    else
        file_begin(upload, path);
}

static void on_part_data(void *user, const char *data, size_t len)
{
    file_write(user, data, len);
}

static void on_part_end(void *user)
{
    file_end(user);
}

static const struct multipart_events part_events = {on_part, on_part_data, on_part_end};

/* ---- the request ---- */

static void upload_body(struct exchange *x, const char *data, size_t len)
{
    struct upload *upload = exchange_state(x);

    if (!upload->multipart_body)
        file_write(upload, data, len);
    else if (!upload->status)
        multipart_feed(&upload->multipart, data, len);
}

static void upload_end(struct exchange *x)
{
    struct upload *upload = exchange_state(x);
    const char *text;
    size_t len = 0;

    if (upload->multipart_body && !upload->status && !multipart_complete(&upload->multipart))
        fail(upload, 400, "error parsing multipart form: it is broken or has no end");
    file_end(upload);
    text = upload->status ? NULL : he2b_json_text(upload->written, &len);
    if (text)
        exchange_answer(x, 200, "text/plain; charset=utf-8", text, len);
    else
        exchange_error(x, upload->status ? upload->status : 500, "%s", upload->why);
}

static void upload_gone(struct exchange *x)
{
    struct upload *upload = exchange_state(x);

    if (upload->fd >= 0)
        close(upload->fd);
    if (upload->multipart_body)
        multipart_done(&upload->multipart);
    he2b_json_del(upload->metadata);
    he2b_json_del(upload->written);
    free(upload);
}

static const struct exchange_ops upload_ops = {
    .body = upload_body,
    .end = upload_end,
    .gone = upload_gone,
};

/* What can be told from the head; false after an answer. */
static bool head_is_good(struct exchange *x, bool raw, bool multipart, bool has_path)
{
    const char *encoding = exchange_header(x, "content-encoding");
    const char *type = exchange_header(x, "content-type");

    if (encoding && encoding[0] && strcasecmp(encoding, "identity") != 0)
        exchange_error(x, 400, "unsupported content encoding: %s", encoding);
    else if (!raw && !multipart)
        exchange_error(x, 400, "unsupported content type: %s", type ? type : "");
    else if (raw && !has_path)
        exchange_error(x, 400, "path query parameter is required");
    else
        return true;
    return false;
}

static void begin(struct exchange *x, struct upload *upload, bool raw)
{
    const char *wrong = metadata_of_headers(&upload->metadata, exchange_headers(x));

    exchange_handle(x, &upload_ops, upload);
    if (wrong) {
        fail(upload, 400, "%s", wrong);
    } else if (raw) {
        file_begin(upload, upload->asked);
    } else {
        upload->multipart_body = multipart_init(
            &upload->multipart, exchange_header(x, "content-type"), &part_events, upload);
        if (!upload->multipart_body)
            fail(upload, 400, "error parsing multipart form: no multipart boundary param");
    }
}

void files_upload(struct exchange *x)
{
    bool raw = exchange_header_is(x, "content-type", "application/octet-stream");
    bool multipart = exchange_header_is(x, "content-type", "multipart/form-data");
    struct upload *upload = calloc(1, sizeof(*upload));
    char path[DAEMON_PATH_MAX];
    bool has_path = exchange_query(x, "path", path, sizeof(path)) && path[0];

    if (!upload || !(upload->written = he2b_json_new_array())) {
        free(upload);
        exchange_error(x, 500, "out of memory");
        return;
    }
    upload->x = x;
    upload->fd = -1;
    if (!files_path(x, upload->asked, &upload->user) ||
        !head_is_good(x, raw, multipart, has_path)) {
        he2b_json_del(upload->written);
        free(upload);
        return;
    }
    if (!has_path)
        upload->asked[0] = '\0';
    begin(x, upload, raw);
}
