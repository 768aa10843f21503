#include "he2b.h"
#include "local/log.h"
#include "local/plane.h"
#include "local/sandbox.h"
#include "local/stamp.h"
#include "local/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sandbox_settings_free(struct sandbox_settings *settings)
{
    free(settings->template_id);
    free(settings->metadata);
    free(settings->env_vars);
    free(settings->idempotency_key);
    memset(settings, 0, sizeof *settings);
}

he2b_json *sandbox_record(const struct sandbox *sandbox)
{
    const struct sandbox_settings *settings = &sandbox->settings;
    he2b_json *record = he2b_json_new_object();
    he2b_json *metadata = NULL;
    int bad = HE2B_OK;

    if (!record)
        return NULL;
    bad |= he2b_json_add_string(record, "sandboxID", sandbox->id);
    bad |= he2b_json_add_string(record, "templateID", settings->template_id);
    /* envVars are left out: they may be secrets, and a cold boot has to forget them anyway */
    if (settings->metadata) {
        bad |= he2b_json_parse(&metadata, settings->metadata, strlen(settings->metadata));
        bad |= he2b_json_add(record, "metadata", metadata);
    }
    if (settings->idempotency_key)
        bad |= he2b_json_add_string(record, "idempotencyKey", settings->idempotency_key);
    bad |= he2b_json_add_int(record, "timeout", settings->timeout_s);
    bad |= he2b_json_add_bool(record, "autoPause", settings->auto_pause);
    bad |= he2b_json_add_bool(record, "autoPauseMemory", settings->auto_pause_memory);
    bad |= he2b_json_add_bool(record, "autoResume", settings->auto_resume);
    bad |= he2b_json_add_bool(record, "secure", settings->secure);
    bad |= he2b_json_add_bool(record, "internet", settings->internet);
    bad |= he2b_json_add_bool(record, "paused", sandbox->state == SANDBOX_PAUSED);
    bad |= he2b_json_add_int(record, "startedAt", sandbox->started);
    bad |= he2b_json_add_int(record, "endAt", sandbox->ended);
    if (bad == HE2B_OK)
        return record;
    he2b_json_del(record);
    return NULL;
}

static bool get_bool(const he2b_json *record, const char *key)
{
    bool value = false;
    he2b_json_bool(he2b_json_get(record, key), &value);
    return value;
}

static char *copy_string(const he2b_json *record, const char *key)
{
    const char *text = he2b_json_get_string(record, key);
    return text ? strdup(text) : NULL;
}

static char *copy_object(const he2b_json *record, const char *key)
{
    const he2b_json *value = he2b_json_get(record, key);
    return he2b_json_is_object(value) ? he2b_json_copy_text(value) : NULL;
}

static void read_settings(struct sandbox_settings *ret, const he2b_json *record)
{
    ret->template_id = copy_string(record, "templateID");
    ret->metadata = copy_object(record, "metadata");
    ret->idempotency_key = copy_string(record, "idempotencyKey");
    he2b_json_int(he2b_json_get(record, "timeout"), &ret->timeout_s);
    ret->auto_pause = get_bool(record, "autoPause");
    ret->auto_pause_memory = get_bool(record, "autoPauseMemory");
    ret->auto_resume = get_bool(record, "autoResume");
    ret->secure = get_bool(record, "secure");
    ret->internet = get_bool(record, "internet");
}

/* It ran when the server ended, and would have been killed at its lease's end. */
static bool restore_removed(struct plane *plane, const char *id)
{
    char name[64];

    store_remove(&plane->store, id);
    if (store_retire_folder(&plane->store, id, name) == 0 && *name)
        sweep_start(plane->sweep, name);
    return true;
}

bool sandbox_restore(struct plane *plane, const char *id, const he2b_json *record)
{
    const char *own = he2b_json_get_string(record, "sandboxID");
    bool paused = get_bool(record, "paused");
    struct sandbox *sandbox;

    if (!own || strcmp(own, id) != 0 || strlen(id) > CREDENTIAL_ID_LEN)
        return false;
    if (!paused && !get_bool(record, "autoPause"))
        return restore_removed(plane, id);
    sandbox = calloc(1, sizeof *sandbox);
    if (!sandbox)
        return false;
    sandbox->plane = plane;
    sandbox->control_fd = -1;
    sandbox->state = SANDBOX_PAUSED;
    snprintf(sandbox->id, sizeof sandbox->id, "%s", id);
    credential_token(sandbox->token, plane->store.secret, id);
    read_settings(&sandbox->settings, record);
    he2b_json_int(he2b_json_get(record, "startedAt"), &sandbox->started);
    he2b_json_int(he2b_json_get(record, "endAt"), &sandbox->ended);
    if (!paused && sandbox->ended > stamp_now())
        sandbox->ended = stamp_now();
    if (sandbox->settings.metadata)
        (void)he2b_json_parse(&sandbox->metadata, sandbox->settings.metadata,
                              strlen(sandbox->settings.metadata));
    sandbox->next = plane->first;
    plane->first = sandbox;
    if (sandbox->settings.template_id)
        return true;
    sandbox_end(sandbox);
    return false;
}
