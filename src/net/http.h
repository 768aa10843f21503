/*
 * HTTP calls over one curl multi handle per loop: streaming, back-pressure, no blocking. The only
 * file that knows libcurl is http.c (and loop.c, which lends it descriptors and a timer).
 *
 * What never happens: redirects (B-101), other protocols than http and https, waiting for
 * "100 Continue", a second sending of a body that starts something (B-47).
 */
#ifndef HE2B_NET_HTTP_H
#define HE2B_NET_HTTP_H

#include "core/failure.h"
#include "net/loop.h"

#include <stdbool.h>
#include <stddef.h>

/* Where a call ended, apart from any status. */
enum he2b_http_end {
    HE2B_HTTP_COMPLETE = 1,    /* the whole answer was received */
    HE2B_HTTP_NOT_SENT = 2,    /* failed before a byte of the request left: it did nothing */
    HE2B_HTTP_UNREACHABLE = 3, /* as NOT_SENT: no connection (refused, unresolved, proxy, limit) */
    HE2B_HTTP_UNTRUSTED = 4,   /* as NOT_SENT: TLS refused */
    HE2B_HTTP_LOST = 5,        /* sent in whole or part, then cut, silent or out of time */
    HE2B_HTTP_TOO_LARGE = 6,   /* answer head or body above the bound; dropped */
};

enum {
    /* E2B's page tokens are below 200 bytes; guards what each call carries about. */
    HE2B_HTTP_CAPTURED_MAX = 512,
};

/* Why TLS was refused, as far as the TLS library says it. */
enum he2b_http_distrust {
    HE2B_DISTRUST_OTHER = 0,
    HE2B_DISTRUST_AUTHORITY = 1, /* no CA that is known here vouches for the certificate */
    HE2B_DISTRUST_TIME = 2,      /* expired, or not valid yet by this host's clock */
    HE2B_DISTRUST_NAME = 3,      /* the certificate is another host's */
    HE2B_DISTRUST_CA_FILE = 4,   /* the CA file cannot be used */
    HE2B_DISTRUST_NO_CA = 5,     /* there is no CA file */
    HE2B_DISTRUST_NO_TLS =
        6, /* what listens there does not speak TLS, or none that is spoken here */
    HE2B_DISTRUST_PLAIN = 7, /* plain http beyond loopback */
};

struct he2b_http_result {
    enum he2b_http_end end;
    enum he2b_http_distrust distrust; /* when end is UNTRUSTED */
    bool by_proxy;                    /* the environment may have sent it through a proxy */
    int status;                       /* 0 if no head was received */
    char content_type[96];            /* lower case, without parameters; "" if none */
    int64_t retry_after_ms;  /* Retry-After as seconds or date, relative to Date; -1: none */
    bool should_retry_false; /* Should-Retry: false (wire H) */
    int64_t date;            /* the Date header, in seconds since 1970; -1: none */
    bool captured_cut;       /* the value of the header asked for did not fit */
    char captured[HE2B_HTTP_CAPTURED_MAX]; /* it, as one line; "" if there was none */
    char ca_file[128];                     /* what was trusted; "" if nothing was looked for */
    char why[256];                         /* libcurl's words when end is not COMPLETE; one line */
    bool reused;                           /* went over a connection that was open before */
};

struct he2b_http_header {
    const char *name;
    const char *value;
};

/* One request, borrowed during he2b_http_start() only, but for body. */
struct he2b_http_request {
    const char *method;
    const char *url;
    const struct he2b_http_header *headers; /* ends with name NULL */
    const void *body;                       /* borrowed until done; NULL: none */
    size_t body_len;
    /* Instead of body: the read end of a pipe, non-blocking, whose bytes go in chunks as they come,
     * until its end; borrowed until done. Silence counts what is sent, too, but not the waiting for
     * the pipe. */
    bool body_piped;
    int body_fd;
    /* stream: HTTP/1.1, may be paused, no bound on its body; else HTTP/2 by ALPN is fine */
    bool stream;
    int64_t connect_ms;  /* limit for connecting; 0: 10 s */
    int64_t total_ms;    /* limit for the whole call; 0: none (streams) */
    int64_t silence_ms;  /* longest wait for the next byte; 0: none */
    const char *ca_file; /* NULL: the list of B-101 */
    const char *capture; /* a header of the answer for result.captured; NULL: none. Static. */
    bool plain_http_ok;  /* the user set this URL: http allowed beyond loopback */
};

struct he2b_http_events {
    /* The head has come. Optional. */
    void (*head)(void *user, const struct he2b_http_result *so_far);
    /*
     * Bytes of the body. Return the bytes taken: all of len, or 0 to stop the transfer until
     * he2b_http_resume() (they come again then); SIZE_MAX ends the call as HE2B_HTTP_TOO_LARGE.
     * Nothing may be started or deleted in here: store and schedule a task.
     */
    size_t (*body)(void *user, const char *data, size_t len);
    /* Once, from the loop, never inside start or cancel; the call is deleted afterwards. */
    void (*done)(void *user, const struct he2b_http_result *result);
    /* Instead of done, inside he2b_http_cancel(): frees what user holds. Optional. */
    void (*dropped)(void *user);
};

typedef struct he2b_http he2b_http;

/* Returns HE2B_OK (done will come), HE2B_ERR_NOMEM, HE2B_ERR_LOOP. */
int he2b_http_start(he2b_http **ret, he2b_loop *loop, const struct he2b_http_request *request,
                    const struct he2b_http_events *events, void *user);
/* After body returned 0. Takes effect from the loop, not inside this call. */
void he2b_http_resume(he2b_http *http);
/* Drops the call: the connection of an unfinished stream is closed (wire B.3); no callback comes
 * any more, and user and body are not touched after this returns. NULL is fine. */
void he2b_http_cancel(he2b_http *http);

/* A whole answer in memory, bounded: on top of the above for control-plane and unary calls. */
enum {
    /* A page of 100 sandboxes with metadata is below 1 MiB; guards against endless bodies. */
    HE2B_HTTP_ANSWER_MAX = 4 * 1024 * 1024,
};
typedef void (*he2b_http_answer_fn)(void *user, const struct he2b_http_result *result,
                                    const char *body, size_t len);
int he2b_http_ask(he2b_http **ret, he2b_loop *loop, const struct he2b_http_request *request,
                  he2b_http_answer_fn done, void *user);

#endif
