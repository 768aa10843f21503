#include "net/http.h"

#include "core/buf.h"
#include "core/text.h"
#include "net/pool.h"
#include "net/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    CONNECT_MS = 10000,
    /* E2B's own heads are below 2 KiB; guards against a header block without end. */
    HEAD_MAX = 64 * 1024,
    /* libcurl's receive buffer per transfer; larger ones gained nothing, smaller cost calls. */
    RECEIVE_SIZE = 32 * 1024,
    TCP_KEEPALIVE_S = 45,
    /* How long an idle connection is kept: as the SDKs do; the edge keeps it twice as long. */
    IDLE_CONNECTION_S = 300,
    /* Nobody waits longer; guards the arithmetic against a server's huge number. */
    RETRY_AFTER_MAX_S = 24 * 3600,
};

struct he2b_http {
    he2b_loop *loop;
    struct he2b_pool *pool;
    CURL *easy; /* NULL: never got as far */
    struct curl_slist *headers;
    struct he2b_http_events events;
    void *user;
    const char *body;
    size_t body_len;
    size_t body_sent;
    bool piped; /* the body comes from body_fd */
    int body_fd;
    he2b_watch *body_watch; /* only while the pipe is empty */
    const char *capture;
    struct he2b_target target;
    struct he2b_http_result result;
    char why[CURL_ERROR_SIZE];
    size_t head_len;
    time_t date; /* of the answer; -1: none */
    char retry_after[64];
    bool sending; /* a connection is there and the request is about to be written */
    int64_t total_ms;
    int64_t silence_ms;
    he2b_timer *total;
    he2b_timer *silence;
    he2b_task *task; /* resume, or the end of a call that failed before libcurl */
};

static void http_free(struct he2b_http *http)
{
    he2b_watch_del(http->body_watch);
    he2b_timer_del(http->total);
    he2b_timer_del(http->silence);
    he2b_task_del(http->task);
    curl_slist_free_all(http->headers);
    free(http);
}

static bool resolving(const struct he2b_http *http)
{
    double looked_up = 0;

    if (http->target.literal || http->sending)
        return false;
    curl_easy_getinfo(http->easy, CURLINFO_NAMELOOKUP_TIME, &looked_up);
    return looked_up == 0;
}

static void leave_pool(struct he2b_http *http)
{
    if (!http->easy)
        return;
    he2b_pool_remove(http->pool, http->easy, resolving(http));
    http->easy = NULL;
}

void he2b_http_cancel(he2b_http *http)
{
    if (!http)
        return;
    leave_pool(http);
    if (http->events.dropped)
        http->events.dropped(http->user);
    http_free(http);
}

/* ---- the end ---- */

/* True if it is certain that no byte of the request left. */
static bool not_sent(const struct he2b_http *http)
{
    long size = 0;

    if (!http->easy || !http->sending)
        return true;
    curl_easy_getinfo(http->easy, CURLINFO_REQUEST_SIZE, &size);
    return size == 0;
}

static enum he2b_http_end classify(const struct he2b_http *http, CURLcode code)
{
    if (code == CURLE_OK)
        return HE2B_HTTP_COMPLETE;
    if (http->result.end == HE2B_HTTP_TOO_LARGE)
        return HE2B_HTTP_TOO_LARGE;
    /* So libcurl ends a header line above its own bound of 100 KiB. */
    if (code == CURLE_OUT_OF_MEMORY && !not_sent(http) && !http->result.status)
        return HE2B_HTTP_TOO_LARGE;
    if (!not_sent(http))
        return HE2B_HTTP_LOST;
    switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CIPHER:
        return HE2B_HTTP_UNTRUSTED;
    case CURLE_OUT_OF_MEMORY:
        return HE2B_HTTP_NOT_SENT;
    default:
        return HE2B_HTTP_UNREACHABLE;
    }
}

