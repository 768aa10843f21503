#include "local/http_request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    /* asked for at once: chunks are small, a body of known length is bulk */
    BLOCK_CHUNKED = 16 * 1024,
    BLOCK_LENGTH = 64 * 1024,
};

/* Headers of an answer to come, in a list, since the library wants the body first. */
struct http_header {
    struct http_header *next;
    char *value;
    char name[];
};

/* ---- the request ---- */

const char *http_method(const struct http_request *request)
{
    return request->method;
}

const char *http_target(const struct http_request *request)
{
    return request->target;
}

size_t http_path_len(const struct http_request *request)
{
    return strcspn(request->target, "?");
}

bool http_path_is(const struct http_request *request, const char *path)
{
    size_t len = http_path_len(request);
    return strlen(path) == len && memcmp(request->target, path, len) == 0;
}

const char *http_header(const struct http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

struct each {
    void (*fn)(void *user, const char *name, const char *value);
    void *user;
};

static enum MHD_Result each_header(void *user, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    const struct each *each = user;

    (void)kind;
    each->fn(each->user, name, value ? value : "");
    return MHD_YES;
}

void http_each_header(const struct http_request *request,
                      void (*fn)(void *user, const char *name, const char *value), void *user)
{
    struct each each = {fn, user};
    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, each_header, &each);
}

/* ---- what the library is lax about ---- */

struct strict {
    unsigned hosts;
    unsigned lengths;
    unsigned codings;
    bool chunked;
    bool expects_other;
    bool bad_length;
};

static void look(void *user, const char *name, const char *value)
{
    struct strict *seen = user;

    if (strcasecmp(name, "Host") == 0) {
        seen->hosts++;
    } else if (strcasecmp(name, "Content-Length") == 0) {
        seen->lengths++;
        if (*value == '\0' || value[strspn(value, "0123456789")] != '\0')
            seen->bad_length = true;
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        seen->codings++;
        seen->chunked = strcasecmp(value, "chunked") == 0;
    } else if (strcasecmp(name, "Expect") == 0 && strcasecmp(value, "100-continue") != 0) {
        seen->expects_other = true;
    }
}

unsigned http_strict(const struct http_request *request, const char *version, const char **why)
{
    struct strict seen = {0};
    unsigned status = MHD_HTTP_BAD_REQUEST;

    http_each_header(request, look, &seen);
    *why = NULL;
    if (seen.codings > 0 && seen.lengths > 0)
        *why = "both Transfer-Encoding and Content-Length";
    else if (seen.lengths > 1 || seen.bad_length)
        *why = "Content-Length must be one number";
    else if (seen.codings > 1 || (seen.codings > 0 && !seen.chunked))
        *why = "the only Transfer-Encoding that is understood is chunked";
    else if (seen.hosts > 1 || (seen.hosts == 0 && strcmp(version, "HTTP/1.0") != 0))
        *why = "there must be one Host header";
    for (const char *c = request->target; *c && !*why; c++) {
        if (*c <= 0x20 || *c == 0x7f)
            *why = "the target holds a control character";
    }
    if (!*why && seen.expects_other) {
        *why = "the only Expect that is understood is 100-continue";
        status = MHD_HTTP_EXPECTATION_FAILED;
    }
    if (!*why && strlen(request->target) > HTTP_TARGET_MAX) {
        *why = "the target is too long";
        status = MHD_HTTP_URI_TOO_LONG;
    }
    return *why ? status : 0;
}

bool http_expects_continue(const struct http_request *request)
{
    return http_header(request, "Expect") != NULL;
}

/* ---- the answer ---- */

bool http_add_header(struct http_request *request, const char *name, const char *value)
{
    size_t len = strlen(name);
    struct http_header *header;

    if (request->answered || strpbrk(name, "\r\n") || strpbrk(value, "\r\n"))
        return false;
    header = malloc(sizeof *header + len + 1);
    if (!header)
        return false;
    memcpy(header->name, name, len + 1);
    header->value = strdup(value);
    if (!header->value) {
        free(header);
        return false;
    }
    /* the library answers in the reverse of the order in which it was told */
    header->next = request->headers;
    request->headers = header;
    return true;
}

void http_drop_answer(struct http_request *request)
{
    while (request->headers) {
        struct http_header *header = request->headers;
        request->headers = header->next;
        free(header->value);
        free(header);
    }
    if (request->response)
        MHD_destroy_response(request->response);
    request->response = NULL;
}

static void answer(struct http_request *request, unsigned status, struct MHD_Response *response)
{
    request->answered = true;
    request->status = status;
    request->response = response;
    if (!response)
        request->cut = true;
    for (struct http_header *header = request->headers; response && header; header = header->next)
        MHD_add_response_header(response, header->name, header->value);
    http_wake(request);
}

void http_answer(struct http_request *request, unsigned status, const char *content_type,
                 const char *body, size_t len)
{
    union {
        const char *in;
        char *out;
    } cast = {.in = body};

    if (request->answered)
        return;
    if (content_type)
        http_add_header(request, "Content-Type", content_type);
    answer(request, status, MHD_create_response_from_buffer(len, cast.out, MHD_RESPMEM_MUST_COPY));
}

static ssize_t on_more(void *user, uint64_t position, char *out, size_t size)
{
    struct http_request *request = user;
    ssize_t n = request->cut ? HTTP_CUT : request->ops->more(request, out, size);

    (void)position;
    if (n > 0)
        return n;
    if (n == HTTP_END)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (n == HTTP_CUT) {
        http_client_hurry(request->http, request->connection);
        if (request->reset)
            http_reset(request);
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    http_suspend(request);
    return 0;
}

void http_answer_stream(struct http_request *request, unsigned status, int64_t length)
{
    if (request->answered)
        return;
    answer(request, status,
           MHD_create_response_from_callback(length < 0 ? MHD_SIZE_UNKNOWN : (uint64_t)length,
                                             length < 0 ? BLOCK_CHUNKED : BLOCK_LENGTH, on_more,
                                             request, NULL));
}

bool http_is_answered(const struct http_request *request)
{
    return request->answered;
}

enum MHD_Result http_queue(struct http_request *request, bool close)
{
    enum MHD_Result result;

    if (!request->response)
        return MHD_NO;
    if (close)
        MHD_add_response_header(request->response, MHD_HTTP_HEADER_CONNECTION, "close");
    result = MHD_queue_response(request->connection, request->status, request->response);
    MHD_destroy_response(request->response);
    request->response = NULL;
    return result;
}
