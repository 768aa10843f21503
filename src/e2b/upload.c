#include "e2b/upload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* A command's limit ends it earlier; 16 MiB at half a megabit a second. */
    UPLOAD_MS = 300000,
    /* One whose end nobody knows: no byte goes, and no answer comes. */
    SILENCE_MS = 120000,
};

struct he2b_upload {
    he2b_http *http;
    he2b_upload_fn done;
    void *user;
};

static void on_answer(void *user, const struct he2b_http_result *http, const char *body, size_t len)
{
    struct he2b_upload *upload = user;
    he2b_upload_fn done = upload->done;
    void *owner = upload->user;
    struct he2b_rpc_result result;

    free(upload);
    he2b_rpc_read_plain(&result, http, body, len);
    done(owner, &result);
}

/* What needs no escapes in a query, so that what the daemon reads is what the shell is told. */
static bool plain_path(const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "/._-";

    return path[0] == '/' && path[strspn(path, plain)] == '\0';
}

static int send(struct he2b_upload *upload, const struct he2b_process_target *target,
                const char *path, struct he2b_http_request *request)
{
    static const struct he2b_http_header type = {"Content-Type", "application/octet-stream"};
    struct he2b_http_header headers[HE2B_ENDPOINT_HEADERS + 1];
    struct he2b_endpoint_texts texts;
    char query[HE2B_URL_MAX];
    char url[HE2B_URL_MAX];
    size_t n;
    int error;

    n = (size_t)snprintf(query, sizeof(query), "/files?path=%s", path);
    if (n >= sizeof(query))
        return HE2B_ERR_OVERFLOW;
    error = he2b_endpoint_url(url, sizeof(url), target->endpoint, target->settings, query);
    if (error)
        return error;
    n = he2b_endpoint_headers(headers, &texts, target->endpoint, NULL);
    headers[n + 1] = headers[n];
    headers[n] = type;
    request->method = "POST";
    request->url = url;
    request->headers = headers;
    request->ca_file = target->settings->ca_file;
    request->plain_http_ok = he2b_endpoint_plain_ok(target->settings);
    return he2b_http_ask(&upload->http, target->loop, request, on_answer, upload);
}

static int start(he2b_upload **ret, const struct he2b_process_target *target, const char *path,
                 struct he2b_http_request *request, he2b_upload_fn done, void *user)
{
    struct he2b_upload *upload;
    int error;

    if (!plain_path(path))
        return HE2B_ERR_ARG;
    upload = calloc(1, sizeof(*upload));
    if (!upload)
        return HE2B_ERR_NOMEM;
    upload->done = done;
    upload->user = user;
    error = send(upload, target, path, request);
    if (error) {
        free(upload);
        return error;
    }
    *ret = upload;
    return HE2B_OK;
}

int he2b_upload_start(he2b_upload **ret, const struct he2b_process_target *target, const char *path,
                      const void *data, size_t len, he2b_upload_fn done, void *user)
{
    struct he2b_http_request request = {
        .body = data,
        .body_len = len,
        .total_ms = UPLOAD_MS,
    };

    return start(ret, target, path, &request, done, user);
}

int he2b_upload_pipe(he2b_upload **ret, const struct he2b_process_target *target, const char *path,
                     int fd, he2b_upload_fn done, void *user)
{
    /* HTTP/1.1: so the chunks are the daemon's to read, and no window of a proxy is in between */
    struct he2b_http_request request = {
        .body_piped = true,
        .body_fd = fd,
        .stream = true,
        .silence_ms = SILENCE_MS,
    };

    return start(ret, target, path, &request, done, user);
}

void he2b_upload_cancel(he2b_upload *upload)
{
    if (!upload)
        return;
    he2b_http_cancel(upload->http);
    free(upload);
}
