/*
 * Connect's forms over an exchange (wire C.1 to C.5). Errors of unary calls have a status, those of
 * streams come in the end message. Calls see JSON; what came in binary protobuf is answered so.
 */
#ifndef HE2B_LOCAL_DAEMON_RPC_H
#define HE2B_LOCAL_DAEMON_RPC_H

#include "core/json.h"
#include "local/daemon_codec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exchange;

enum rpc_kind {
    RPC_UNARY,
    RPC_SERVER_STREAM, /* one message in, many out */
    RPC_CLIENT_STREAM, /* many in, one out */
};

struct rpc_method {
    const char *path;
    enum rpc_kind kind;
    /* The request is complete; it is borrowed. NULL in both: known, and not served. */
    void (*handler)(struct exchange *x, const he2b_json *request);
    /* A client stream begins. */
    void (*begin)(struct exchange *x);
    /* In protobuf: the request, and a message of the answer. */
    enum codec_message asked;
    enum codec_message answered;
};

/* The head of a request for this method is there. */
void rpc_begin(struct exchange *x, const struct rpc_method *method);

/* The request came in protobuf. */
bool rpc_is_binary(const struct exchange *x);

/* Unary: the answer message (taken over; NULL: no memory), or an error by its Connect code. */
void rpc_answer(struct exchange *x, he2b_json *message);
void rpc_answer_text(struct exchange *x, const char *json, size_t len);
void rpc_error(struct exchange *x, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Streams: the head (once), messages, the end message. An error may come without a head before. */
void rpc_stream_head(struct exchange *x);
void rpc_stream_message(struct exchange *x, const char *json, size_t len);
/* ... as it goes on the wire, in the codec of the request. */
void rpc_stream_bytes(struct exchange *x, const void *data, size_t len);
void rpc_stream_done(struct exchange *x);
void rpc_stream_fail(struct exchange *x, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum {
    RPC_NO_TIMEOUT = -1,
    RPC_BAD_TIMEOUT = -2, /* answered before a handler sees it */
};
/* Connect-Timeout-Ms; 0: already over. */
int64_t rpc_timeout_ms(const struct exchange *x);
/* Keepalive-Ping-Interval in seconds; 0: not allowed (the service's daemon ends then, wire H). */
int rpc_keepalive_s(const struct exchange *x);

#endif
