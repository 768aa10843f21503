#include "he2b.h"
#include "local/api.h"
#include "local/log.h"
#include "local/plane.h"

#include <ctype.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* of create without a timeout: v1 and v2 (wire A.6, H) */
    TIMEOUT_V1_S = 15,
    TIMEOUT_V2_S = 300,
    /* guards the message that repeats it */
    TEMPLATE_MAX = 200,
    KEY_MAX = 255,
};

static bool refuse(struct api_call *call, unsigned status, const char *message)
{
    api_error(call->request, status, NULL, "%s", message);
    return false;
}

/* ---- the template ---- */

static bool is_known(const struct plane *plane, const char *name)
{
    for (size_t i = 0; i < plane->options->template_count; i++) {
        if (strcmp(plane->options->templates[i], name) == 0)
            return true;
    }
    return false;
}

/* Lower case, without white space around it. */
static char *normal_name(const char *text)
{
    size_t len;

    while (isspace((unsigned char)*text))
        text++;
    len = strlen(text);
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        len--;
    char *name = strndup(text, len);
    for (char *c = name; c && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return name;
}

static bool read_template(struct api_call *call, struct sandbox_settings *ret)
{
    const char *text = he2b_json_get_string(call->json, "templateID");
    char *tag;

    if (!text)
        return refuse(call, 400, "validation error: templateID must be a string");
    if (strlen(text) > TEMPLATE_MAX)
        return refuse(call, 400, "Invalid template reference: it is too long");
    ret->template_id = normal_name(text);
    if (!ret->template_id)
        return refuse(call, 500, "out of memory");
    if (!*ret->template_id)
        return refuse(call, 400, "Invalid template reference: it is empty");
    tag = strchr(ret->template_id, ':');
    if (tag)
        *tag++ = '\0';
    if (!is_known(call->plane, ret->template_id)) {
        api_error(call->request, 404, NULL,
                  "template '%s' not found: e2b-local has one system image, called 'base'; more "
                  "names for it are given with --template",
                  ret->template_id);
        return false;
    }
    if (tag && strcmp(tag, "default") != 0 && strcmp(tag, "latest") != 0) {
        api_error(call->request, 404, NULL, "tag '%s' does not exist for template '%s'", tag,
                  ret->template_id);
        return false;
    }
    return true;
}

/* ---- maps of strings ---- */

static bool is_string(void *user, const char *key, const he2b_json *member)
{
    bool *good = user;

    (void)key;
    *good = *good && he2b_json_string(member, NULL) != NULL;
    return *good;
}

/* *ret is NULL for none and for an empty one. */
static bool read_map(struct api_call *call, const char *key, char **ret)
{
    const he2b_json *map = he2b_json_get(call->json, key);
    bool good = !map || he2b_json_is_object(map);

    if (map && good)
        he2b_json_each(map, is_string, &good);
    if (!good) {
        api_error(call->request, 400, NULL, "validation error: %s must be an object of strings",
                  key);
        return false;
    }
    *ret = map ? he2b_json_copy_text(map) : NULL;
    if (map && !*ret)
        return refuse(call, 500, "out of memory");
    if (*ret && strcmp(*ret, "{}") == 0) {
        free(*ret);
        *ret = NULL;
    }
    return true;
}

/* ---- the life cycle ---- */

static bool read_timeout(struct api_call *call, struct sandbox_settings *ret)
{
    ret->timeout_s = plane_capped_s(call->plane, call->v2 ? TIMEOUT_V2_S : TIMEOUT_V1_S);
    if (!api_get_int(call->json, "timeout", NULL, &ret->timeout_s) || ret->timeout_s < 0)
        return refuse(call, 400,
                      "validation error: timeout must be a number of seconds, 0 or more");
    if (ret->timeout_s == 0)
        return refuse(call, 400, "Timeout must be greater than 0");
    return !api_is_too_long(call, ret->timeout_s);
}

static bool read_auto_resume(struct api_call *call, bool *ret)
{
    const he2b_json *value = he2b_json_get(call->json, "autoResume");

    return !value || (he2b_json_is_object(value) && api_get_bool(value, "enabled", NULL, ret));
}

static bool read_lifecycle(struct api_call *call, struct sandbox_settings *ret)
{
    ret->auto_pause_memory = true;
    ret->internet = true;
    ret->secure = call->v2;
    if (!api_get_bool(call->json, "autoPause", NULL, &ret->auto_pause) ||
        !api_get_bool(call->json, "autoPauseMemory", NULL, &ret->auto_pause_memory) ||
        !api_get_bool(call->json, "secure", NULL, &ret->secure) ||
        !api_get_bool(call->json, "allow_internet_access", NULL, &ret->internet) ||
        !read_auto_resume(call, &ret->auto_resume))
        return refuse(
            call, 400,
            "validation error: autoPause, autoPauseMemory, autoResume.enabled, secure and "
            "allow_internet_access must be true or false");
    /* v2 has no way to ask for less */
    ret->secure = ret->secure || call->v2;
    if (!ret->auto_pause_memory && !ret->auto_pause)
        return refuse(call, 400, "autoPauseMemory=false only applies when autoPause is true.");
    if (!ret->auto_pause_memory && ret->auto_resume)
        return refuse(call, 400,
                      "filesystem-only auto-pause (autoPauseMemory=false) cannot be combined with "
                      "autoResume: only a pause that keeps the memory can be woken by traffic");
    return true;
}

/* ---- repeats ---- */

/* *ret is the sandbox of an earlier call with the same key, or NULL. */
static bool read_key(struct api_call *call, struct sandbox_settings *settings, struct sandbox **ret)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    const char *key = http_header(call->request, "Idempotency-Key");

    *ret = NULL;
    if (!key)
        return true;
    if (!*key || strlen(key) > KEY_MAX || key[strspn(key, allowed)] != '\0')
        return refuse(call, 400,
                      "validation error: Idempotency-Key must be 1 to 255 characters of [a-z0-9-]");
    for (struct sandbox *s = call->plane->first; s; s = s->next) {
        if (s->settings.idempotency_key && s->state != SANDBOX_KILLING &&
            strcmp(s->settings.idempotency_key, key) == 0)
            *ret = s;
    }
    settings->idempotency_key = strdup(key);
    return settings->idempotency_key || refuse(call, 500, "out of memory");
}

