#include "local/http_request.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/socket.h>

enum {
    /* how long a connection whose client has ended may go on to take what that client sent */
    LINGER_S = 1
};

static int client_fd(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/* ---- connections ---- */

void http_client_hurry(struct http *http, struct MHD_Connection *connection)
{
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)LINGER_S);
    event_active(http->kick, EV_TIMEOUT, 0);
}

/*
 * The end of file. If it comes together with the last bytes of half a request the library takes
 * those and looks no more: hence the limit.
 */
static void on_closed(evutil_socket_t fd, short what, void *user)
{
    struct http_connection *on = user;

    (void)fd;
    (void)what;
    if (on->request && on->request->complete)
        http_cut(on->request, false);
    else
        http_client_hurry(on->http, on->connection);
}

static struct http_connection *connection_new(struct http *http, struct MHD_Connection *connection)
{
    struct http_connection *on = calloc(1, sizeof *on);

    if (!on)
        return NULL;
    on->http = http;
    on->connection = connection;
    on->closed =
        event_new(http->base, client_fd(connection), EV_CLOSED | EV_ET | EV_PERSIST, on_closed, on);
    if (on->closed)
        event_add(on->closed, NULL);
    return on;
}

static void connection_del(struct http_connection *on)
{
    if (!on)
        return;
    if (on->closed)
        event_free(on->closed);
    free(on);
}

void http_client_notify(void *user, struct MHD_Connection *connection, void **state,
                        enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *state = connection_new(user, connection);
        return;
    }
    connection_del(*state);
    *state = NULL;
}

struct http_connection *http_client_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* ---- requests that wait ---- */

/* Data that waits behind a complete request is the next one; the end of file is the client's end.
 */
static bool has_gone(int fd, short what)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    if (n == 0 || (what & EV_CLOSED))
        return true;
    return n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
}

static void on_client(evutil_socket_t fd, short what, void *user)
{
    struct http_request *request = user;

    /* while its body comes, the library reads the end by itself, after what came before it */
    if (request->complete && has_gone(fd, what))
        http_cut(request, false);
}

void http_suspend(struct http_request *request)
{
    int fd = client_fd(request->connection);

    request->suspended = true;
    MHD_suspend_connection(request->connection);
    if (!request->client) {
        request->client = event_new(request->http->base, fd,
                                    EV_READ | EV_CLOSED | EV_ET | EV_PERSIST, on_client, request);
        if (request->client)
            event_add(request->client, NULL);
    } else if (request->complete && !request->answered) {
        /* the edge may have passed while the body came */
        event_active(request->client, EV_READ, 0);
    }
}

void http_unwatch(struct http_request *request)
{
    if (request->client)
        event_free(request->client);
    request->client = NULL;
}

void http_reset(struct http_request *request)
{
    const struct sockaddr none = {.sa_family = AF_UNSPEC};

    /* dissolves the association, which TCP tells the peer by RST */
    (void)connect(client_fd(request->connection), &none, sizeof none);
}
