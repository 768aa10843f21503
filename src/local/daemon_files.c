/* GET and POST /files (wire D.2, D.3): streamed, never whole in memory. */
#include "core/json.h"
#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_multipart.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECE = 64 * 1024,
};

/* The file that a request is about; an answer and false if it cannot be told. */
static bool request_path(struct exchange *x, struct daemon_user *user, char *path)
{
    char name[128];
    char raw[DAEMON_PATH_MAX];
    char why[128];

    if (!exchange_query(x, "username", name, sizeof(name)))
        name[0] = '\0';
    if (!daemon_user_find(user, name)) {
        exchange_error(x, 401, "error looking up user '%s': user: unknown user %s", name, name);
        return false;
    }
    (void)exchange_query(x, "path", raw, sizeof(raw));
    if (!daemon_path(path, DAEMON_PATH_MAX, raw, user, why, sizeof(why))) {
        exchange_error(x, 400, "error resolving path '%s': %s", raw, why);
        return false;
    }
    return true;
}

/* ---- GET ---- */

struct download {
    int fd;
    int64_t left;
};

static void download_go_on(struct exchange *x)
{
    static char piece[PIECE];
    struct download *download = x->state;

    while (download->left > 0 && exchange_unread(x) <= DAEMON_UNREAD_MAX) {
        size_t want = download->left < PIECE ? (size_t)download->left : PIECE;
        ssize_t n = read(download->fd, piece, want);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            /* It shrank or broke: less than the length that was told is a cut, never an end. */
            exchange_cut(x);
            return;
        }
        exchange_write(x, piece, (size_t)n);
        download->left -= n;
    }
    if (download->left == 0 && !x->ended)
        exchange_end(x);
}

static void download_gone(struct exchange *x)
{
    struct download *download = x->state;

    close(download->fd);
    free(download);
}

static const struct exchange_ops download_ops = {
    .end = download_go_on,
    .drained = download_go_on,
    .gone = download_gone,
};

/* One range of bytes (RFC 9110 14.2). 0: none asked for or not understood, 1: given, -1: outside.
 */
static int read_range(const char *text, int64_t size, int64_t *ret_first, int64_t *ret_last)
{
    char *end;
    long long first;
    long long last;

    if (!text || strncasecmp(text, "bytes=", 6) != 0 || strchr(text, ','))
        return 0;
    text += 6;
    if (*text == '-') {
        last = strtoll(text + 1, &end, 10);
        if (end == text + 1 || *end)
            return 0;
        if (last <= 0)
            return -1;
        *ret_first = last > size ? 0 : size - last;
        *ret_last = size - 1;
        return size == 0 ? -1 : 1;
    }
    first = strtoll(text, &end, 10);
    if (end == text || *end != '-')
        return 0;
    text = end + 1;
    last = size - 1;
    if (*text) {
        last = strtoll(text, &end, 10);
        if (*end || last < first)
            return 0;
    }
    if (first >= size)
        return -1;
    *ret_first = first;
    *ret_last = last >= size ? size - 1 : last;
    return 1;
}

static void http_date(char out[40], time_t when)
{
    struct tm parts;

    gmtime_r(&when, &parts);
    strftime(out, 40, "%a, %d %b %Y %H:%M:%S GMT", &parts);
}

static bool not_modified(const struct exchange *x, const struct stat *info)
{
    const char *text = exchange_header(x, "if-modified-since");
    struct tm parts = {0};
    const char *end = text ? strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &parts) : NULL;

    return end && !*end && info->st_mtime <= timegm(&parts);
}

static const char *type_of(const char *path)
{
    static const char *const types[][2] = {
        {".txt", "text/plain; charset=utf-8"},
        {".html", "text/html; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".json", "application/json"},
        {".png", "image/png"},
        {".jpg", "image/jpeg"},
        {".gif", "image/gif"},
        {".svg", "image/svg+xml"},
        {".pdf", "application/pdf"},
        {".xml", "text/xml; charset=utf-8"},
    };
    const char *dot = strrchr(path, '.');
    size_t i;

    for (i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcasecmp(dot, types[i][0]) == 0)
            return types[i][1];
    }
    return "application/octet-stream";
}

static void add(he2b_json *headers, const char *name, const char *value)
{
    if (headers)
        (void)he2b_json_add_string(headers, name, value);
}

