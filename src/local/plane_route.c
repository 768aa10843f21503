/* The data plane (wire B): which sandbox a request is for, whether it may in, and its way there. */
#include "he2b.h"
#include "local/plane.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static void text(struct request *r, int status, const char *body)
{
    request_answer(r, status, "text/plain; charset=utf-8", body, strlen(body));
}

static bool plain_host(const char *host)
{
    char name[256];
    struct in_addr v4;

    snprintf(name, sizeof(name), "%s", host);
    if (name[0] == '[')
        return true;
    name[strcspn(name, ":")] = '\0';
    return strcasecmp(name, "localhost") == 0 || inet_pton(AF_INET, name, &v4) == 1 ||
           strncasecmp(name, "sandbox.", 8) == 0;
}

/* "<port>-<id>[-ignored].<domain>" */
static bool label(const char *host, char id[PLANE_ID_SIZE], long *ret_port)
{
    char *end;
    long port = strtol(host, &end, 10);

    if (end == host || *end != '-' || port < 1 || port > 65535)
        return false;
    end++;
    *ret_port = port;
    return plane_read_id(id, end, strcspn(end, ".:"));
}

/* False after an answer. */
static bool choose(struct request *r, char id[PLANE_ID_SIZE], long *ret_port)
{
    const char *host = request_header(r, "host");
    const char *given_id = request_header(r, "e2b-sandbox-id");
    const char *given_port = request_header(r, "e2b-sandbox-port");
    char *end;

    if (!host) {
        text(r, 400, "Invalid host");
    } else if (plain_host(host) && (given_id || given_port)) {
        if (!given_id || !given_port) {
            text(r, 400, "missing header");
        } else if (!plane_read_id(id, given_id, strlen(given_id))) {
            text(r, 400, "Invalid sandbox ID");
        } else {
            *ret_port = strtol(given_port, &end, 10);
            if (end != given_port && !*end && *ret_port >= 1 && *ret_port <= 65535)
                return true;
            text(r, 400, "Invalid sandbox port");
        }
    } else if (label(host, id, ret_port)) {
        return true;
    } else if (plain_host(host)) {
        request_error(r, 404, "no matching operation was found");
    } else {
        text(r, 400, "Invalid host");
    }
    return false;
}

static void bad_gateway(struct request *r, const char *id, long port)
{
    he2b_json *body = he2b_json_new_object();

    if (body &&
        (he2b_json_add_string(body, "sandboxId", id) ||
         he2b_json_add_string(body, "message",
                              port ? "The sandbox is running but port is not open"
                                   : "The sandbox was not found") ||
         (port && he2b_json_add_int(body, "port", port)) || he2b_json_add_int(body, "code", 502))) {
        he2b_json_del(body);
        body = NULL;
    }
    request_json(r, 502, body);
}

static size_t path_len(const struct request *r)
{
    return strcspn(request_target(r), "?");
}

static bool path_is(const struct request *r, const char *path)
{
    return path_len(r) == strlen(path) && strncmp(request_target(r), path, path_len(r)) == 0;
}

static bool internal_path(const struct request *r)
{
    static const char *const paths[] = {"/init",     "/freeze", "/unfreeze", "/collapse",
                                        "/fsfreeze", "/fsthaw", "/upgrade"};
    size_t i;

    for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (path_is(r, paths[i]))
            return true;
    }
    return false;
}

static bool same_secret(const char *a, const char *b)
{
    size_t len = strlen(a);
    unsigned char differ = 0;
    size_t i;

    if (strlen(b) != len)
        return false;
    for (i = 0; i < len; i++)
        differ |= (unsigned char)(a[i] ^ b[i]);
    return differ == 0;
}

/* wire B.2, D.1; false after an answer. */
static bool may_in(struct request *r, const struct sandbox *sandbox)
{
    const char *token = request_header(r, "x-access-token");
    char *signature;

    if (!sandbox->secure || (path_is(r, "/health") && strcmp(request_method(r), "GET") == 0))
        return true;
    if (token && same_secret(token, sandbox->token))
        return true;
    if (path_is(r, "/files")) {
        signature = plane_query_value(request_target(r), "signature");
        if (token)
            request_error(r, 401, "access token present in header but does not match");
        else if (!signature)
            request_error(r, 401, "missing signature query parameter");
        else
            request_error(r, 401, "invalid signature");
        free(signature);
        return false;
    }
    request_error(r, 401,
                  "unauthorized access, please provide a valid access token or method signing "
                  "if supported");
    return false;
}

void route_serve(struct request *r)
{
    struct sandbox *sandbox;
    char id[PLANE_ID_SIZE];
    he2b_json *head;
    he2b_json *headers;
    long port = 0;
    int fd;

    if (!choose(r, id, &port))
        return;
    sandbox = sandbox_find(id);
    if (!sandbox || sandbox->state != SANDBOX_RUNNING) {
        bad_gateway(r, id, 0);
        return;
    }
    if (port != PLANE_SANDBOX_PORT) {
        bad_gateway(r, id, port);
        return;
    }
    if (internal_path(r)) {
        head = he2b_json_new_object();
        if (head) {
            char path[64];

            snprintf(path, sizeof(path), "%.*s", (int)path_len(r), request_target(r));
            (void)he2b_json_add_string(head, "message", "this path cannot be reached from outside");
            (void)he2b_json_add_string(head, "path", path);
            (void)he2b_json_add_int(head, "code", 404);
        }
        request_json(r, 404, head);
        return;
    }
    if (!may_in(r, sandbox))
        return;
    fd = sandbox_connect(sandbox);
    if (fd < 0) {
        bad_gateway(r, id, port);
        return;
    }
    head = he2b_json_new_object();
    headers = request_link_headers(r);
    if (head && (he2b_json_add_string(head, "method", request_method(r)) ||
                 he2b_json_add_string(head, "target", request_target(r)) ||
                 he2b_json_add(head, "headers", headers))) {
        he2b_json_del(head);
        head = NULL;
    }
    request_forward(r, fd, head);
}
