/*
 * HTTP/1.1 by libmicrohttpd on a libevent loop: requests whose bodies come in pieces, answers whose
 * bodies are asked for, both with back-pressure. One thread; every callback comes from the loop.
 * The traps that this file is built around: request bodies that were not taken stay with the
 * library, which then reads no more; a suspended connection is watched here, since the library does
 * not; the library is never entered from one of its own callbacks.
 */
#ifndef HE2B_LOCAL_HTTP_H
#define HE2B_LOCAL_HTTP_H

#include <event2/util.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct http;
struct http_request;

enum {
    /* what http_ops.more answers beside a number of bytes */
    HTTP_WAIT = 0,
    HTTP_END = -1,
    HTTP_CUT = -2,
    /* the largest target (path and query); guards the link's head, 414 above it */
    HTTP_TARGET_MAX = 16 * 1024,
};

struct http_ops {
    /*
     * A piece of the body; returns how much of it was taken. Less than len: no more is read until
     * http_wake(). Not called once the request is answered. NULL: the body is thrown away.
     */
    size_t (*body)(struct http_request *request, const char *data, size_t len);
    /* The body is complete. Not called once the request is answered. */
    void (*end)(struct http_request *request);
    /*
     * The next bytes of a streamed answer, at most size: their number, HTTP_WAIT (again after
     * http_wake()), HTTP_END, or HTTP_CUT (the connection is closed without the last chunk).
     */
    ssize_t (*more)(struct http_request *request, char *out, size_t size);
    /* The request is over, whoever ended it; free what belongs to it. *whole: all was sent. */
    void (*gone)(struct http_request *request, bool whole);
};

/* A request's headers are there: call http_handle(), and http_answer() then or later. */
typedef void (*http_handler)(void *user, struct http_request *request);

/* Takes listen_fd over, also on failure. Returns 0, or -1 with one line in why. */
int http_new(struct http **ret, struct event_base *base, int listen_fd, http_handler handler,
             void *user, unsigned connections_max, char *why, size_t why_size);
/* Cuts every request that is left (its gone is called), then closes everything. NULL is fine. */
void http_del(struct http *http);

/* Who gets the request's events; user comes back from http_user(). */
void http_handle(struct http_request *request, const struct http_ops *ops, void *user);
void *http_user(const struct http_request *request);

/* Borrowed for the request's life. The target is as received, without scheme and authority; bytes
 * from 0x80 on are percent-encoded. */
const char *http_method(const struct http_request *request);
const char *http_target(const struct http_request *request);
/* The length of the target's path. */
size_t http_path_len(const struct http_request *request);
bool http_path_is(const struct http_request *request, const char *path);
/* The first header of that name (in any case) or NULL. */
const char *http_header(const struct http_request *request, const char *name);
void http_each_header(const struct http_request *request,
                      void (*fn)(void *user, const char *name, const char *value), void *user);

/* A header of the answer to come; false if it cannot be one (line breaks). */
bool http_add_header(struct http_request *request, const char *name, const char *value);

/* A whole answer; body is copied. content_type may be NULL. A second answer is ignored. */
void http_answer(struct http_request *request, unsigned status, const char *content_type,
                 const char *body, size_t len);
/* An answer whose bytes come from ops.more: length of them, or -1 for chunked. */
void http_answer_stream(struct http_request *request, unsigned status, int64_t length);
bool http_is_answered(const struct http_request *request);

/* A waiting request goes on: its body is offered again, or more is asked. Not from its own
 * callbacks. */
void http_wake(struct http_request *request);

/* Ends the connection: by a reset if reset, which also drops what the kernel still holds. */
void http_cut(struct http_request *request, bool reset);

#endif
