#include "local/sandbox.h"

#include "local/log.h"
#include "local/plane.h"
#include "local/sandbox_daemon.h"
#include "local/stamp.h"
#include "local/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- who waits ---- */

void sandbox_wait(struct sandbox *sandbox, struct sandbox_waiter *waiter)
{
    waiter->next = sandbox->waiters;
    waiter->listed = true;
    sandbox->waiters = waiter;
}

void sandbox_unwait(struct sandbox *sandbox, struct sandbox_waiter *waiter)
{
    struct sandbox_waiter **link = &sandbox->waiters;

    while (*link && *link != waiter)
        link = &(*link)->next;
    if (*link)
        *link = waiter->next;
    waiter->listed = false;
}

/* Whoever is told may begin the next step and wait again: that list is a new one. Gone means that
 * no further step can be begun, so the list is final. */
static void tell(struct sandbox *sandbox, bool gone, const char *why)
{
    struct sandbox_waiter *list = NULL;

    while (sandbox->waiters) {
        struct sandbox_waiter *waiter = sandbox->waiters;
        sandbox->waiters = waiter->next;
        waiter->next = list;
        list = waiter;
        waiter->listed = false;
    }
    while (list) {
        struct sandbox_waiter *waiter = list;
        list = waiter->next;
        waiter->fn(waiter->user, sandbox, gone, why);
    }
}

/* ---- streams ---- */

void sandbox_add_stream(struct sandbox *sandbox, struct sandbox_stream *stream)
{
    stream->previous = NULL;
    stream->next = sandbox->streams;
    if (sandbox->streams)
        sandbox->streams->previous = stream;
    sandbox->streams = stream;
}

void sandbox_drop_stream(struct sandbox *sandbox, struct sandbox_stream *stream)
{
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        sandbox->streams = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
}

static void cut_streams(struct sandbox *sandbox)
{
    while (sandbox->streams) {
        struct sandbox_stream *stream = sandbox->streams;
        sandbox_drop_stream(sandbox, stream);
        stream->cut(stream);
    }
}

/* ---- the record ---- */

static bool keep_record(struct sandbox *sandbox, char why[SANDBOX_WHY_MAX])
{
    he2b_json *record = sandbox_record(sandbox);
    int result = -1;

    if (record)
        result = store_write(&sandbox->plane->store, sandbox->id, record, why);
    else
        snprintf(why, SANDBOX_WHY_MAX, "out of memory");
    he2b_json_del(record);
    return result == 0;
}

/* As above, where what happened has happened, recorded or not. */
static void note(struct sandbox *sandbox)
{
    char why[SANDBOX_WHY_MAX];

    if (!keep_record(sandbox, why))
        log_line(LOG_LEVEL_WARNING, "sandbox %s: %s", sandbox->id, why);
}

/* ---- leases ---- */

static void begin_lease(struct sandbox *sandbox, int64_t ms)
{
    sandbox->expires_ms = stamp_monotonic_ms() + ms;
    sandbox->lease_end = sandbox->ended = stamp_now() + ms * 1000000;
}

void sandbox_set_lease(struct sandbox *sandbox, int64_t ms)
{
    begin_lease(sandbox, ms);
    note(sandbox);
    plane_arm_leases(sandbox->plane);
}

bool sandbox_has_lease(const struct sandbox *sandbox)
{
    return sandbox->state == SANDBOX_RUNNING ||
           (sandbox->state == SANDBOX_PAUSED && sandbox->broken_off);
}

int64_t sandbox_left_ms(const struct sandbox *sandbox)
{
    return sandbox->expires_ms - stamp_monotonic_ms();
}

/* ---- the ends of steps ---- */

static void forget(struct sandbox *sandbox)
{
    struct sandbox **link = &sandbox->plane->first;

    while (*link && *link != sandbox)
        link = &(*link)->next;
    if (*link)
        *link = sandbox->next;
}

static void release(struct sandbox *sandbox)
{
    daemon_link_close(sandbox);
    sandbox_settings_free(&sandbox->settings);
    he2b_json_del(sandbox->metadata);
    free(sandbox);
}