static void on_started(void *user, struct sandbox *sandbox, bool gone, const char *why)
{
    struct api_call *call = user;

    if (gone)
        api_error(call->request, 500, "sandbox_create_failed", "Failed to create sandbox: %s", why);
    else
        api_answer(call->request, 201, api_sandbox(sandbox));
}

static void create(struct api_call *call)
{
    struct sandbox_settings settings = {0};
    char why[SANDBOX_WHY_MAX];
    struct sandbox *sandbox = NULL;

    if (!read_template(call, &settings) || !read_map(call, "metadata", &settings.metadata) ||
        !read_map(call, "envVars", &settings.env_vars) || !read_timeout(call, &settings) ||
        !read_lifecycle(call, &settings) || !read_key(call, &settings, &sandbox)) {
        sandbox_settings_free(&settings);
        return;
    }
    if (settings.env_vars && strlen(settings.env_vars) > SANDBOX_ENV_MAX) {
        sandbox_settings_free(&settings);
        api_error(call->request, 400, NULL, "envVars hold more than %d bytes", SANDBOX_ENV_MAX);
        return;
    }
    if (sandbox) {
        sandbox_settings_free(&settings);
        if (sandbox->state != SANDBOX_STARTING) {
            api_answer(call->request, 201, api_sandbox(sandbox));
            return;
        }
    } else {
        sandbox = sandbox_create(call->plane, &settings, why);
    }
    if (sandbox) {
        api_wait(call, sandbox, on_started);
        return;
    }
    log_line(LOG_LEVEL_WARNING, "a sandbox cannot be created: %s", why);
    api_error(call->request, 500, "sandbox_create_failed", "Failed to create sandbox: %s", why);
}

/* ---- turns ---- */

void api_create(struct api_call *call)
{
    static const struct timeval next = {0};

    call->next_create = call->plane->creates;
    call->plane->creates = call;
    event_add(call->plane->create_turn, &next);
}

void api_create_forget(struct api_call *call)
{
    struct api_call **link = &call->plane->creates;

    while (*link && *link != call)
        link = &(*link)->next_create;
    if (*link)
        *link = call->next_create;
}

void api_create_turn(evutil_socket_t fd, short what, void *user)
{
    static const struct timeval next = {0};
    struct plane *plane = user;
    struct api_call *call = plane->creates;

    (void)fd;
    (void)what;
    while (call && call->next_create)
        call = call->next_create;
    if (!call)
        return;
    api_create_forget(call);
    if (plane->creates)
        event_add(plane->create_turn, &next);
    create(call);
}
