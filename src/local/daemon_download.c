/* GET /files (wire D.2), identity. */
#include "he2b.h"
#include "local/daemon.h"
#include "local/daemon_exchange.h"
#include "local/daemon_files.h"
#include "local/daemon_range.h"
#include "local/daemon_user.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

struct download {
    int fd;
    int64_t left;
};

static void go_on(struct exchange *x)
{
    static char piece[FILES_PIECE];
    struct download *download = exchange_state(x);

    while (download->left > 0 && exchange_unread(x) <= EXCHANGE_UNREAD_MAX) {
        size_t want = download->left < FILES_PIECE ? (size_t)download->left : FILES_PIECE;
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
    if (download->left == 0)
        exchange_end(x);
}

static void gone(struct exchange *x)
{
    struct download *download = exchange_state(x);

    close(download->fd);
    free(download);
}

static const struct exchange_ops download_ops = {.end = go_on, .drained = go_on, .gone = gone};

/* ---- the head ---- */

static const char *type_by_name(const char *path)
{
    static const char *const types[][2] = {
        {".css", "text/css; charset=utf-8"},
        {".gif", "image/gif"},
        {".htm", "text/html; charset=utf-8"},
        {".html", "text/html; charset=utf-8"},
        {".jpeg", "image/jpeg"},
        {".jpg", "image/jpeg"},
        {".js", "text/javascript; charset=utf-8"},
        {".json", "application/json"},
        {".pdf", "application/pdf"},
        {".png", "image/png"},
        {".svg", "image/svg+xml"},
        {".txt", "text/plain; charset=utf-8"},
        {".webp", "image/webp"},
        {".xml", "text/xml; charset=utf-8"},
    };
    const char *dot = strrchr(path, '.');
    size_t i;

    for (i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcasecmp(dot, types[i][0]) == 0)
            return types[i][1];
    }
    return NULL;
}

/* Text has no control bytes but white space and ESC. */
static const char *type_by_content(int fd)
{
    char bytes[512];
    ssize_t n = pread(fd, bytes, sizeof(bytes), 0);
    ssize_t i;

    for (i = 0; i < n; i++) {
        if (iscntrl((unsigned char)bytes[i]) && !strchr("\t\n\f\r\033", bytes[i] ? bytes[i] : 1))
            return "application/octet-stream";
    }
    return "text/plain; charset=utf-8";
}

/* inline; filename=..., in the form that holds any name (RFC 6266). */
static void disposition(char *out, size_t size, const char *name)
{
    static const char plain[] = "!#$&+-.^_`|~";
    size_t used = (size_t)snprintf(out, size, "inline; filename");
    const unsigned char *c = (const unsigned char *)name;
    bool token = true;

    for (; *c; c++)
        token = token && *c < 0x80 && (isalnum(*c) || strchr(plain, *c));
    used += (size_t)snprintf(out + used, size - used, token ? "=" : "*=utf-8''");
    for (c = (const unsigned char *)name; *c && used + 4 < size; c++) {
        if (*c < 0x80 && (isalnum(*c) || strchr(plain, *c)))
            out[used++] = (char)*c;
        else
            used += (size_t)snprintf(out + used, size - used, "%%%02X", *c);
    }
    out[used] = '\0';
}

static void add(he2b_json *headers, const char *name, const char *value)
{
    if (headers)
        (void)he2b_json_add_string(headers, name, value);
}

static he2b_json *make_headers(const char *path, int fd, const struct stat *info)
{
    he2b_json *headers = he2b_json_new_object();
    const char *type = type_by_name(path);
    /* a name has at most 255 bytes */
    char text[3 * 256 + 64];

    range_date(text, info->st_mtime);
    add(headers, "Last-Modified", text);
    add(headers, "Accept-Ranges", "bytes");
    add(headers, "Content-Type", type ? type : type_by_content(fd));
    add(headers, "Vary", "Accept-Encoding");
    disposition(text, sizeof(text), strrchr(path, '/') + 1);
    add(headers, "Content-Disposition", text);
    return headers;
}

static void say_outside(struct exchange *x, int64_t size)
{
    char text[64];

    snprintf(text, sizeof(text), "bytes */%lld", (long long)size);
    exchange_text(x, 416, "invalid range: failed to overlap\n", "Content-Range", text);
}

static bool not_modified(const struct exchange *x, const struct stat *info)
{
    time_t since = range_read_date(exchange_header(x, "if-modified-since"));

    return since >= 0 && info->st_mtime <= since;
}

/* Takes over fd. */
static void answer(struct exchange *x, const char *path, int fd, const struct stat *info)
{
    int64_t first = 0;
    int64_t last = info->st_size - 1;
    enum range_found range = range_read(exchange_header(x, "range"), info->st_size, &first, &last);
    struct download *download;
    he2b_json *headers;
    char text[96];

    if (not_modified(x, info)) {
        exchange_head(x, 304, make_headers(path, fd, info), 0);
        exchange_end(x);
        close(fd);
        return;
    }
    download = calloc(1, sizeof(*download));
    if (range == RANGE_OUTSIDE || !download || lseek(fd, first, SEEK_SET) != first) {
        if (range == RANGE_OUTSIDE)
            say_outside(x, info->st_size);
        else
            exchange_error(x, 500, "error reading file '%s': %s", path, strerror(errno));
        free(download);
        close(fd);
        return;
    }
    headers = make_headers(path, fd, info);
    if (range == RANGE_GIVEN) {
        snprintf(text, sizeof(text), "bytes %lld-%lld/%lld", (long long)first, (long long)last,
                 (long long)info->st_size);
        add(headers, "Content-Range", text);
    }
    download->fd = fd;
    download->left = last - first + 1;
    exchange_handle(x, &download_ops, download);
    exchange_head(x, range == RANGE_GIVEN ? 206 : 200, headers, download->left);
}

void files_download(struct exchange *x)
{
    struct daemon_user user;
    char path[DAEMON_PATH_MAX];
    struct stat info;
    int error = 0;
    int fd;

    if (!files_path(x, path, &user))
        return;
    /* a FIFO without a writer would wait for one */
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info) != 0)
        error = errno;
    if (!error && S_ISREG(info.st_mode)) {
        answer(x, path, fd, &info);
        return;
    }
    if (fd >= 0)
        close(fd);
    if (error == ENOENT)
        exchange_error(x, 404, "path '%s' does not exist", path);
    else if (error)
        exchange_error(x, 500, "error opening file '%s': %s", path, strerror(error));
    else if (S_ISDIR(info.st_mode))
        exchange_error(x, 400, "path '%s' is a directory", path);
    else
        exchange_error(x, 400, "path '%s' is not a regular file", path);
}