/* What libcurl's code and the verdict on the certificate, numbered by OpenSSL, say together. */
static enum he2b_http_distrust why_untrusted(const struct he2b_http *http, CURLcode code)
{
    enum {
        VERDICT_OK = 0,
        VERDICT_NONE = 1, /* libcurl's value for "not asked yet" */
        VERDICT_NOT_YET = 9,
        VERDICT_EXPIRED = 10,
        VERDICT_SELF_SIGNED = 18,
        VERDICT_SELF_SIGNED_IN_CHAIN = 19,
        VERDICT_NO_LOCAL_ISSUER = 20,
        VERDICT_NO_LEAF_SIGNATURE = 21,
        VERDICT_OTHER_HOST = 62,
    };
    long verdict = VERDICT_NONE;

    if (code == CURLE_SSL_CACERT_BADFILE)
        return HE2B_DISTRUST_CA_FILE;
    if (code == CURLE_SSL_CONNECT_ERROR)
        return HE2B_DISTRUST_NO_TLS;
    if (code != CURLE_PEER_FAILED_VERIFICATION)
        return HE2B_DISTRUST_OTHER;
    curl_easy_getinfo(http->easy, CURLINFO_SSL_VERIFYRESULT, &verdict);
    switch (verdict) {
    case VERDICT_OK: /* the names are compared by libcurl itself */
    case VERDICT_NONE:
    case VERDICT_OTHER_HOST:
        return HE2B_DISTRUST_NAME;
    case VERDICT_NOT_YET:
    case VERDICT_EXPIRED:
        return HE2B_DISTRUST_TIME;
    case VERDICT_SELF_SIGNED:
    case VERDICT_SELF_SIGNED_IN_CHAIN:
    case VERDICT_NO_LOCAL_ISSUER:
    case VERDICT_NO_LEAF_SIGNATURE:
        return HE2B_DISTRUST_AUTHORITY;
    default:
        return HE2B_DISTRUST_OTHER;
    }
}

static int64_t retry_ms(int64_t seconds)
{
    return (seconds < RETRY_AFTER_MAX_S ? seconds : RETRY_AFTER_MAX_S) * 1000;
}

static void read_retry_after(struct he2b_http *http)
{
    const char *text = http->retry_after;
    char *end;
    long seconds;
    time_t when;

    http->result.retry_after_ms = -1;
    if (!text[0])
        return;
    seconds = strtol(text, &end, 10);
    if (end != text && *end == '\0' && seconds >= 0) {
        http->result.retry_after_ms = retry_ms(seconds);
        return;
    }
    /* A date counts from the answer's own clock: this host's is not trusted. */
    when = curl_getdate(text, NULL);
    if (when >= 0 && http->date >= 0)
        http->result.retry_after_ms = when > http->date ? retry_ms(when - http->date) : 0;
}

/* Ends the call: out of the pool, one callback, freed. */
static void finish(struct he2b_http *http, enum he2b_http_end end, const char *why)
{
    struct he2b_http_result result;
    void (*done)(void *user, const struct he2b_http_result *result) = http->events.done;
    void *user = http->user;
    long connects = 0;

    if (http->easy)
        curl_easy_getinfo(http->easy, CURLINFO_NUM_CONNECTS, &connects);
    http->result.reused = http->sending && connects == 0;
    http->result.end = end;
    if (why)
        he2b_text_line(http->result.why, sizeof(http->result.why), why, strlen(why));
    read_retry_after(http);
    http->result.date = http->date;
    result = http->result;
    leave_pool(http);
    http_free(http);
    done(user, &result);
}

static void on_done(void *arg, CURLcode code)
{
    struct he2b_http *http = arg;
    const char *why = http->why[0] ? http->why : curl_easy_strerror(code);
    enum he2b_http_end end = classify(http, code);

    if (end == HE2B_HTTP_TOO_LARGE)
        why = "the answer is larger than the bound allows";
    if (end == HE2B_HTTP_UNTRUSTED)
        http->result.distrust = why_untrusted(http, code);
    finish(http, end, end == HE2B_HTTP_COMPLETE ? NULL : why);
}

static void on_total(void *arg)
{
    struct he2b_http *http = arg;
    char why[96];

    snprintf(why, sizeof(why), "no complete answer within %lld s",
             (long long)http->total_ms / 1000);
    finish(http, not_sent(http) ? HE2B_HTTP_UNREACHABLE : HE2B_HTTP_LOST, why);
}