static void answer_file(struct exchange *x, const char *path, int fd, const struct stat *info)
{
    struct download *download = calloc(1, sizeof(*download));
    he2b_json *headers = he2b_json_new_object();
    const char *name = strrchr(path, '/') + 1;
    int64_t first = 0;
    int64_t last = info->st_size - 1;
    int range = read_range(exchange_header(x, "range"), info->st_size, &first, &last);
    char text[DAEMON_PATH_MAX + 64];

    if (!download || range < 0) {
        close(fd);
        free(download);
        if (range < 0) {
            snprintf(text, sizeof(text), "bytes */%lld", (long long)info->st_size);
            add(headers, "Content-Range", text);
            add(headers, "Content-Type", "text/plain; charset=utf-8");
            exchange_head(x, 416, headers, 33);
            exchange_write(x, "invalid range: failed to overlap\n", 33);
            exchange_end(x);
        } else {
            he2b_json_del(headers);
            exchange_error(x, 500, "out of memory");
        }
        return;
    }
    if (lseek(fd, first, SEEK_SET) != first)
        first = 0;
    download->fd = fd;
    download->left = last - first + 1;
    http_date(text, info->st_mtime);
    add(headers, "Last-Modified", text);
    add(headers, "Accept-Ranges", "bytes");
    add(headers, "Content-Type", type_of(path));
    add(headers, "Vary", "Accept-Encoding");
    if (!strpbrk(name, "\"\\\r\n")) {
        snprintf(text, sizeof(text), "inline; filename=\"%s\"", name);
        add(headers, "Content-Disposition", text);
    }
    if (range > 0) {
        snprintf(text, sizeof(text), "bytes %lld-%lld/%lld", (long long)first, (long long)last,
                 (long long)info->st_size);
        add(headers, "Content-Range", text);
    }
    x->state = download;
    x->ops = &download_ops;
    exchange_head(x, range > 0 ? 206 : 200, headers, download->left);
}

void files_get(struct exchange *x)
{
    struct daemon_user user;
    char path[DAEMON_PATH_MAX];
    struct stat info;
    int fd;

    if (!request_path(x, &user, path))
        return;
    /* A FIFO without a writer would block here for ever. */
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            exchange_error(x, 404, "path '%s' does not exist", path);
        else
            exchange_error(x, 500, "error opening file '%s': %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return;
    }
    if (S_ISDIR(info.st_mode)) {
        close(fd);
        exchange_error(x, 400, "path '%s' is a directory", path);
        return;
    }
    if (!S_ISREG(info.st_mode)) {
        close(fd);
        exchange_error(x, 400, "path '%s' is not a regular file", path);
        return;
    }
    if (not_modified(x, &info)) {
        close(fd);
        exchange_head(x, 304, NULL, 0);
        exchange_end(x);
        return;
    }
    answer_file(x, path, fd, &info);
}

/* ---- POST ---- */

struct upload {
    struct daemon_user user;
    char query_path[DAEMON_PATH_MAX]; /* "" if the parts name theirs */
    char path[DAEMON_PATH_MAX];       /* of the file that is being written */
    int fd;
    bool multipart_body;
    struct multipart multipart;
    he2b_json *written; /* the answer */
    int status;         /* of the error; 0: none so far */
    char why[1024];
};

__attribute__((format(printf, 3, 4))) static void upload_fail(struct upload *upload, int status,
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

/* wire D.3: a full disk is 507. */
static void upload_errno(struct upload *upload, int error)
{
    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        upload_fail(upload, 507, "not enough disk space available for '%s'", upload->path);
    else
        upload_fail(upload, 500, "error writing file '%s': %s", upload->path, strerror(error));
}

static void upload_open(struct upload *upload, const char *path)
{
    struct stat info;
    bool exists;
    int error;

    snprintf(upload->path, sizeof(upload->path), "%s", path);
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        upload_fail(upload, 400, "path is a directory: %s", path);
        return;
    }
    exists = stat(path, &info) == 0;
    error = daemon_make_parents(path, &upload->user);
    if (error) {
        upload_fail(upload, error == ENOSPC ? 507 : 500, "error ensuring directories: %s: %s", path,
                    strerror(error));
        return;
    }
    upload->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0644);
    if (upload->fd < 0) {
        upload_errno(upload, errno);
        return;
    }
    if (fchown(upload->fd, upload->user.uid, upload->user.gid) != 0 && !exists && errno != EPERM)
        upload_errno(upload, errno);
}

static void upload_write(struct upload *upload, const char *data, size_t len)
{
    while (len && upload->fd >= 0 && !upload->status) {
        ssize_t n = write(upload->fd, data, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            upload_errno(upload, errno);
            return;
        }
        data += n;
        len -= (size_t)n;
    }
}

