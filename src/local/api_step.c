#include "he2b.h"
#include "local/api.h"
#include "local/log.h"
#include "local/plane.h"
#include "local/stamp.h"

#include <string.h>

enum {
    /* connect without a timeout, which only v2 allows (wire H) */
    TIMEOUT_V2_S = 300,
    /* refreshes: least and most (wire A.11) */
    REFRESH_MIN_S = 15,
    REFRESH_MAX_S = 3600,
};

/* One that its creator has not got yet does not exist for others. */
static struct sandbox *find(const struct api_call *call)
{
    struct sandbox *sandbox = plane_find(call->plane, call->id);
    return sandbox && !sandbox->fresh ? sandbox : NULL;
}

/* What is left of the longest run. */
static int64_t age_left_ms(const struct sandbox *sandbox)
{
    return sandbox->plane->options->max_lease_s * 1000 -
           (stamp_monotonic_ms() - sandbox->started_ms);
}

/* The lease that is asked for, as far as the longest run allows it. */
static int64_t allowed_ms(const struct sandbox *sandbox, int64_t seconds)
{
    int64_t left = age_left_ms(sandbox);
    return seconds * 1000 < left ? seconds * 1000 : left;
}

/* Sets it only if that is later than the end is now. */
static void extend(struct sandbox *sandbox, int64_t seconds)
{
    int64_t ms = allowed_ms(sandbox, seconds);

    if (ms > sandbox_left_ms(sandbox))
        sandbox_set_lease(sandbox, ms);
}

/* ---- detail ---- */

void api_detail(struct api_call *call)
{
    struct sandbox *sandbox = find(call);

    if (!sandbox || sandbox->state == SANDBOX_KILLING)
        api_not_found(call);
    else
        api_answer(call->request, 200, api_item(sandbox, true));
}

/* ---- connect and resume ---- */

static void connect_step(struct api_call *call);

static void on_connect_step(void *user, struct sandbox *sandbox, bool gone, const char *why)
{
    struct api_call *call = user;

    (void)sandbox;
    if (gone)
        api_not_found(call);
    else if (*why && call->resumed)
        api_error(call->request, 500, "sandbox_create_failed", "Failed to resume sandbox: %s", why);
    else
        connect_step(call);
}

static void connect_running(struct api_call *call, struct sandbox *sandbox)
{
    if (age_left_ms(sandbox) <= 0) {
        api_error(call->request, 400, NULL, "Max instance length exceeded");
        return;
    }
    extend(sandbox, call->timeout_s);
    api_answer(call->request, call->resumed ? 201 : 200, api_sandbox(sandbox));
}

static void connect_paused(struct api_call *call, struct sandbox *sandbox)
{
    char why[SANDBOX_WHY_MAX];

    /* a cold boot has to begin before that (wire A.8) */
    if (!sandbox->frozen && stamp_monotonic_ms() >= call->came_ms + call->timeout_s * 1000) {
        api_error(call->request, 500, "sandbox_create_failed",
                  "Failed to resume sandbox: a lease of %lld s is over before it can start",
                  (long long)call->timeout_s);
        return;
    }
    call->resumed = true;
    if (sandbox_resume(sandbox, call->timeout_s, why) < 0) {
        log_line(LOG_LEVEL_WARNING, "sandbox %s cannot be resumed: %s", sandbox->id, why);
        api_error(call->request, 500, "sandbox_create_failed", "Failed to resume sandbox: %s", why);
    } else if (sandbox->state == SANDBOX_RUNNING) {
        connect_running(call, sandbox);
    } else {
        api_wait(call, sandbox, on_connect_step);
    }
}

static void connect_step(struct api_call *call)
{
    struct sandbox *sandbox = find(call);

    if (!sandbox) {
        api_not_found(call);
    } else if (sandbox->state == SANDBOX_KILLING) {
        api_error(call->request, 409, NULL, "Sandbox \"%s\" is being killed", call->id);
    } else if (sandbox->state == SANDBOX_RUNNING) {
        connect_running(call, sandbox);
    } else if (call->waits++ == API_WAITS_MAX) {
        api_error(call->request, 500, NULL, "Error waiting for sandbox state change");
    } else if (sandbox->state == SANDBOX_PAUSED) {
        connect_paused(call, sandbox);
    } else {
        /* who joins a start that another connect began has seen a resume all the same */
        call->resumed = call->resumed || sandbox->state == SANDBOX_STARTING;
        api_wait(call, sandbox, on_connect_step);
    }
}

void api_connect(struct api_call *call)
{
    bool has = false;
    bool memory = true;

    call->timeout_s = plane_capped_s(call->plane, TIMEOUT_V2_S);
    if (!api_get_int(call->json, "timeout", &has, &call->timeout_s) || call->timeout_s < 0 ||
        (!has && !call->v2)) {
        api_error(call->request, 400, NULL,
                  "validation error: timeout must be a number of seconds, 0 or more");
        return;
    }
    if (!api_get_bool(call->json, "memory", NULL, &memory)) {
        api_error(call->request, 400, NULL, "validation error: memory must be true or false");
        return;
    }
    if (!memory) {
        api_error(call->request, 400, "sandbox_memory_override_disabled",
                  "a cold boot of a sandbox whose memory was kept is not enabled here");
        return;
    }
    if (!api_is_too_long(call, call->timeout_s))
        connect_step(call);
}

