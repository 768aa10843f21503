/*
 * The daemon in a sandbox: what its files share. One process, one thread, one libevent base.
 */
#ifndef HE2B_LOCAL_DAEMON_H
#define HE2B_LOCAL_DAEMON_H

#include "core/json.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct exchange;

enum {
    /* A whole request in memory: 24 MiB of stdin as base64 (wire H) with room. Guards the memory.
     */
    DAEMON_REQUEST_MAX = 48 * 1024 * 1024,
    /* Output that a reader has not taken yet; above it the process waits (wire C.9). */
    DAEMON_UNREAD_MAX = 256 * 1024,
    DAEMON_PATH_MAX = 4096,
};

struct daemon_globals {
    struct event_base *base;
    struct rlimit descriptors; /* what processes get: the daemon has raised its own */
    char sandbox_id[128];
    char template_id[256];
    he2b_json *env_vars; /* of the sandbox; NULL: none */
};
extern struct daemon_globals daemon_globals;

/* ---- daemon_user.c ---- */

struct daemon_user {
    char name[64];
    char home[DAEMON_PATH_MAX];
    uid_t uid;
    gid_t gid;
};
/* name NULL or "": the default user. False if there is no such user, or this daemon cannot be it.
 */
bool daemon_user_find(struct daemon_user *ret, const char *name);
/* The user named in "Basic ..."; *ret_name gets the name for the message. False if unknown. */
bool daemon_user_of_header(struct daemon_user *ret, const char *authorization, char *ret_name,
                           size_t size);

/* ---- daemon_path.c ---- */

/* Resolves a path by wire C.6; NULL and a message in why if it cannot be. Static of the call: out.
 */
bool daemon_path(char *out, size_t size, const char *path, const struct daemon_user *user,
                 char *why, size_t why_size);
/* Makes the parents of path, 0755, new ones owned by user. 0 or an errno. */
int daemon_make_parents(const char *path, const struct daemon_user *user);

/* ---- daemon_exchange.c: one request and its answer ---- */

struct exchange_ops {
    /* Bytes of the request's body. */
    void (*body)(struct exchange *x, const char *data, size_t len);
    /* The request is complete. */
    void (*end)(struct exchange *x);
    /* What was written has left, below the mark of exchange_unread(). Optional. */
    void (*drained)(struct exchange *x);
    /* The exchange is over, whoever ended it: frees state. Optional. */
    void (*gone)(struct exchange *x);
};

struct exchange {
    struct bufferevent *bev;
    struct event *over; /* made active: it ends on the loop, never inside a call of its user */
    bool cut;
    const struct exchange_ops *ops;
    void *state;
    char method[16];
    char target[8192]; /* path and query as received */
    char path[256];    /* decoded, without the query */
    he2b_json *headers;
    bool have_head;
    bool answered; /* a head was written */
    bool ended;    /* and the end of it */
};

void exchange_accept(int fd);
const char *exchange_header(const struct exchange *x, const char *name);
/* Decoded value of a query parameter in out; false if it is not there (out is "" then). */
bool exchange_query(const struct exchange *x, const char *name, char *out, size_t size);
/* headers: object of strings, taken over; NULL: none. length -1: not known. */
void exchange_head(struct exchange *x, int status, he2b_json *headers, int64_t length);
void exchange_write(struct exchange *x, const void *data, size_t len);
void exchange_end(struct exchange *x);
/* Ends without END: the client's connection is cut. gone() is called later, from the loop. */
void exchange_cut(struct exchange *x);
size_t exchange_unread(const struct exchange *x);
/* A whole answer. */
void exchange_answer(struct exchange *x, int status, const char *content_type, const char *body,
                     size_t len);
/* {"code":status,"message":...} as envd's plain endpoints answer (wire D). */
void exchange_error(struct exchange *x, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Stops and goes on reading the request. */
void exchange_read(struct exchange *x, bool on);

/* ---- daemon_rpc.c: Connect's forms over an exchange ---- */

/* Chooses the handler of a request whose head is complete. */
void daemon_route(struct exchange *x);
/* Unary: an error by Connect code with its status, or the answer message (taken over). */
void rpc_error(struct exchange *x, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void rpc_answer(struct exchange *x, he2b_json *message);
/* Streams: head, messages, the end message (code NULL: success). */
void rpc_stream_head(struct exchange *x);
void rpc_stream_message(struct exchange *x, const char *json, size_t len);
void rpc_stream_end(struct exchange *x, const char *code, const char *message);
/* Connect-Timeout-Ms: -1 none, -2 not a number of at most 10 digits. */
int64_t rpc_timeout_ms(const struct exchange *x);
/* Keepalive-Ping-Interval in seconds; 0: not allowed. */
int rpc_keepalive_s(const struct exchange *x);

/* ---- daemon_process.c, daemon_stream.c ---- */

void process_init(void);
void process_start(struct exchange *x, const he2b_json *request);
void process_connect(struct exchange *x, const he2b_json *request);
void process_list(struct exchange *x, const he2b_json *request);
void process_send_signal(struct exchange *x, const he2b_json *request);
void process_send_input(struct exchange *x, const he2b_json *request);
void process_close_stdin(struct exchange *x, const he2b_json *request);
void process_update(struct exchange *x, const he2b_json *request);
void process_signal_all(int signum);

/* ---- daemon_filesystem.c ---- */

void filesystem_stat(struct exchange *x, const he2b_json *request);
void filesystem_make_dir(struct exchange *x, const he2b_json *request);
void filesystem_move(struct exchange *x, const he2b_json *request);
void filesystem_remove(struct exchange *x, const he2b_json *request);
void filesystem_list_dir(struct exchange *x, const he2b_json *request);

/* ---- daemon_files.c ---- */

void files_get(struct exchange *x);
void files_post(struct exchange *x);

#endif