static void upload_close(struct upload *upload)
{
    he2b_json *entry;
    const char *name = strrchr(upload->path, '/');

    if (upload->fd < 0)
        return;
    if (close(upload->fd) != 0)
        upload_errno(upload, errno);
    upload->fd = -1;
    if (upload->status)
        return;
    entry = he2b_json_new_object();
    if (entry && he2b_json_add_string(entry, "name", name ? name + 1 : upload->path) == HE2B_OK &&
        he2b_json_add_string(entry, "path", upload->path) == HE2B_OK &&
        he2b_json_add_string(entry, "type", "file") == HE2B_OK)
        (void)he2b_json_append(upload->written, entry);
    else
        he2b_json_del(entry);
}

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
    char why[128];

    if (upload->status || strcmp(name, "file") != 0)
        return;
    if (upload->query_path[0]) {
        snprintf(path, sizeof(path), "%s", upload->query_path);
    } else if (!filename[0]) {
        upload_fail(upload, 400, "path or filename is required");
        return;
    } else if (!daemon_path(path, sizeof(path), filename, &upload->user, why, sizeof(why))) {
        upload_fail(upload, 400, "error resolving path '%s'", filename);
        return;
    }
    if (written_before(upload, path)) {
        upload_fail(upload, 400,
                    "you cannot upload multiple files to the same path '%s' in one upload request",
                    path);
        return;
    }
    upload_open(upload, path);
}

static void on_part_data(void *user, const char *data, size_t len)
{
    upload_write(user, data, len);
}

static void on_part_end(void *user)
{
    upload_close(user);
}

static const struct multipart_events part_events = {on_part, on_part_data, on_part_end};

static void upload_body(struct exchange *x, const char *data, size_t len)
{
    struct upload *upload = x->state;

    if (upload->multipart_body)
        multipart_feed(&upload->multipart, data, len);
    else
        upload_write(upload, data, len);
}

static void upload_end(struct exchange *x)
{
    struct upload *upload = x->state;
    const char *text;
    size_t len = 0;

    if (upload->multipart_body && !multipart_complete(&upload->multipart))
        upload_fail(upload, 500, "error parsing multipart form: unexpected end of the body");
    upload_close(upload);
    if (upload->status) {
        exchange_error(x, upload->status, "%s", upload->why);
        return;
    }
    text = he2b_json_text(upload->written, &len);
    exchange_answer(x, 200, "text/plain; charset=utf-8", text ? text : "[]", text ? len : 2);
}

static void upload_gone(struct exchange *x)
{
    struct upload *upload = x->state;

    if (upload->fd >= 0)
        close(upload->fd);
    if (upload->multipart_body)
        multipart_done(&upload->multipart);
    he2b_json_del(upload->written);
    free(upload);
}

static const struct exchange_ops upload_ops = {
    .body = upload_body,
    .end = upload_end,
    .gone = upload_gone,
};

void files_post(struct exchange *x)
{
    const char *type = exchange_header(x, "content-type");
    const char *encoding = exchange_header(x, "content-encoding");
    struct upload *upload;
    struct daemon_user user;
    char path[DAEMON_PATH_MAX];
    char raw[DAEMON_PATH_MAX];
    bool has_path = exchange_query(x, "path", raw, sizeof(raw)) && raw[0];
    size_t len = type ? strcspn(type, "; ") : 0;
    bool raw_body = len == 24 && strncasecmp(type, "application/octet-stream", 24) == 0;

    if (!request_path(x, &user, path))
        return;
    if (encoding && strcasecmp(encoding, "identity") != 0) {
        exchange_error(x, 400, "unsupported content encoding: %s", encoding);
        return;
    }
    if (!raw_body && !(len == 19 && strncasecmp(type, "multipart/form-data", 19) == 0)) {
        exchange_error(x, 400, "unsupported content type: %s", type ? type : "");
        return;
    }
    if (raw_body && !has_path) {
        exchange_error(x, 400, "path query parameter is required for a raw upload");
        return;
    }
    upload = calloc(1, sizeof(*upload));
    if (!upload || !(upload->written = he2b_json_new_array())) {
        free(upload);
        exchange_error(x, 500, "out of memory");
        return;
    }
    upload->user = user;
    upload->fd = -1;
    if (has_path)
        snprintf(upload->query_path, sizeof(upload->query_path), "%s", path);
    x->state = upload;
    x->ops = &upload_ops;
    if (raw_body) {
        upload_open(upload, path);
        return;
    }
    upload->multipart_body = multipart_init(&upload->multipart, type, &part_events, upload);
    if (!upload->multipart_body)
        upload_fail(upload, 400, "error parsing multipart form: no boundary");
}
