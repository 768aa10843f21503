/*
 * One request and its answer, over a connection of the link (link.h). Calls of the user never free
 * an exchange: it ends on the loop, and its gone() is called then, once.
 */
#ifndef HE2B_LOCAL_DAEMON_EXCHANGE_H
#define HE2B_LOCAL_DAEMON_EXCHANGE_H

#include "core/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* Of an answer, not yet taken by the plane. Above it whoever makes the answer waits: guards the
     * memory, and is how a slow reader blocks a process (wire C.9). */
    EXCHANGE_UNREAD_MAX = 256 * 1024,
};

struct exchange;
struct rpc_method;

/* Any of them may be NULL. None is called after exchange_end() or exchange_cut() but gone. */
struct exchange_ops {
    /* Bytes of the request's body. */
    void (*body)(struct exchange *x, const char *data, size_t len);
    /* The request is complete. */
    void (*end)(struct exchange *x);
    /* Some of the answer was taken: exchange_unread() is at most half of its maximum. */
    void (*drained)(struct exchange *x);
    /* Over: answered, cut, or the plane is gone. The state has to be freed. */
    void (*gone)(struct exchange *x);
};

/* Serves a connection; takes the descriptor (non-blocking). */
void exchange_accept(int fd);

/* Who gets the calls; ops NULL: nobody, the rest of the request is thrown away. */
void exchange_handle(struct exchange *x, const struct exchange_ops *ops, void *state);
void *exchange_state(const struct exchange *x);
/* The method that is called; NULL: none, or not known yet. Static. */
void exchange_set_rpc(struct exchange *x, const struct rpc_method *method);
const struct rpc_method *exchange_rpc(const struct exchange *x);

/* ---- the request ---- */

const char *exchange_method(const struct exchange *x);
/* Decoded, without the query; "" if it cannot be decoded. */
const char *exchange_path(const struct exchange *x);
/* By its name in lower case; NULL if it is not there. */
const char *exchange_header(const struct exchange *x, const char *name);
/* All headers, an object of strings. */
const he2b_json *exchange_headers(const struct exchange *x);
/*
 * The decoded value of a query parameter. False if it is not there, or it does not fit, or it is
 * broken (a bad escape, a NUL); out is "" then.
 */
bool exchange_query(const struct exchange *x, const char *name, char *out, size_t size);
/* The value of content-type or another header, without parameters, is wanted (any case). */
bool exchange_header_is(const struct exchange *x, const char *name, const char *wanted);
/* Stops reading the request, and goes on: then body() comes later, never from inside. */
void exchange_read(struct exchange *x, bool on);

/* ---- the answer ---- */

/* headers: object of strings, taken over; NULL: none. length -1: not known. */
void exchange_head(struct exchange *x, int status, he2b_json *headers, int64_t length);
void exchange_write(struct exchange *x, const void *data, size_t len);
/* Both as one piece. */
void exchange_write_prefixed(struct exchange *x, const void *prefix, size_t prefix_len,
                             const void *data, size_t len);
void exchange_end(struct exchange *x);
/* Ends without END: the client's connection is cut. */
void exchange_cut(struct exchange *x);
size_t exchange_unread(const struct exchange *x);
/* A head was given. */
bool exchange_answered(const struct exchange *x);

/* A whole answer. content_type NULL: none. */
void exchange_answer(struct exchange *x, int status, const char *content_type, const char *body,
                     size_t len);
/* {"code":status,"message":...} as envd's plain endpoints answer (wire D). */
void exchange_error(struct exchange *x, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Plain text with one more header (NULL: none). */
void exchange_text(struct exchange *x, int status, const char *text, const char *header,
                   const char *value);
/* An object with this one header, for exchange_head(). */
he2b_json *exchange_one_header(const char *name, const char *value);

#endif
