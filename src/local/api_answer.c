#include "he2b.h"
#include "local/api.h"
#include "local/plane.h"
#include "local/stamp.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* a constant of old, which clients want to find (wire A.6) */
static const char client_id[] = "6532622b";
/* what the daemon in a sandbox can do (wire D.6) */
static const char envd_version[] = "0.6.13";
static const char json_type[] = "application/json; charset=utf-8";

void api_error(struct http_request *request, unsigned status, const char *error_code,
               const char *format, ...)
{
    he2b_json *error = he2b_json_new_object();
    char message[1024];
    const char *text = NULL;
    size_t len = 0;
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (error && he2b_json_add_int(error, "code", status) == HE2B_OK &&
        (!error_code || he2b_json_add_string(error, "error_code", error_code) == HE2B_OK) &&
        he2b_json_add_string(error, "message", message) == HE2B_OK)
        text = he2b_json_text(error, &len);
    if (!text) {
        text = "{\"code\":500,\"message\":\"out of memory\"}";
        len = strlen(text);
    }
    http_answer(request, status, json_type, text, len);
    he2b_json_del(error);
}

void api_not_found(struct api_call *call)
{
    if (!*call->id)
        api_error(call->request, 400, NULL, "Invalid sandbox ID");
    else
        api_error(call->request, 404, NULL,
                  "Sandbox \"%s\" doesn't exist or you don't have access to it", call->id);
}

void api_answer(struct http_request *request, unsigned status, he2b_json *value)
{
    size_t len = 0;
    const char *text = value ? he2b_json_text(value, &len) : NULL;

    if (text)
        http_answer(request, status, json_type, text, len);
    else
        api_error(request, 500, "internal_server_error", "out of memory");
    he2b_json_del(value);
}

void api_answer_empty(struct http_request *request)
{
    http_answer(request, 204, NULL, "", 0);
}

/* The members that both forms share; not 0 if one could not be added. */
static int add_identity(he2b_json *object, const struct sandbox *sandbox)
{
    int bad = HE2B_OK;

    bad |= he2b_json_add_string(object, "alias", sandbox->settings.template_id);
    bad |= he2b_json_add_string(object, "clientID", client_id);
    bad |= he2b_json_add_string(object, "envdVersion", envd_version);
    bad |= he2b_json_add_string(object, "sandboxID", sandbox->id);
    bad |= he2b_json_add_string(object, "templateID", sandbox->settings.template_id);
    return bad;
}

static he2b_json *checked(he2b_json *object, int bad)
{
    if (bad == HE2B_OK)
        return object;
    he2b_json_del(object);
    return NULL;
}

he2b_json *api_sandbox(const struct sandbox *sandbox)
{
    he2b_json *object = he2b_json_new_object();
    int bad = HE2B_OK;

    if (!object)
        return NULL;
    bad |= add_identity(object, sandbox);
    if (sandbox->settings.secure)
        bad |= he2b_json_add_string(object, "envdAccessToken", sandbox->token);
    return checked(object, bad);
}

static int add_time(he2b_json *object, const char *key, int64_t at)
{
    char text[STAMP_SIZE];

    stamp_format(text, at);
    return he2b_json_add_string(object, key, text);
}

static int add_null(he2b_json *object, const char *key)
{
    he2b_json *null = NULL;

    if (he2b_json_parse(&null, "null", 4) != HE2B_OK)
        return HE2B_ERR_NOMEM;
    return he2b_json_add(object, key, null);
}

static int add_detail(he2b_json *item, const struct sandbox *sandbox)
{
    const struct sandbox_settings *settings = &sandbox->settings;
    he2b_json *lifecycle = he2b_json_new_object();
    int bad = lifecycle ? HE2B_OK : HE2B_ERR_NOMEM;

    if (settings->secure)
        bad |= he2b_json_add_string(item, "envdAccessToken", sandbox->token);
    bad |= he2b_json_add_bool(item, "allowInternetAccess", settings->internet);
    /* no domain of its own, and no rules */
    bad |= add_null(item, "domain");
    bad |= he2b_json_add(item, "network", he2b_json_new_object());
    if (lifecycle) {
        bad |=
            he2b_json_add_string(lifecycle, "onTimeout", settings->auto_pause ? "pause" : "kill");
        bad |= he2b_json_add_bool(lifecycle, "autoResume", settings->auto_resume);
        bad |= he2b_json_add(item, "lifecycle", lifecycle);
    }
    return bad;
}

he2b_json *api_item(const struct sandbox *sandbox, bool detail)
{
    const struct plane *plane = sandbox->plane;
    const char *metadata = sandbox->settings.metadata;
    he2b_json *item = he2b_json_new_object();
    he2b_json *copy = NULL;
    int bad = HE2B_OK;

    if (!item)
        return NULL;
    bad |= add_identity(item, sandbox);
    bad |= he2b_json_add_int(item, "cpuCount", plane->cpu_count);
    bad |= he2b_json_add_int(item, "diskSizeMB", plane->disk_mb);
    bad |= he2b_json_add_int(item, "memoryMB", plane->memory_mb);
    bad |= add_time(item, "startedAt", sandbox->started);
    bad |= add_time(item, "endAt", sandbox->ended);
    bad |= he2b_json_add_string(item, "state",
                                sandbox->state == SANDBOX_RUNNING ? "running" : "paused");
    bad |= he2b_json_add(item, "volumeMounts", he2b_json_new_array());
    if (metadata) {
        bad |= he2b_json_parse(&copy, metadata, strlen(metadata));
        bad |= he2b_json_add(item, "metadata", copy);
    }
    if (detail)
        bad |= add_detail(item, sandbox);
    return checked(item, bad);
}
