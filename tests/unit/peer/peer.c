#include "tests/unit/peer/peer.h"

#include "tests/unit/peer/proto.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 64,
    BACKLOG = 64,
    ENVELOPE = 5,
};

struct peer_line {
    struct peer *peer;
    pthread_t thread;
    int fd;
    unsigned number;
};

struct peer {
    int fd;
    char url[PEER_URL_MAX];
    peer_serve_fn serve;
    void *user;
    pthread_t thread;
    pthread_mutex_t lock;
    struct peer_line lines[CONNECTIONS_MAX];
    unsigned count;
    bool ending;
    bool json_only;
    unsigned refusals;
};

/* A test whose scaffold fails has nothing to say. */
static void must(bool ok, const char *what)
{
    if (!ok) {
        perror(what);
        abort();
    }
}

/* ---- gates ---- */

void peer_gate_init(struct peer_gate *gate)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, &attributes);
    gate->count = 0;
}

void peer_gate_raise(struct peer_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->count++;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

bool peer_gate_wait(struct peer_gate *gate, unsigned count)
{
    struct timespec until;
    bool reached;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PEER_DEADLINE_S;
    pthread_mutex_lock(&gate->lock);
    while (gate->count < count &&
           pthread_cond_timedwait(&gate->changed, &gate->lock, &until) == 0) {
    }
    reached = gate->count >= count;
    pthread_mutex_unlock(&gate->lock);
    return reached;
}

unsigned peer_gate_count(struct peer_gate *gate)
{
    unsigned count;

    pthread_mutex_lock(&gate->lock);
    count = gate->count;
    pthread_mutex_unlock(&gate->lock);
    return count;
}

/* ---- reading ---- */

bool peer_header(const struct peer_request *request, const char *name, char *out, size_t size)
{
    const char *line = request->head;
    size_t len = strlen(name);

    while (*line) {
        size_t end = strcspn(line, "\r\n");

        if (end > len && line[len] == ':' && strncasecmp(line, name, len) == 0) {
            const char *value = line + len + 1;

            value += strspn(value, " ");
            snprintf(out, size, "%.*s", (int)(line + end - value), value);
            return true;
        }
        line += end;
        line += strspn(line, "\r\n");
    }
    return false;
}

static bool read_byte(int fd, char *ret)
{
    ssize_t n;

    do {
        n = recv(fd, ret, 1, 0);
    } while (n < 0 && errno == EINTR);
    return n == 1;
}

/* Head byte by byte: a test has time. */
static bool read_head(struct peer_request *request)
{
    size_t len = 0;
    char *end;

    while (len < 4 || memcmp(request->head + len - 4, "\r\n\r\n", 4) != 0) {
        if (len == sizeof(request->head) - 1 || !read_byte(request->fd, request->head + len))
            return false;
        len++;
    }
    request->head[len] = '\0';
    end = strstr(request->head, "\r\n");
    if (sscanf(request->head, "%15s %511s", request->method, request->path) != 2)
        return false;
    memmove(request->head, end + 2, strlen(end + 2) + 1);
    return true;
}

static bool read_chunk_size(int fd, size_t *ret)
{
    char line[32];
    size_t len = 0;

    while (len < 2 || line[len - 1] != '\n') {
        if (len == sizeof(line) - 1 || !read_byte(fd, line + len))
            return false;
        len++;
    }
    line[len] = '\0';
    *ret = strtoul(line, NULL, 16);
    return true;
}

static bool read_exactly(struct peer_request *request, size_t n)
{
    request->body = realloc(request->body, request->body_len + n + 1);
    must(request->body != NULL, "realloc");
    while (n) {
        ssize_t got = recv(request->fd, request->body + request->body_len, n, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        request->body_len += (size_t)got;
        n -= (size_t)got;
    }
    request->body[request->body_len] = '\0';
    return true;
}

static bool read_body(struct peer_request *request)
{
    char value[64];
    char crlf;

    if (peer_header(request, "Transfer-Encoding", value, sizeof(value))) {
        size_t n;

        do {
            if (!read_chunk_size(request->fd, &n) || !read_exactly(request, n) ||
                !read_byte(request->fd, &crlf) || !read_byte(request->fd, &crlf))
                return false;
        } while (n);
        return true;
    }
    if (!peer_header(request, "Content-Length", value, sizeof(value)))
        return read_exactly(request, 0);
    return read_exactly(request, strtoul(value, NULL, 10));
}

/* A message in protobuf becomes the same in JSON. False: it was refused. */
static bool understand(struct peer_request *request)
{
    struct peer *peer = request->peer;
    const char *method = strrchr(request->path, '/');
    char type[64] = "";
    size_t prefix;
    char *json;

    peer_header(request, "Content-Type", type, sizeof(type));
    request->binary =
        strcmp(type, "application/connect+proto") == 0 || strcmp(type, "application/proto") == 0;
    if (!request->binary)
        return true;
    pthread_mutex_lock(&peer->lock);
    peer->refusals += peer->json_only;
    pthread_mutex_unlock(&peer->lock);
    if (peer->json_only) {
        peer_answer_with(request, 415, "text/plain",
                         "Accept-Post: application/connect+json, application/json\r\n", "");
        return false;
    }
    prefix = strstr(type, "connect") ? ENVELOPE : 0;
    must(method && request->body_len >= prefix, "a message in protobuf");
    json = proto_request(method + 1, request->body + prefix, request->body_len - prefix);
    must(json != NULL, "the message is not protobuf as it should be");
    request->body_len = prefix + strlen(json);
    request->body = realloc(request->body, request->body_len + 1);
    must(request->body != NULL, "realloc");
    memcpy(request->body + prefix, json, strlen(json) + 1);
    free(json);
    return true;
}

static void *serve_line(void *arg)
{
    struct peer_line *line = arg;
    struct peer_request *request = calloc(1, sizeof(*request));
    bool go_on = true;

    must(request != NULL, "calloc");
    while (go_on) {
        memset(request, 0, sizeof(*request));
        request->peer = line->peer;
        request->fd = line->fd;
        request->connection = line->number;
        go_on = read_head(request) && read_body(request);
        if (go_on && understand(request))
            line->peer->serve(request, line->peer->user);
        go_on = go_on && !request->close;
        free(request->body);
    }
    free(request);
    /* closed by peer_del(): a number that is in use again could be shut down by mistake */
    shutdown(line->fd, SHUT_RDWR);
    return NULL;
}

static void *accept_lines(void *arg)
{
    struct peer *peer = arg;

    for (;;) {
        int fd = accept4(peer->fd, NULL, NULL, SOCK_CLOEXEC);
        struct peer_line *line;
        int one = 1;

        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0)
            return NULL;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        pthread_mutex_lock(&peer->lock);
        must(peer->count < CONNECTIONS_MAX, "too many connections");
        line = &peer->lines[peer->count++];
        line->peer = peer;
        line->fd = fd;
        line->number = peer->count;
        must(pthread_create(&line->thread, NULL, serve_line, line) == 0, "pthread_create");
        pthread_mutex_unlock(&peer->lock);
    }
}

/* ---- the whole ---- */

struct peer *peer_new(peer_serve_fn serve, void *user)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    struct peer *peer = calloc(1, sizeof(*peer));

    must(peer != NULL, "calloc");
    peer->serve = serve;
    peer->user = user;
    pthread_mutex_init(&peer->lock, NULL);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    peer->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(peer->fd >= 0, "socket");
    must(bind(peer->fd, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
    must(listen(peer->fd, BACKLOG) == 0, "listen");
    must(getsockname(peer->fd, (struct sockaddr *)&address, &size) == 0, "getsockname");
    snprintf(peer->url, sizeof(peer->url), "http://127.0.0.1:%d", ntohs(address.sin_port));
    must(pthread_create(&peer->thread, NULL, accept_lines, peer) == 0, "pthread_create");
    return peer;
}

void peer_del(struct peer *peer)
{
    unsigned i;

    shutdown(peer->fd, SHUT_RDWR);
    pthread_join(peer->thread, NULL);
    for (i = 0; i < peer->count; i++)
        shutdown(peer->lines[i].fd, SHUT_RDWR);
    for (i = 0; i < peer->count; i++) {
        pthread_join(peer->lines[i].thread, NULL);
        close(peer->lines[i].fd);
    }
    close(peer->fd);
    pthread_mutex_destroy(&peer->lock);
    free(peer);
}

const char *peer_url(const struct peer *peer)
{
    return peer->url;
}

unsigned peer_connections(struct peer *peer)
{
    unsigned count;

    pthread_mutex_lock(&peer->lock);
    count = peer->count;
    pthread_mutex_unlock(&peer->lock);
    return count;
}

void peer_json_only(struct peer *peer)
{
    peer->json_only = true;
}

unsigned peer_refusals(struct peer *peer)
{
    unsigned count;

    pthread_mutex_lock(&peer->lock);
    count = peer->refusals;
    pthread_mutex_unlock(&peer->lock);
    return count;
}

/* ---- answering ---- */

bool peer_send(struct peer_request *request, const void *data, size_t len)
{
    const char *bytes = data;

    while (len) {
        ssize_t n = send(request->fd, bytes, len, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            request->close = true;
            return false;
        }
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

bool peer_answer_with(struct peer_request *request, int status, const char *type,
                      const char *headers, const char *body)
{
    char head[1024];
    int len;

    if (request->binary && status == 200) {
        /* what there is to say in a unary answer: nothing, at some length */
        type = "application/proto";
        body = "";
    }
    len = snprintf(head, sizeof(head),
                   "HTTP/1.1 %d Status\r\nContent-Type: %s\r\n%sContent-Length: %zu\r\n\r\n",
                   status, type, headers, strlen(body));

    must(len > 0 && (size_t)len < sizeof(head), "head");
    return peer_send(request, head, (size_t)len) && peer_send(request, body, strlen(body));
}

bool peer_answer(struct peer_request *request, int status, const char *type, const char *body)
{
    return peer_answer_with(request, status, type, "", body);
}

static bool send_chunk(struct peer_request *request, const void *data, size_t len)
{
    char size[24];
    int n = snprintf(size, sizeof(size), "%zx\r\n", len);

    return peer_send(request, size, (size_t)n) && peer_send(request, data, len) &&
           peer_send(request, "\r\n", 2);
}

bool peer_stream_begin(struct peer_request *request)
{
    char head[128];
    int len = snprintf(head, sizeof(head),
                       "HTTP/1.1 200 OK\r\nContent-Type: application/connect+%s\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n",
                       request->binary ? "proto" : "json");

    return peer_send(request, head, (size_t)len);
}

/* Adds an envelope to out, which has room for it; returns its size. */
static size_t put_envelope(char *out, int flags, const char *data, size_t len)
{
    out[0] = (char)flags;
    out[1] = (char)(len >> 24);
    out[2] = (char)(len >> 16);
    out[3] = (char)(len >> 8);
    out[4] = (char)len;
    memcpy(out + 5, data, len);
    return 5 + len;
}

bool peer_envelope(struct peer_request *request, int flags, const char *data, size_t len)
{
    char *message = malloc(5 + len);
    bool ok;

    must(message != NULL, "malloc");
    ok = send_chunk(request, message, put_envelope(message, flags, data, len));
    free(message);
    return ok;
}

/* A message in the request's codec, allocated. */
static char *encode(const struct peer_request *request, const char *json, size_t *ret_len)
{
    char *bytes = request->binary ? proto_event(json, ret_len) : NULL;

    /* what is no event is as wrong in this codec */
    if (!bytes) {
        bytes = strdup(json);
        *ret_len = strlen(json);
    }
    must(bytes != NULL, "strdup");
    return bytes;
}

bool peer_message(struct peer_request *request, const char *json)
{
    size_t len = 0;
    char *bytes = encode(request, json, &len);
    bool ok = peer_envelope(request, 0, bytes, len);

    free(bytes);
    return ok;
}

bool peer_two_messages(struct peer_request *request, const char *first, const char *second)
{
    size_t first_len = 0;
    size_t second_len = 0;
    char *first_bytes = encode(request, first, &first_len);
    char *second_bytes = encode(request, second, &second_len);
    char *chunk = malloc(5 + first_len + 5 + second_len);
    size_t len;
    bool ok;

    must(chunk != NULL, "malloc");
    len = put_envelope(chunk, 0, first_bytes, first_len);
    len += put_envelope(chunk + len, 0, second_bytes, second_len);
    ok = send_chunk(request, chunk, len);
    free(chunk);
    free(second_bytes);
    free(first_bytes);
    return ok;
}

bool peer_stream_end(struct peer_request *request, const char *json)
{
    return peer_envelope(request, 2, json, strlen(json)) && send_chunk(request, "", 0);
}

static bool put_data(struct peer_request *request, const char *data, size_t len, bool errors)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char before_output[] = "{\"event\":{\"data\":{\"stdout\":\"";
    static const char before_errors[] = "{\"event\":{\"data\":{\"stderr\":\"";
    const char *before = errors ? before_errors : before_output;
    static const char after[] = "\"}}}";
    char *json;
    char *at;
    size_t i;
    bool ok;

    if (request->binary) {
        json = proto_output(data, len, errors, &i);
        ok = peer_envelope(request, 0, json, i);
        free(json);
        return ok;
    }
    json = malloc(sizeof(before_output) + sizeof(after) + len * 4 / 3 + 8);
    must(json != NULL, "malloc");
    at = stpcpy(json, before);
    for (i = 0; i < len; i += 3) {
        uint32_t three = (uint32_t)(unsigned char)data[i] << 16;

        if (i + 1 < len)
            three |= (uint32_t)(unsigned char)data[i + 1] << 8;
        if (i + 2 < len)
            three |= (unsigned char)data[i + 2];
        *at++ = digits[three >> 18];
        *at++ = digits[three >> 12 & 63];
        *at++ = i + 1 < len ? digits[three >> 6 & 63] : '=';
        *at++ = i + 2 < len ? digits[three & 63] : '=';
    }
    strcpy(at, after);
    ok = peer_message(request, json);
    free(json);
    return ok;
}

bool peer_output(struct peer_request *request, const char *data, size_t len)
{
    return put_data(request, data, len, false);
}

bool peer_errors(struct peer_request *request, const char *data, size_t len)
{
    return put_data(request, data, len, true);
}

void peer_reset(struct peer_request *request)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    int spare = open("/dev/null", O_RDONLY | O_CLOEXEC);

    must(spare >= 0, "open");
    /* dup2() closes the socket, with RST, and keeps its number taken */
    setsockopt(request->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    must(dup3(spare, request->fd, O_CLOEXEC) >= 0, "dup3");
    close(spare);
    request->close = true;
}

bool peer_wait_closed(struct peer_request *request)
{
    struct pollfd closed = {.fd = request->fd, .events = POLLRDHUP};

    request->close = true;
    return poll(&closed, 1, PEER_DEADLINE_S * 1000) == 1;
}