/* Everything of it has ended: removes what is kept, too. */
static void vanish(struct sandbox *sandbox, const char *why)
{
    struct plane *plane = sandbox->plane;
    char name[64];

    sandbox->state = SANDBOX_KILLING;
    cut_streams(sandbox);
    forget(sandbox);
    store_remove(&plane->store, sandbox->id);
    if (store_retire_folder(&plane->store, sandbox->id, name) < 0)
        snprintf(name, sizeof name, "%s", sandbox->id);
    if (*name)
        sweep_start(plane->sweep, name);
    log_line(LOG_LEVEL_INFO, "sandbox %s is gone", sandbox->id);
    tell(sandbox, true, why);
    plane_arm_leases(plane);
    release(sandbox);
}

static void rest(struct sandbox *sandbox, bool frozen, const char *why)
{
    sandbox->state = SANDBOX_PAUSED;
    sandbox->frozen = frozen;
    note(sandbox);
    log_line(LOG_LEVEL_INFO, "sandbox %s is paused%s", sandbox->id, frozen ? ", in memory" : "");
    tell(sandbox, false, why);
    plane_arm_leases(sandbox->plane);
}

/* The pause is told to those who waited for it, but nobody gets hold of the sandbox any more. */
static void rest_doomed(struct sandbox *sandbox)
{
    sandbox->state = SANDBOX_KILLING;
    tell(sandbox, false, "");
    vanish(sandbox, "");
}

static void come_up(struct sandbox *sandbox)
{
    char why[SANDBOX_WHY_MAX] = "";
    struct plane *plane = sandbox->plane;
    const struct sandbox before = *sandbox;

    sandbox->state = SANDBOX_RUNNING;
    sandbox->frozen = sandbox->broken_off = false;
    sandbox->started = stamp_now();
    sandbox->started_ms = stamp_monotonic_ms();
    begin_lease(sandbox, sandbox->lease_s * 1000);
    if (!keep_record(sandbox, why)) {
        /* what would not be found again after a restart is not given out */
        *sandbox = before;
        snprintf(sandbox->boot_why, sizeof sandbox->boot_why, "%s", why);
        launch_kill(sandbox->launch);
        return;
    }
    sandbox->fresh = false;
    log_line(LOG_LEVEL_INFO, "sandbox %s runs", sandbox->id);
    tell(sandbox, false, "");
    plane_arm_leases(plane);
}

/* ---- steps ---- */

/* Called by sandbox_daemon.c. */

void sandbox_is_up(struct sandbox *sandbox)
{
    if (sandbox->state == SANDBOX_STARTING)
        come_up(sandbox);
}

void sandbox_has_ended(struct sandbox *sandbox, const char *why)
{
    const char *reason = *sandbox->boot_why ? sandbox->boot_why : why;

    cut_streams(sandbox);
    switch (sandbox->state) {
    case SANDBOX_STARTING:
        log_line(LOG_LEVEL_WARNING, "sandbox %s did not start: %s", sandbox->id, reason);
        if (sandbox->fresh)
            vanish(sandbox, *reason ? reason : "its daemon ended");
        else
            rest(sandbox, false, *reason ? reason : "its daemon ended");
        break;
    case SANDBOX_KILLING:
        vanish(sandbox, "");
        break;
    case SANDBOX_PAUSING:
        if (sandbox->doomed)
            rest_doomed(sandbox);
        else
            rest(sandbox, false, "");
        break;
    case SANDBOX_RUNNING:
    case SANDBOX_PAUSED:
        log_line(LOG_LEVEL_WARNING, "sandbox %s ended by itself: %s", sandbox->id,
                 *reason ? reason : "its daemon ended");
        if (sandbox->state == SANDBOX_RUNNING)
            sandbox->ended = stamp_now();
        /* the folder is whole, so what is meant to be kept is kept */
        if (sandbox->state == SANDBOX_PAUSED || sandbox->settings.auto_pause)
            rest(sandbox, false, "");
        else
            vanish(sandbox, "");
        break;
    }
}

