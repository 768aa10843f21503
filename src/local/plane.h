/*
 * e2b-local's plane: what its files share. One process, one thread, one libevent base.
 *
 *   plane_http      requests and answers over libmicrohttpd
 *   plane_control   the control plane's routes (wire A)
 *   plane_route     the data plane: which sandbox, may this request in, and its way to the daemon
 *   plane_sandbox   one sandbox: start, pause, end, lease
 *   plane_store     the state folder: key, records, lock
 *   plane_query     pure: metadata filters, ids, times, page tokens
 */
#ifndef HE2B_LOCAL_PLANE_H
#define HE2B_LOCAL_PLANE_H

#include "core/buf.h"
#include "core/json.h"
#include "local/launch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct event_base;
struct request;
struct sandbox;

enum {
    PLANE_PORT_DEFAULT = 3000,
    PLANE_SANDBOX_PORT = 49983,
    PLANE_ID_SIZE = 22,
    PLANE_TOKEN_SIZE = 65,
    PLANE_KEY_SIZE = 45,
    /* wire A.3 */
    PLANE_BODY_MAX = 16 * 1024 * 1024,
    PLANE_TIMEOUT_MAX_S = 24 * 3600,
    PLANE_PROCESS_LIMIT = 4096,
    /* Templates named on the command line. */
    PLANE_TEMPLATES_MAX = 64,
};

struct plane {
    struct event_base *base;
    struct launch_abilities abilities;
    bool internet;
    bool share_host_network;
    bool without_isolation;
    char key[PLANE_KEY_SIZE];
    const char *templates[PLANE_TEMPLATES_MAX];
    size_t template_count;
    struct sandbox *sandboxes;
    bool ending;
};
extern struct plane plane;

void plane_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- plane_store.c ---- */

/* Opens (makes) the state folder and takes it for this process; reads or draws the key. 0, or -1
 * with one line in why. */
int store_open(const char *folder, char *why, size_t why_size);
/* The state folder that is meant when none is named. 0, or -1 (HOME is not set). */
int store_default_folder(char *out, size_t size);
int store_sandboxes_fd(void); /* the folder of the sandboxes' own folders */
int store_run_fd(void);       /* the folder of the sockets */
/* A sandbox's record, written whole or not at all. */
int store_save(const char *id, he2b_json *record);
void store_remove(const char *id);
/* Calls fn for each record. */
void store_load(void (*fn)(const he2b_json *record));
/* For "e2b-local env": the address of the server that runs on this folder. */
int store_write_address(const char *url);
void store_remove_address(void);
/* Reads key and address of a folder without taking it. 0, or -1 with one line in why. */
int store_read(const char *folder, char *key, char *url, size_t url_size, char *why,
               size_t why_size);

/* ---- plane_query.c ---- */

void plane_random_hex(char *out, size_t digits);
void plane_new_id(char out[PLANE_ID_SIZE]);
/* wire A.4: the part before an ignored suffix, or false. */
bool plane_read_id(char out[PLANE_ID_SIZE], const char *text, size_t len);
/* RFC 3339 in UTC with microseconds. */
void plane_time(char out[40], int64_t us);
bool plane_read_time(const char *text, int64_t *ret_us);
int64_t plane_now_us(void);
/* Percent-decoding, "+" as a space; NULL when broken or out of memory. Freed by the caller. */
char *plane_decode(const char *text, size_t len);
/* The decoded value of a query parameter: NULL if it is not there. Freed by the caller. */
char *plane_query_value(const char *target, const char *name);
/* wire A.7: an object of strings from the value of "metadata" (decoded once); NULL: cannot be. */
he2b_json *plane_metadata_filter(const char *value);
bool plane_metadata_matches(const he2b_json *filter, const he2b_json *metadata);

/* ---- plane_http.c ---- */

/* Listens; *ret_port is the port. 0, or -1 with one line in why. */
int http_listen(const char *host, int port, int *ret_port, char *why, size_t why_size);
void http_close(void);

const char *request_method(const struct request *r);
const char *request_target(const struct request *r);
const char *request_header(const struct request *r, const char *name);
const char *request_body(const struct request *r, size_t *ret_len);
/* Who waits for a sandbox marks it here, to be forgotten when the client goes. */
void **request_waiting(struct request *r);
/* An answer. body is copied; content_type NULL: none. May come later, from the loop. */
void request_answer(struct request *r, int status, const char *content_type, const char *body,
                    size_t len);
void request_add_header(struct request *r, const char *name, const char *value);
void request_json(struct request *r, int status, he2b_json *value); /* taken over */
/* {"code":status,"message":...} (wire A.3) */
void request_error(struct request *r, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Hands the request to a sandbox's daemon behind fd, which becomes its own: bodies are streamed. */
void request_forward(struct request *r, int fd, he2b_json *head);
/* All header fields but the ones that end here, as the link's head wants them. */
he2b_json *request_link_headers(const struct request *r);

/* ---- plane_control.c, plane_route.c ---- */

/* True if the request is for the control plane; then its body is collected and control_serve
 * called. */
bool control_claims(const struct request *r);
void control_serve(struct request *r);
/* A data-plane request whose head is complete: answers or forwards it. */
void route_serve(struct request *r);

/* ---- plane_sandbox.c ---- */

enum sandbox_state {
    SANDBOX_STARTING,
    SANDBOX_RUNNING,
    SANDBOX_PAUSING,
    SANDBOX_PAUSED,
    SANDBOX_KILLING,
};

/* What a waiter is told: ok, or a status and a message. */
typedef void (*sandbox_fn)(void *user, struct sandbox *sandbox, int status, const char *why);

struct sandbox_waiter {
    struct sandbox_waiter *next;
    sandbox_fn fn;
    void *user;
};

struct sandbox {
    struct sandbox *next;
    char id[PLANE_ID_SIZE];
    char *template_id;
    he2b_json *metadata; /* NULL: none */
    he2b_json *env_vars; /* until the first pause (wire A.8) */
    bool auto_pause;
    bool auto_resume;
    bool secure;
    bool internet;
    char token[PLANE_TOKEN_SIZE];
    enum sandbox_state state;
    int64_t started_us;
    int64_t end_us;     /* of the lease, or when the pause began */
    int64_t timeout_us; /* of the start on the way */
    struct launch *launch;
    int listen_fd;
    int control_fd;
    struct event *control_event;
    struct sandbox_waiter *waiters; /* for the end of the transition on the way */
};

/* From the records; to be called once. */
void sandbox_load_all(void);
struct sandbox *sandbox_find(const char *id);
/* Makes a sandbox and starts it; fn is told when it runs. NULL and why if it cannot even begin. */
struct sandbox *sandbox_create(struct sandbox *made, int64_t timeout_s, sandbox_fn fn, void *user,
                               char *why, size_t why_size);
/* Starts a paused one again. 0, or -1 with why. */
int sandbox_resume(struct sandbox *sandbox, int64_t timeout_s, sandbox_fn fn, void *user, char *why,
                   size_t why_size);
/* fn is told when the transition on the way is over. */
void sandbox_wait(struct sandbox *sandbox, sandbox_fn fn, void *user);
void sandbox_forget_waiter(const void *user);
void sandbox_pause(struct sandbox *sandbox);
void sandbox_kill(struct sandbox *sandbox);
/* The lease ends at us (since 1970). */
void sandbox_set_end(struct sandbox *sandbox, int64_t us);
/* A new connection to the daemon, or -1. */
int sandbox_connect(const struct sandbox *sandbox);
/* Ends all that runs; done is called when nothing is left. */
void sandbox_end_all(void (*done)(void));

#endif