static void on_silence(void *arg)
{
    struct he2b_http *http = arg;
    char why[96];

    snprintf(why, sizeof(why), "nothing was received for %lld s",
             (long long)http->silence_ms / 1000);
    finish(http, not_sent(http) ? HE2B_HTTP_UNREACHABLE : HE2B_HTTP_LOST, why);
}

static void heard(struct he2b_http *http)
{
    if (http->silence)
        (void)he2b_timer_arm(http->silence, http->silence_ms);
}

/* ---- libcurl's callbacks: they store and note, nothing else ---- */

static int on_prereq(void *arg, char *ip, char *local_ip, int port, int local_port)
{
    struct he2b_http *http = arg;

    (void)ip;
    (void)local_ip;
    (void)port;
    (void)local_port;
    /* libcurl tries again on a new connection: not with a body that was handed out (B-47). */
    if (http->body_sent)
        return CURL_PREREQFUNC_ABORT;
    http->sending = true;
    heard(http);
    return CURL_PREREQFUNC_OK;
}

static void on_piped(void *arg, int what)
{
    struct he2b_http *http = arg;

    (void)what;
    he2b_watch_del(http->body_watch);
    http->body_watch = NULL;
    he2b_task_schedule(http->task);
}

static size_t read_piped(struct he2b_http *http, char *buffer, size_t size)
{
    ssize_t n;

    do
        n = read(http->body_fd, buffer, size);
    while (n < 0 && errno == EINTR);
    if (n >= 0) {
        http->body_sent += (size_t)n;
        heard(http);
        return (size_t)n;
    }
    if (errno != EAGAIN ||
        (!http->body_watch && he2b_watch_new(&http->body_watch, http->loop, http->body_fd,
                                             HE2B_WATCH_READ, on_piped, http) != HE2B_OK))
        return CURL_READFUNC_ABORT;
    /* the one who is silent is this side */
    if (http->silence)
        he2b_timer_disarm(http->silence);
    return CURL_READFUNC_PAUSE;
}

/* A body comes from here and there is no way back in it: so libcurl cannot send it twice (B-47). */
static size_t on_read(char *buffer, size_t size, size_t count, void *arg)
{
    struct he2b_http *http = arg;
    size_t n = size * count;

    if (http->piped)
        return read_piped(http, buffer, n);
    if (n > http->body_len - http->body_sent)
        n = http->body_len - http->body_sent;
    if (n)
        memcpy(buffer, http->body + http->body_sent, n);
    http->body_sent += n;
    return n;
}

/* The value of the header name, trimmed, if line is one. */
static bool header_value(const char *line, size_t len, const char *name, char *out, size_t size)
{
    size_t name_len = strlen(name);

    if (len <= name_len || strncasecmp(line, name, name_len) != 0 || line[name_len] != ':')
        return false;
    he2b_text_line(out, size, line + name_len + 1, len - name_len - 1);
    return true;
}

static void capture_header(struct he2b_http *http, const char *line, size_t len)
{
    struct he2b_http_result *result = &http->result;

    if (http->capture &&
        header_value(line, len, http->capture, result->captured, sizeof(result->captured)))
        result->captured_cut = len - strlen(http->capture) > sizeof(result->captured);
}

static void read_header(struct he2b_http *http, const char *line, size_t len)
{
    char value[128];
    size_t i;

    capture_header(http, line, len);
    if (header_value(line, len, "content-type", value, sizeof(value))) {
        for (i = 0; value[i] && value[i] != ';' && i < sizeof(http->result.content_type) - 1; i++)
            http->result.content_type[i] =
                value[i] >= 'A' && value[i] <= 'Z' ? (char)(value[i] - 'A' + 'a') : value[i];
        while (i > 0 && http->result.content_type[i - 1] == ' ')
            i--;
        http->result.content_type[i] = '\0';
    } else if (header_value(line, len, "retry-after", value, sizeof(value))) {
        snprintf(http->retry_after, sizeof(http->retry_after), "%.63s", value);
    } else if (header_value(line, len, "date", value, sizeof(value))) {
        http->date = curl_getdate(value, NULL);
    } else if (header_value(line, len, "should-retry", value, sizeof(value))) {
        http->result.should_retry_false = strcasecmp(value, "false") == 0;
    }
}

