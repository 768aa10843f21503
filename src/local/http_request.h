/*
 * What http.c, http_answer.c and http_client.c share about one request.
 */
#ifndef HE2B_LOCAL_HTTP_REQUEST_H
#define HE2B_LOCAL_HTTP_REQUEST_H

#include "local/http.h"

#include <microhttpd.h>

struct event;

struct http {
    struct event_base *base;
    struct MHD_Daemon *daemon;
    struct event *readable;
    struct event *timer;
    /* made active to enter the library, later, after a resume */
    struct event *kick;
    http_handler handler;
    void *user;
    struct http_request *first;
};

/* One connection, from its accept to its close. */
struct http_connection {
    struct http *http;
    struct MHD_Connection *connection;
    /* what is going on, NULL between requests */
    struct http_request *request;
    /* for the client's end of file while the library watches the socket */
    struct event *closed;
};

struct http_request {
    struct http *http;
    struct http_connection *on; /* NULL without memory: then the client's end is noticed late */
    struct http_request *next;
    struct http_request *previous;
    struct MHD_Connection *connection;
    char *method;
    char *target;
    const struct http_ops *ops;
    void *user;
    struct MHD_Response *response;
    struct http_header *headers;
    unsigned status;
    /* the client's socket, while the library does not watch it */
    struct event *client;
    bool begun;     /* the handler has seen it */
    bool suspended; /* the library leaves it alone */
    bool complete;  /* its body is */
    bool answered;  /* status and response are set */
    bool cut;       /* is to be ended */
    bool reset;     /* by a reset */
};

/* ---- http_answer.c ---- */

/* The status of the 400, 414 or 417 that the library should have sent, or 0; its text in *why. */
unsigned http_strict(const struct http_request *request, const char *version, const char **why);
bool http_expects_continue(const struct http_request *request);
/* Hands the answer to the library. */
enum MHD_Result http_queue(struct http_request *request, bool close);
void http_drop_answer(struct http_request *request);

/* ---- http_client.c ---- */

/* The library tells of a connection's begin and end here. */
void http_client_notify(void *user, struct MHD_Connection *connection, void **state,
                        enum MHD_ConnectionNotificationCode code);
/* The connection that a request comes on. */
struct http_connection *http_client_of(struct MHD_Connection *connection);
/*
 * Makes the library look at a connection that ends, soon and again until it is closed. It looks at
 * every connection that has a limit of its own, but forgets one without that it closed while it
 * made an answer, as long as an older one is open.
 */
void http_client_hurry(struct http *http, struct MHD_Connection *connection);

/* Suspends the connection and watches the client's socket. Only inside the library's callbacks. */
void http_suspend(struct http_request *request);
void http_unwatch(struct http_request *request);
/* Sends a reset instead of what is left. */
void http_reset(struct http_request *request);

#endif
