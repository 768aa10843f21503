/*
 * A small HTTP/1.1 server inside a test: each connection has a thread that reads requests and hands
 * them to the test's own function, which answers as it likes, in bytes if it must. Loopback only.
 *
 * What is waited for is waited for under a deadline, never slept for.
 */
#ifndef HE2B_TESTS_UNIT_PEER_H
#define HE2B_TESTS_UNIT_PEER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    PEER_HEAD_MAX = 16 * 1024,
    PEER_URL_MAX = 64,
    /* A test that waits longer than this is stuck. */
    PEER_DEADLINE_S = 20,
};

struct peer;

/* One request, and the way to answer it. Valid inside the serve function only. */
struct peer_request {
    struct peer *peer;
    int fd;
    unsigned connection; /* counts from 1 */
    char method[16];
    char path[512];
    char head[PEER_HEAD_MAX]; /* header lines, NUL-terminated */
    char *body;               /* NUL-terminated; of a message in protobuf, its JSON */
    size_t body_len;
    bool binary; /* it came in protobuf, and what is answered in JSON goes so, too */
    bool close;  /* set: the connection ends after this request */
};

typedef void (*peer_serve_fn)(struct peer_request *request, void *user);

struct peer *peer_new(peer_serve_fn serve, void *user);
/* Closes every connection, waits for the threads. */
void peer_del(struct peer *peer);
/* "http://127.0.0.1:PORT" */
const char *peer_url(const struct peer *peer);
unsigned peer_connections(struct peer *peer);
/* Protobuf is refused with 415, before serve hears of it. */
void peer_json_only(struct peer *peer);
/* How often it was. */
unsigned peer_refusals(struct peer *peer);

/* The value of a header, copied to out; false if there is none. */
bool peer_header(const struct peer_request *request, const char *name, char *out, size_t size);

/* ---- answering; each returns false when the client has gone ---- */

bool peer_send(struct peer_request *request, const void *data, size_t len);
bool peer_answer(struct peer_request *request, int status, const char *type, const char *body);
/* With more header lines, each ending in CRLF. */
bool peer_answer_with(struct peer_request *request, int status, const char *type,
                      const char *headers, const char *body);

/* A Connect stream in chunks. */
bool peer_stream_begin(struct peer_request *request);
bool peer_message(struct peer_request *request, const char *json);
/* ... two that arrive at once. */
bool peer_two_messages(struct peer_request *request, const char *first, const char *second);
bool peer_envelope(struct peer_request *request, int flags, const char *data, size_t len);
/* The end-of-stream message and the last chunk. */
bool peer_stream_end(struct peer_request *request, const char *json);
/* {"event":{"data":{"stdout":BASE64}}} */
bool peer_output(struct peer_request *request, const char *data, size_t len);
/* ... stderr */
bool peer_errors(struct peer_request *request, const char *data, size_t len);

/* The connection is reset (RST) at once. */
void peer_reset(struct peer_request *request);
/* Waits until the client closes the connection; false at the deadline. */
bool peer_wait_closed(struct peer_request *request);

/* ---- what tests and serve functions wait for together ---- */

/* A counter that anybody raises and anybody waits on. */
struct peer_gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned count;
};

void peer_gate_init(struct peer_gate *gate);
void peer_gate_raise(struct peer_gate *gate);
/* True once it was raised count times; false at the deadline. */
bool peer_gate_wait(struct peer_gate *gate, unsigned count);
unsigned peer_gate_count(struct peer_gate *gate);

#endif