static size_t on_header(char *line, size_t size, size_t count, void *arg)
{
    struct he2b_http *http = arg;
    size_t len = size * count;
    long status = 0;

    heard(http);
    http->head_len += len;
    if (http->head_len > HEAD_MAX) {
        http->result.end = HE2B_HTTP_TOO_LARGE;
        return 0;
    }
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0) {
        /* A new head: the one before was an interim answer. */
        http->result.content_type[0] = '\0';
        http->retry_after[0] = '\0';
        http->result.captured[0] = '\0';
        http->result.captured_cut = false;
        http->date = -1;
        return len;
    }
    read_header(http, line, len);
    if (len <= 2 && (line[0] == '\r' || line[0] == '\n')) {
        curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &status);
        http->result.status = (int)status;
        if (status >= 200 && http->events.head)
            http->events.head(http->user, &http->result);
    }
    return len;
}

static size_t on_write(char *data, size_t size, size_t count, void *arg)
{
    struct he2b_http *http = arg;
    size_t len = size * count;
    size_t taken;

    if (!len)
        return 0;
    taken = http->events.body(http->user, data, len);
    if (taken == len) {
        heard(http);
        return len;
    }
    if (taken) {
        http->result.end = HE2B_HTTP_TOO_LARGE;
        return CURL_WRITEFUNC_ERROR;
    }
    /* The one who does not read is this side: silence says nothing about the peer now. */
    if (http->silence)
        he2b_timer_disarm(http->silence);
    return CURL_WRITEFUNC_PAUSE;
}

/* ---- the start ---- */

static void on_task(void *arg)
{
    struct he2b_http *http = arg;

    if (!http->easy) {
        finish(http, http->result.end, http->why);
        return;
    }
    heard(http);
    he2b_pool_unpause(http->pool, http->easy);
}

void he2b_http_resume(he2b_http *http)
{
    he2b_task_schedule(http->task);
}

static int copy_headers(struct he2b_http *http, const struct he2b_http_header *headers)
{
    for (; headers && headers->name; headers++) {
        struct he2b_buf line;
        struct curl_slist *longer = NULL;

        he2b_buf_init(&line, HEAD_MAX);
        /* "Name:" without a value takes out the header that libcurl would send by itself. */
        if (he2b_buf_addf(&line, headers->value[0] ? "%s: %s" : "%s:", headers->name,
                          headers->value) == HE2B_OK)
            longer = curl_slist_append(http->headers, he2b_buf_str(&line));
        he2b_buf_free(&line);
        if (!longer)
            return HE2B_ERR_NOMEM;
        http->headers = longer;
    }
    return HE2B_OK;
}

static bool set_method(struct he2b_http *http, const struct he2b_http_request *request)
{
    CURL *easy = http->easy;
    bool ok = true;

    if (request->body || strcmp(request->method, "POST") == 0) {
        ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_POST, 1L);
        ok &=
            CURLE_OK == curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                                         request->body_piped ? -1 : (curl_off_t)request->body_len);
        ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
        ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_READDATA, http);
    }
    if (strcmp(request->method, "POST") != 0)
        ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
    return ok;
}

/* False if one option could not be set: without it the request would not be the one that is meant.
 */
static bool set_options(struct he2b_http *http, const struct he2b_http_request *request,
                        const char *ca_file)
{
    CURL *easy = http->easy;
    bool ok = true;

    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_URL, request->url);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "https");
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)IDLE_CONNECTION_S);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)TCP_KEEPALIVE_S);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)TCP_KEEPALIVE_S);
    ok &= CURLE_OK ==
          curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                           (long)(request->connect_ms ? request->connect_ms : CONNECT_MS));
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_SIZE);
    /* A libcurl without HTTP/2 refuses the second one and speaks HTTP/1.1. */
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                     request->stream ? (long)CURL_HTTP_VERSION_1_1 : (long)CURL_HTTP_VERSION_2TLS);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_USERAGENT, "hermes-e2b/" HE2B_VERSION);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_HTTPHEADER, http->headers);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, http->why);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_PRIVATE, http);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_prereq);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_PREREQDATA, http);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_HEADERDATA, http);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_write);
    ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_WRITEDATA, http);
    /* Loopback is never asked through a proxy, and no key goes through one in clear text. */
    if (http->target.loopback || !http->target.https)
        ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_PROXY, "");
    if (ca_file)
        ok &= CURLE_OK == curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file);
    return set_method(http, request) && ok;
}