struct sandbox *sandbox_create(struct plane *plane, const struct sandbox_settings *settings,
                               char why[SANDBOX_WHY_MAX])
{
    struct sandbox *sandbox = calloc(1, sizeof *sandbox);

    if (!sandbox) {
        struct sandbox_settings unused = *settings;
        sandbox_settings_free(&unused);
        snprintf(why, SANDBOX_WHY_MAX, "out of memory");
        return NULL;
    }
    sandbox->plane = plane;
    sandbox->settings = *settings;
    sandbox->control_fd = -1;
    sandbox->fresh = true;
    sandbox->state = SANDBOX_STARTING;
    sandbox->lease_s = settings->timeout_s;
    if (!credential_new_id(sandbox->id)) {
        snprintf(why, SANDBOX_WHY_MAX, "the system has no random numbers");
        goto failed;
    }
    credential_token(sandbox->token, plane->store.secret, sandbox->id);
    if (settings->metadata &&
        he2b_json_parse(&sandbox->metadata, settings->metadata, strlen(settings->metadata)) != 0) {
        snprintf(why, SANDBOX_WHY_MAX, "out of memory");
        goto failed;
    }
    if (launch_make_folder(plane->store.folders_fd, sandbox->id, why, SANDBOX_WHY_MAX) < 0)
        goto failed;
    if (daemon_link_boot(sandbox, why) < 0) {
        sweep_start(plane->sweep, sandbox->id);
        goto failed;
    }
    sandbox->next = plane->first;
    plane->first = sandbox;
    return sandbox;
failed:
    release(sandbox);
    return NULL;
}

int sandbox_resume(struct sandbox *sandbox, int64_t lease_s, char why[SANDBOX_WHY_MAX])
{
    sandbox->lease_s = lease_s;
    if (sandbox->frozen) {
        daemon_link_freeze(sandbox, false);
        sandbox->state = SANDBOX_STARTING;
        come_up(sandbox);
        return 0;
    }
    /* a snapshot of the folder alone has no room for these (wire A.8) */
    free(sandbox->settings.env_vars);
    sandbox->settings.env_vars = NULL;
    sandbox->state = SANDBOX_STARTING;
    if (daemon_link_boot(sandbox, why) == 0)
        return 0;
    sandbox->state = SANDBOX_PAUSED;
    return -1;
}

void sandbox_pause(struct sandbox *sandbox, bool memory)
{
    /* without namespaces of their own the processes cannot be told from others */
    bool freeze = memory && !sandbox->plane->options->without_isolation;

    if (memory && !freeze)
        log_line(LOG_LEVEL_WARNING,
                 "sandbox %s: its memory is not kept, which needs isolation; its files are",
                 sandbox->id);
    sandbox->state = SANDBOX_PAUSING;
    sandbox->ended = stamp_now();
    cut_streams(sandbox);
    /* now, since the server may end before the pause does */
    note(sandbox);
    plane_arm_leases(sandbox->plane);
    if (freeze && daemon_link_freeze(sandbox, true)) {
        rest(sandbox, true, "");
        return;
    }
    launch_kill(sandbox->launch);
}

void sandbox_kill(struct sandbox *sandbox)
{
    if (sandbox->state == SANDBOX_PAUSING) {
        sandbox->doomed = true;
        return;
    }
    sandbox->state = SANDBOX_KILLING;
    cut_streams(sandbox);
    if (sandbox->launch)
        launch_kill(sandbox->launch);
    else
        vanish(sandbox, "");
}

static bool is_kept(const struct sandbox *sandbox)
{
    if (sandbox->state == SANDBOX_KILLING || sandbox->fresh || sandbox->doomed)
        return false;
    return !sandbox_has_lease(sandbox) || sandbox->settings.auto_pause ||
           sandbox_left_ms(sandbox) > 0;
}

/* So that the next start knows when it ended. */
static void break_off(struct sandbox *sandbox)
{
    sandbox->state = SANDBOX_PAUSED;
    sandbox->ended = stamp_now();
    sandbox->broken_off = !sandbox->settings.auto_pause;
    note(sandbox);
}

void sandbox_end(struct sandbox *sandbox)
{
    char name[64] = "";

    forget(sandbox);
    launch_del(sandbox->launch);
    sandbox->launch = NULL;
    if (is_kept(sandbox)) {
        if (sandbox->state == SANDBOX_RUNNING)
            break_off(sandbox);
    } else {
        store_remove(&sandbox->plane->store, sandbox->id);
        if (store_retire_folder(&sandbox->plane->store, sandbox->id, name) == 0 && *name)
            sweep_start(sandbox->plane->sweep, name);
    }
    release(sandbox);
}
