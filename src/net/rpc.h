/*
 * Connect RPC (wire C): unary calls and server streams over net/http. What messages look like is
 * the caller's business; errors are JSON in every codec.
 */
#ifndef HE2B_NET_RPC_H
#define HE2B_NET_RPC_H

#include "net/http.h"

/* Connect's error codes (wire C.3), and where an error came from. */
enum he2b_rpc_code {
    HE2B_RPC_OK = 0,
    HE2B_RPC_CANCELED,
    HE2B_RPC_UNKNOWN,
    HE2B_RPC_INVALID_ARGUMENT,
    HE2B_RPC_DEADLINE_EXCEEDED,
    HE2B_RPC_NOT_FOUND,
    HE2B_RPC_ALREADY_EXISTS,
    HE2B_RPC_PERMISSION_DENIED,
    HE2B_RPC_RESOURCE_EXHAUSTED,
    HE2B_RPC_FAILED_PRECONDITION,
    HE2B_RPC_ABORTED,
    HE2B_RPC_OUT_OF_RANGE,
    HE2B_RPC_UNIMPLEMENTED,
    HE2B_RPC_INTERNAL,
    HE2B_RPC_UNAVAILABLE,
    HE2B_RPC_DATA_LOSS,
    HE2B_RPC_UNAUTHENTICATED,
};

/* E2B's proxies answer 502 in two forms, told apart by their fields, never by prose (wire B.4). */
enum he2b_rpc_proxy {
    HE2B_PROXY_NONE = 0,
    HE2B_PROXY_NO_SANDBOX = 1,  /* it does not run here: nothing was done */
    HE2B_PROXY_PORT_CLOSED = 2, /* its daemon does not answer, or the connection to it broke */
};

struct he2b_rpc_result {
    enum he2b_rpc_code code;
    /* the daemon answered in Connect's own form; false: a proxy, the token check or the transport
     */
    bool connect;
    enum he2b_rpc_proxy proxy;
    struct he2b_http_result http;
    /* stream: the end-of-stream message was seen; without it the transport was lost (wire C.2) */
    bool ended;
    char message[256]; /* one safe line */
};

struct he2b_rpc_call {
    const char *url; /* of the method */
    const struct he2b_http_header *headers;
    const char *codec; /* "json", "proto": the last part of the content types (wire C.1). Static. */
    const char *message; /* of the request; copied */
    size_t message_len;
    int64_t total_ms;   /* unary: limit; stream: 0 */
    int64_t silence_ms; /* stream: longest wait for the next byte (keep-alives count) */
    const char *ca_file;
    bool plain_http_ok;
};

typedef struct he2b_rpc he2b_rpc;

/* message, len: of the answer when result->code is HE2B_RPC_OK, else NULL, 0. */
typedef void (*he2b_rpc_answer_fn)(void *user, const struct he2b_rpc_result *result,
                                   const char *message, size_t len);

struct he2b_rpc_events {
    /*
     * One message of the stream. Return true if it was taken; false stops the stream until
     * he2b_rpc_resume(), and the same message comes again then. Same limits as a body callback.
     */
    bool (*message)(void *user, const char *message, size_t len);
    /* Once, from the loop; the stream is deleted afterwards. */
    void (*done)(void *user, const struct he2b_rpc_result *result);
};

enum {
    /* envd sends up to 32 KiB of output in a message (44 KiB as JSON); guards a hostile length. */
    HE2B_RPC_MESSAGE_MAX = 4 * 1024 * 1024,
};

int he2b_rpc_ask(he2b_rpc **ret, he2b_loop *loop, const struct he2b_rpc_call *call,
                 he2b_rpc_answer_fn done, void *user);
int he2b_rpc_stream(he2b_rpc **ret, he2b_loop *loop, const struct he2b_rpc_call *call,
                    const struct he2b_rpc_events *events, void *user);
void he2b_rpc_resume(he2b_rpc *rpc);
/* As he2b_http_cancel(). */
void he2b_rpc_cancel(he2b_rpc *rpc);

/*
 * What an answer to a plain request to a sandbox (wire D) says, in the words of a call's result:
 * the proxies before the daemon, the token check and the transport are the same.
 */
void he2b_rpc_read_plain(struct he2b_rpc_result *ret, const struct he2b_http_result *http,
                         const char *body, size_t len);

#endif