static int set_timers(struct he2b_http *http, const struct he2b_http_request *request)
{
    int error = HE2B_OK;

    http->total_ms = request->total_ms;
    http->silence_ms = request->silence_ms;
    if (request->total_ms) {
        error = he2b_timer_new(&http->total, http->loop, on_total, http);
        if (!error)
            error = he2b_timer_arm(http->total, request->total_ms);
    }
    if (!error && request->silence_ms) {
        error = he2b_timer_new(&http->silence, http->loop, on_silence, http);
        if (!error)
            error = he2b_timer_arm(http->silence, request->silence_ms);
    }
    return error;
}

/* What forbids this request before anything is contacted: the reason, or NULL. */
static const char *forbidden(struct he2b_http *http, const struct he2b_http_request *request,
                             const char **ret_ca, char *why, size_t size)
{
    char tried[400];

    *ret_ca = NULL;
    if (he2b_target_read(&http->target, request->url) != HE2B_OK) {
        http->result.end = HE2B_HTTP_UNREACHABLE;
        return "the URL is not one of http or https";
    }
    if (!http->target.https) {
        if (http->target.loopback || request->plain_http_ok)
            return NULL;
        http->result.end = HE2B_HTTP_UNTRUSTED;
        http->result.distrust = HE2B_DISTRUST_PLAIN;
        return "plain http is only allowed to loopback, or where the URL was set by the user";
    }
    http->result.by_proxy = !http->target.loopback && he2b_proxy_is_set();
    *ret_ca = he2b_ca_file(request->ca_file, tried, sizeof(tried));
    if (*ret_ca) {
        he2b_text_line(http->result.ca_file, sizeof(http->result.ca_file), *ret_ca,
                       strlen(*ret_ca));
        return NULL;
    }
    http->result.end = HE2B_HTTP_UNTRUSTED;
    http->result.distrust = HE2B_DISTRUST_NO_CA;
    snprintf(why, size, "no CA certificates were found; looked at %s", tried);
    return why;
}

int he2b_http_start(he2b_http **ret, he2b_loop *loop, const struct he2b_http_request *request,
                    const struct he2b_http_events *events, void *user)
{
    struct he2b_http *http = calloc(1, sizeof(*http));
    char why[512];
    const char *reason;
    const char *ca_file;
    int error;

    if (!http)
        return HE2B_ERR_NOMEM;
    http->loop = loop;
    http->events = *events;
    http->user = user;
    http->body = request->body;
    http->body_len = request->body ? request->body_len : 0;
    http->piped = request->body_piped;
    http->body_fd = request->body_fd;
    http->capture = request->capture;
    http->date = -1;
    http->result.date = -1;
    http->result.retry_after_ms = -1;
    error = he2b_pool_get(&http->pool, loop);
    if (!error)
        error = he2b_task_new(&http->task, loop, on_task, http);
    if (!error)
        error = copy_headers(http, request->headers);
    if (error)
        goto fail;
    reason = forbidden(http, request, &ca_file, why, sizeof(why));
    if (reason) {
        he2b_text_line(http->why, sizeof(http->why), reason, strlen(reason));
        he2b_task_schedule(http->task);
        *ret = http;
        return HE2B_OK;
    }
    error = HE2B_ERR_NOMEM;
    http->easy = curl_easy_init();
    if (!http->easy)
        goto fail;
    error = set_options(http, request, ca_file) ? set_timers(http, request) : HE2B_ERR_NOMEM;
    if (!error)
        error = he2b_pool_add(http->pool, http->easy, on_done, http);
    if (error) {
        curl_easy_cleanup(http->easy);
        goto fail;
    }
    *ret = http;
    return HE2B_OK;
fail:
    http_free(http);
    return error;
}
