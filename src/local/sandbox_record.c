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
    /* what is about to run again is still paused; what the server's end broke off is not */
    bad |= he2b_json_add_bool(record, "paused",
                              sandbox->state != SANDBOX_RUNNING && !sandbox->broken_off);
    bad |= he2b_json_add_int(record, "startedAt", sandbox->started);
    bad |= he2b_json_add_int(record, "endAt", sandbox->ended);
    bad |= he2b_json_add_int(record, "leaseEndAt", sandbox->lease_end);
    if (bad == HE2B_OK)
        return record;
    he2b_json_del(record);
    return NULL;
}

/* ---- reading: what is there must be of its type, so that half a record is none ---- */

static bool get_bool(const he2b_json *record, const char *key, bool *ret)
{
    return he2b_json_bool(he2b_json_get(record, key), ret);
}

static bool get_time(const he2b_json *record, const char *key, int64_t *ret)
{
    const he2b_json *value = he2b_json_get(record, key);
    return value && !he2b_json_string(value, NULL) && he2b_json_int(value, ret) && *ret >= 0;
}

/* optional: *ret is NULL without it */
static bool get_string(const he2b_json *record, const char *key, bool optional, char **ret)
{
    const char *text = he2b_json_get_string(record, key);

    if (!text)
        return optional && !he2b_json_get(record, key);
    *ret = strdup(text);
    return *ret != NULL;
}

static bool is_string(void *user, const char *key, const he2b_json *member)
{
    bool *good = user;

    (void)key;
    *good = he2b_json_string(member, NULL) != NULL;
    return *good;
}

static bool get_metadata(const he2b_json *record, struct sandbox *ret)
{
    const he2b_json *value = he2b_json_get(record, "metadata");
    bool good = he2b_json_is_object(value);

    if (!value)
        return true;
    if (good)
        he2b_json_each(value, is_string, &good);
    if (!good)
        return false;
    ret->settings.metadata = he2b_json_copy_text(value);
    ret->metadata = he2b_json_copy(value);
    return ret->settings.metadata && ret->metadata;
}

static bool read_record(struct sandbox *ret, bool *ret_paused, const he2b_json *record)
{
    struct sandbox_settings *settings = &ret->settings;

    return get_string(record, "templateID", false, &settings->template_id) &&
           get_string(record, "idempotencyKey", true, &settings->idempotency_key) &&
           get_metadata(record, ret) && get_time(record, "timeout", &settings->timeout_s) &&
           get_bool(record, "autoPause", &settings->auto_pause) &&
           get_bool(record, "autoPauseMemory", &settings->auto_pause_memory) &&
           get_bool(record, "autoResume", &settings->auto_resume) &&
           get_bool(record, "secure", &settings->secure) &&
           get_bool(record, "internet", &settings->internet) &&
           get_bool(record, "paused", ret_paused) && get_time(record, "startedAt", &ret->started) &&
           get_time(record, "endAt", &ret->ended) &&
           (!he2b_json_get(record, "leaseEndAt") ||
            get_time(record, "leaseEndAt", &ret->lease_end));
}

/* ---- after a restart ---- */

static void release(struct sandbox *sandbox)
{
    sandbox_settings_free(&sandbox->settings);
    he2b_json_del(sandbox->metadata);
    free(sandbox);
}

static void remove_kept(struct plane *plane, const char *id)
{
    char name[64];

    store_remove(&plane->store, id);
    if (store_retire_folder(&plane->store, id, name) == 0 && *name)
        sweep_start(plane->sweep, name);
    log_line(LOG_LEVEL_INFO, "sandbox %s is gone: its lease ended while no server ran", id);
}

/* It ran when the server ended. False if it is not to come back. */
static bool take_up(struct sandbox *sandbox)
{
    int64_t now = stamp_now();
    int64_t left_ms = (sandbox->lease_end - now) / 1000000;
    int64_t most_ms = sandbox->plane->options->max_lease_s * 1000;

    /* it was paused then, or at its lease's end if that came first */
    if (sandbox->ended > now)
        sandbox->ended = now;
    if (sandbox->settings.auto_pause)
        return true;
    if (left_ms <= 0)
        return false;
    sandbox->broken_off = true;
    /* the clock may have been set back meanwhile */
    sandbox->expires_ms = stamp_monotonic_ms() + (left_ms < most_ms ? left_ms : most_ms);
    return true;
}

bool sandbox_restore(struct plane *plane, const char *id, const he2b_json *record)
{
    const char *own = he2b_json_get_string(record, "sandboxID");
    struct sandbox *sandbox = NULL;
    bool paused = false;

    if (!own || strcmp(own, id) != 0 || strlen(id) > CREDENTIAL_ID_LEN)
        return false;
    sandbox = calloc(1, sizeof *sandbox);
    if (!sandbox)
        return false;
    sandbox->plane = plane;
    sandbox->control_fd = -1;
    sandbox->state = SANDBOX_PAUSED;
    snprintf(sandbox->id, sizeof sandbox->id, "%s", id);
    credential_token(sandbox->token, plane->store.secret, id);
    if (!read_record(sandbox, &paused, record)) {
        release(sandbox);
        return false;
    }
    if (!paused && !take_up(sandbox)) {
        remove_kept(plane, id);
        release(sandbox);
        return true;
    }
    sandbox->next = plane->first;
    plane->first = sandbox;
    return true;
}
