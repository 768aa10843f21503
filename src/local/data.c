#include "local/data.h"

#include "core/json.h"
#include "he2b.h"
#include "local/credential.h"
#include "local/forward.h"
#include "local/log.h"
#include "local/plane.h"
#include "local/query.h"
#include "local/sandbox.h"
#include "local/stamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    /* shortest lease of a sandbox that traffic wakes (wire E) */
    WAKE_LEASE_MIN_S = 300
};

static const char json_type[] = "application/json; charset=utf-8";
static const char text_type[] = "text/plain; charset=utf-8";

/* ---- answers of the proxies ---- */

/* Browsers get a page (wire B.4). */
static bool wants_page(const struct http_request *request)
{
    static const char *const words[] = {"mozilla", "chrome", "safari", "firefox",
                                        "edge",    "opera",  "msie"};
    const char *agent = http_header(request, "User-Agent");
    const char *accept = http_header(request, "Accept");

    if (!agent || (accept && strcasestr(accept, "json")))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasestr(agent, words[i]))
            return true;
    }
    return false;
}

static void answer_page(struct http_request *request, unsigned status, const char *message)
{
    char page[512];
    int len = snprintf(page, sizeof page,
                       "<!DOCTYPE html>\n<html><head><title>%u</title></head>"
                       "<body><h1>%u</h1><p>%s</p></body></html>\n",
                       status, status, message);
    http_answer(request, status, "text/html; charset=utf-8", page, (size_t)len);
}

static void answer_object(struct http_request *request, unsigned status, he2b_json *object)
{
    size_t len = 0;
    const char *text = object ? he2b_json_text(object, &len) : NULL;

    http_answer(request, status, json_type, text ? text : "{}", text ? len : 2);
    he2b_json_del(object);
}

/* port 0: none in the body. */
static void answer_502(struct http_request *request, const char *id, const char *message,
                       unsigned port)
{
    he2b_json *object = he2b_json_new_object();

    if (wants_page(request)) {
        he2b_json_del(object);
        answer_page(request, 502, message);
        return;
    }
    if (object) {
        (void)he2b_json_add_string(object, "sandboxId", id);
        (void)he2b_json_add_string(object, "message", message);
        if (port)
            (void)he2b_json_add_int(object, "port", port);
        (void)he2b_json_add_int(object, "code", 502);
    }
    answer_object(request, 502, object);
}

void data_port_not_open(struct http_request *request, const char *sandbox_id, unsigned port)
{
    answer_502(request, sandbox_id, "The sandbox is running but port is not open", port);
}

/* ---- what never gets in ---- */

static bool is_internal(const struct http_request *request)
{
    static const char *const paths[] = {"/init",     "/freeze", "/unfreeze", "/collapse",
                                        "/fsfreeze", "/fsthaw", "/upgrade"};

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (http_path_is(request, paths[i]))
            return true;
    }
    return false;
}

static void answer_internal(struct http_request *request)
{
    static const char message[] = "the path is not found";
    he2b_json *object = he2b_json_new_object();

    if (wants_page(request)) {
        he2b_json_del(object);
        answer_page(request, 404, message);
        return;
    }
    if (object) {
        (void)he2b_json_add_string(object, "message", message);
        (void)he2b_json_add_string_len(object, "path", http_target(request),
                                       http_path_len(request));
        (void)he2b_json_add_int(object, "code", 404);
    }
    answer_object(request, 404, object);
}

/* ---- tokens ---- */

static void answer_401(struct http_request *request, const char *message)
{
    he2b_json *object = he2b_json_new_object();

    if (object) {
        (void)he2b_json_add_int(object, "code", 401);
        (void)he2b_json_add_string(object, "message", message);
    }
    answer_object(request, 401, object);
}

/* The token's or the signature's refusal for /files; NULL: it may pass. */
static const char *file_refusal(const struct http_request *request, const char *token, bool write)
{
    const char *target = http_target(request);
    const char *sent = http_header(request, "X-Access-Token");
    char *values[4] = {NULL};
    const char *refusal = "invalid signature";

    if (query_get(target, "path", &values[0]) && query_get(target, "username", &values[1]) &&
        query_get(target, "signature", &values[2]) &&
        query_get(target, "signature_expiration", &values[3])) {
        const struct credential_file_access access = {
            .path = values[0],
            .username = values[1],
            .signature = values[2],
            .expiration = values[3],
            .write = write,
        };
        refusal = credential_file_refusal(&access, sent, token, stamp_now() / 1000000000);
    } else if (sent) {
        /* a query that cannot be decoded is the daemon's to refuse */
        refusal = credential_file_refusal(&(const struct credential_file_access){.write = write},
                                          sent, token, 0);
    }
    for (size_t i = 0; i < 4; i++)
        free(values[i]);
    return refusal;
}

/* NULL, or the message of the 401 (wire B.2, D.1). */
static const char *token_refusal(const struct http_request *request, const char *token)
{
    const char *method = http_method(request);
    bool get = strcmp(method, "GET") == 0;

    if (get && http_path_is(request, "/health"))
        return NULL;
    if ((get || strcmp(method, "POST") == 0) && http_path_is(request, "/files"))
        return file_refusal(request, token, !get);
    if (credential_equal(http_header(request, "X-Access-Token"), token))
        return NULL;
    return "unauthorized access, please provide a valid access token or method signing if "
           "supported";
}

/* ---- */

/* Traffic wakes a sandbox that was made so, out of a pause that kept its memory (wire B.4). */
static bool wake(struct sandbox *sandbox)
{
    char why[SANDBOX_WHY_MAX];
    int64_t lease = sandbox->settings.timeout_s;

    if (sandbox->state != SANDBOX_PAUSED || !sandbox->frozen || !sandbox->settings.auto_resume)
        return false;
    log_line(LOG_LEVEL_INFO, "sandbox %s is woken by traffic", sandbox->id);
    if (lease < WAKE_LEASE_MIN_S)
        lease = plane_capped_s(sandbox->plane, WAKE_LEASE_MIN_S);
    if (sandbox_resume(sandbox, lease, why) < 0)
        return false;
    return sandbox->state == SANDBOX_RUNNING;
}

void data_begin(struct plane *plane, struct http_request *request, const struct route *route)
{
    struct sandbox *sandbox;
    const char *refusal;

    if (route->kind == ROUTE_REFUSED) {
        http_answer(request, 400, text_type, route->refusal, strlen(route->refusal));
        return;
    }
    sandbox = plane_find(plane, route->sandbox_id);
    if (!sandbox || (sandbox->state != SANDBOX_RUNNING && !wake(sandbox))) {
        answer_502(request, route->sandbox_id, "The sandbox was not found", 0);
        return;
    }
    if (route->port != ROUTE_PORT) {
        data_port_not_open(request, sandbox->id, route->port);
        return;
    }
    if (is_internal(request)) {
        answer_internal(request);
        return;
    }
    refusal = sandbox->settings.secure ? token_refusal(request, sandbox->token) : NULL;
    if (refusal)
        answer_401(request, refusal);
    else
        forward_begin(sandbox, request);
}
