#include "local/api.h"

#include "he2b.h"
#include "local/log.h"
#include "local/plane.h"
#include "local/stamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which call ---- */

struct api_route {
    const char *method;
    const char *verb; /* behind the id; NULL: none */
    bool id;
    bool v1;
    bool v2;
    api_fn fn;
};

static const struct api_route routes[] = {
    {"POST", NULL, false, true, true, api_create},
    {"GET", NULL, false, true, false, api_list_running},
    {"GET", NULL, false, false, true, api_list},
    {"GET", NULL, true, true, true, api_detail},
    {"DELETE", NULL, true, true, true, api_kill},
    {"POST", "connect", true, true, true, api_connect},
    {"POST", "resume", true, true, true, api_resume},
    {"POST", "pause", true, true, true, api_pause},
    {"POST", "timeout", true, true, true, api_timeout},
    {"POST", "refreshes", true, true, true, api_refreshes},
};

struct api_path {
    bool v2;
    const char *id;
    size_t id_len;
    const char *verb;
    size_t verb_len;
};

/* [/v2]/sandboxes[/ID[/VERB]] */
static bool read_path(struct api_path *ret, const char *path, size_t len)
{
    static const char root[] = "/sandboxes";
    const char *end = path + len;

    memset(ret, 0, sizeof *ret);
    if (len > 3 && strncmp(path, "/v2/", 4) == 0) {
        ret->v2 = true;
        path += 3;
    }
    if ((size_t)(end - path) < sizeof root - 1 || strncmp(path, root, sizeof root - 1) != 0)
        return false;
    path += sizeof root - 1;
    if (path == end)
        return true;
    if (*path++ != '/' || path == end)
        return false;
    ret->id = path;
    const char *slash = memchr(path, '/', (size_t)(end - path));
    ret->id_len = (size_t)((slash ? slash : end) - path);
    if (slash) {
        ret->verb = slash + 1;
        ret->verb_len = (size_t)(end - ret->verb);
    }
    return true;
}

static bool fits(const struct api_route *route, const struct api_path *path)
{
    if (route->id != (path->id != NULL) || !(path->v2 ? route->v2 : route->v1))
        return false;
    if (!route->verb || !path->verb)
        return !route->verb && !path->verb;
    return strlen(route->verb) == path->verb_len &&
           strncmp(route->verb, path->verb, path->verb_len) == 0;
}

/* NULL: answered already. */
static const struct api_route *find_route(struct http_request *request, struct api_path *path)
{
    const char *method = http_method(request);
    bool known = false;

    if (read_path(path, http_target(request), http_path_len(request))) {
        for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
            if (!fits(&routes[i], path))
                continue;
            known = true;
            if (strcmp(method, routes[i].method) == 0)
                return &routes[i];
        }
    }
    if (known)
        api_error(request, 405, NULL, "method not allowed");
    else
        api_error(request, 404, NULL, "no such path in this server");
    return NULL;
}

/* ---- the call's life ---- */

static size_t on_body(struct http_request *request, const char *data, size_t len)
{
    struct api_call *call = http_user(request);

    if (he2b_buf_add(&call->body, data, len) != HE2B_OK)
        api_error(request, 413, NULL, "the body is larger than %d bytes", API_BODY_MAX);
    return len;
}

static void on_end(struct http_request *request)
{
    struct api_call *call = http_user(request);

    if (call->body.len > 0)
        (void)he2b_json_parse(&call->json, call->body.data, call->body.len);
    else
        call->json = he2b_json_new_object();
    if (he2b_json_is_object(call->json))
        call->fn(call);
    else
        api_error(request, 400, NULL,
                  "Error when parsing request: the body is not a JSON object in UTF-8");
}

static void on_gone(struct http_request *request, bool whole)
{
    struct api_call *call = http_user(request);

    (void)whole;
    api_create_forget(call);
    if (call->waiter.listed)
        sandbox_unwait(call->sandbox, &call->waiter);
    he2b_json_del(call->json);
    he2b_buf_free(&call->body);
    free(call);
}

void api_begin(struct plane *plane, struct http_request *request)
{
    static const struct http_ops ops = {.body = on_body, .end = on_end, .gone = on_gone};
    struct api_path path;
    struct api_call *call;
    size_t own = 0;

    if (http_path_is(request, "/health") && strcmp(http_method(request), "GET") == 0) {
        http_answer(request, 200, "text/plain; charset=utf-8", "e2b-local is healthy\n", 21);
        return;
    }
    const struct api_route *route = find_route(request, &path);
    if (!route)
        return;
    const char *refusal =
        credential_key_refusal(http_header(request, "X-API-Key"), plane->store.key);
    if (refusal) {
        api_error(request, 401, NULL, "%s", refusal);
        return;
    }
    call = calloc(1, sizeof *call);
    if (!call) {
        api_error(request, 500, "internal_server_error", "out of memory");
        return;
    }
    call->plane = plane;
    call->request = request;
    call->fn = route->fn;
    call->v2 = path.v2;
    call->came_ms = stamp_monotonic_ms();
    he2b_buf_init(&call->body, API_BODY_MAX);
    http_handle(request, &ops, call);
    if (path.id && credential_id_shape(path.id, path.id_len, &own))
        snprintf(call->id, sizeof call->id, "%.*s", (int)(own < API_ID_MAX ? own : API_ID_MAX),
                 path.id);
}

void api_wait(struct api_call *call, struct sandbox *sandbox,
              void (*fn)(void *user, struct sandbox *sandbox, bool gone, const char *why))
{
    call->sandbox = sandbox;
    call->waiter.fn = fn;
    call->waiter.user = call;
    sandbox_wait(sandbox, &call->waiter);
}

/* ---- reading the body ---- */

bool api_get_int(const he2b_json *object, const char *key, bool *has, int64_t *ret)
{
    const he2b_json *value = he2b_json_get(object, key);
    int64_t number = 0;

    if (has)
        *has = value != NULL;
    if (!value)
        return true;
    /* an int32 of the schema; a string that is a number is none */
    if (he2b_json_string(value, NULL) || !he2b_json_int(value, &number) || number > INT32_MAX ||
        number < INT32_MIN)
        return false;
    *ret = number;
    return true;
}

bool api_get_bool(const he2b_json *object, const char *key, bool *has, bool *ret)
{
    const he2b_json *value = he2b_json_get(object, key);

    if (has)
        *has = value != NULL;
    return !value || he2b_json_bool(value, ret);
}

bool api_is_too_long(struct api_call *call, int64_t seconds)
{
    int64_t most = call->plane->options->max_lease_s;

    if (seconds <= most)
        return false;
    api_error(call->request, 400, NULL, "Timeout cannot be greater than %g hours",
              (double)most / 3600);
    return true;
}