void api_resume(struct api_call *call)
{
    struct sandbox *sandbox = find(call);

    call->timeout_s = plane_capped_s(call->plane, TIMEOUT_V2_S);
    if (!api_get_int(call->json, "timeout", NULL, &call->timeout_s) || call->timeout_s < 0) {
        api_error(call->request, 400, NULL,
                  "validation error: timeout must be a number of seconds, 0 or more");
        return;
    }
    if (api_is_too_long(call, call->timeout_s))
        return;
    if (!sandbox || sandbox->state == SANDBOX_KILLING)
        api_not_found(call);
    else if (sandbox->state == SANDBOX_RUNNING)
        api_error(call->request, 409, NULL, "Sandbox \"%s\" is already running", call->id);
    else
        connect_step(call);
}

/* ---- kill ---- */

static void on_killed(void *user, struct sandbox *sandbox, bool gone, const char *why)
{
    struct api_call *call = user;

    (void)why;
    /* a step that ended before the kill did: that end is still to come */
    if (gone)
        api_answer_empty(call->request);
    else
        api_wait(call, sandbox, on_killed);
}

void api_kill(struct api_call *call)
{
    struct sandbox *sandbox = find(call);

    if (!sandbox) {
        api_not_found(call);
        return;
    }
    bool going = sandbox->state == SANDBOX_KILLING;
    api_wait(call, sandbox, on_killed);
    if (!going)
        sandbox_kill(sandbox);
}

/* ---- pause ---- */

static void on_paused(void *user, struct sandbox *sandbox, bool gone, const char *why)
{
    struct api_call *call = user;

    (void)sandbox;
    (void)why;
    if (gone)
        api_not_found(call);
    else
        api_answer_empty(call->request);
}

void api_pause(struct api_call *call)
{
    struct sandbox *sandbox = find(call);
    bool memory = true;

    if (!api_get_bool(call->json, "memory", NULL, &memory)) {
        api_error(call->request, 400, NULL, "validation error: memory must be true or false");
        return;
    }
    if (!sandbox) {
        api_not_found(call);
    } else if (sandbox->state == SANDBOX_KILLING) {
        api_error(call->request, 409, NULL,
                  "Error pausing sandbox - sandbox '%s' cannot be paused while it is being killed",
                  call->id);
    } else if (sandbox->state == SANDBOX_PAUSED) {
        api_error(call->request, 409, NULL,
                  "Error pausing sandbox - sandbox '%s' is already paused", call->id);
    } else if (sandbox->state == SANDBOX_STARTING) {
        api_error(call->request, 409, NULL,
                  "Error pausing sandbox - sandbox '%s' cannot be paused while it starts",
                  call->id);
    } else {
        bool going = sandbox->state == SANDBOX_PAUSING;
        api_wait(call, sandbox, on_paused);
        if (!going)
            sandbox_pause(sandbox, memory);
    }
}

/* ---- leases ---- */

/* The running sandbox, or NULL: answered. */
static struct sandbox *find_running(struct api_call *call)
{
    struct sandbox *sandbox = find(call);

    if (sandbox && sandbox->state == SANDBOX_RUNNING)
        return sandbox;
    if (sandbox && sandbox->state == SANDBOX_PAUSING)
        api_error(call->request, 409, NULL, "Sandbox \"%s\" is being paused", call->id);
    else if (sandbox && sandbox->state == SANDBOX_KILLING)
        api_error(call->request, 409, NULL, "Sandbox \"%s\" is being killed", call->id);
    else
        api_not_found(call);
    return NULL;
}

void api_timeout(struct api_call *call)
{
    bool has = false;
    int64_t seconds = 0;

    if (!api_get_int(call->json, "timeout", &has, &seconds) || !has || seconds < 0) {
        api_error(call->request, 400, NULL,
                  "validation error: timeout must be a number of seconds, 0 or more");
        return;
    }
    struct sandbox *sandbox = find_running(call);
    if (!sandbox)
        return;
    sandbox_set_lease(sandbox, allowed_ms(sandbox, seconds));
    api_answer_empty(call->request);
}

void api_refreshes(struct api_call *call)
{
    int64_t seconds = 0;

    if (!api_get_int(call->json, "duration", NULL, &seconds) || seconds < 0 ||
        seconds > REFRESH_MAX_S) {
        api_error(call->request, 400, NULL,
                  "validation error: duration must be a number of seconds, 0 to 3600");
        return;
    }
    struct sandbox *sandbox = find_running(call);
    if (!sandbox)
        return;
    extend(sandbox, seconds < REFRESH_MIN_S ? REFRESH_MIN_S : seconds);
    api_answer_empty(call->request);
}
