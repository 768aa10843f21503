#include "session/session.h"

#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOG_LINE_MAX = 1024,
};

/* ---- texts ---- */

void he2b_session_secrets(const he2b_session *session, struct he2b_secrets *ret)
{
    ret->api_key = session->settings.api_key;
    ret->access_token = session->endpoint.access_token;
}

void he2b_session_log(he2b_session *session, int level, const char *format, ...)
{
    struct he2b_secrets secrets;
    char raw[LOG_LINE_MAX];
    char line[LOG_LINE_MAX];
    va_list args;

    if (!session->log)
        return;
    va_start(args, format);
    vsnprintf(raw, sizeof(raw), format, args);
    va_end(args);
    he2b_session_secrets(session, &secrets);
    he2b_redact(raw, &secrets);
    he2b_text_line(line, sizeof(line), raw, strlen(raw));
    session->log(session->log_user, level, line);
}

void he2b_session_target(const he2b_session *session, struct he2b_process_target *ret)
{
    ret->loop = session->loop;
    ret->settings = &session->settings;
    ret->endpoint = &session->endpoint;
}

/* ---- the pump ---- */

void he2b_session_wake(he2b_session *session)
{
    he2b_task_schedule(session->pump);
}

void he2b_session_post(he2b_session *session, enum he2b_lifecycle_event event)
{
    he2b_events_post(&session->events, (int)event);
    he2b_session_wake(session);
}

void he2b_writer_post(he2b_session *session, enum he2b_writer_event event)
{
    he2b_events_post(&session->writer_events, (int)event);
    he2b_session_wake(session);
}

void he2b_teardown_post(he2b_session *session, enum he2b_teardown_event event)
{
    he2b_events_post(&session->teardown_events, (int)event);
    he2b_session_wake(session);
}

static bool step_writer(he2b_session *session)
{
    enum he2b_writer_state_id before = session->writer.state;
    unsigned refused = session->writer.refused;
    int event;

    if (!he2b_events_take(&session->writer_events, &event))
        return false;
    he2b_writer_machine_step(&session->writer, (enum he2b_writer_event)event);
    he2b_session_log(session, HE2B_LOG_DEBUG, "role: %s, %s, %s", he2b_writer_state_name(before),
                     he2b_writer_event_name((enum he2b_writer_event)event),
                     session->writer.refused != refused
                         ? "refused"
                         : he2b_writer_state_name(session->writer.state));
    return true;
}

static bool step_teardown(he2b_session *session)
{
    enum he2b_teardown_state_id before = session->teardown.state;
    unsigned refused = session->teardown.refused;
    int event;

    if (!he2b_events_take(&session->teardown_events, &event))
        return false;
    he2b_teardown_machine_step(&session->teardown, (enum he2b_teardown_event)event);
    he2b_session_log(session, HE2B_LOG_DEBUG, "end: %s, %s, %s", he2b_teardown_state_name(before),
                     he2b_teardown_event_name((enum he2b_teardown_event)event),
                     session->teardown.refused != refused
                         ? "refused"
                         : he2b_teardown_state_name(session->teardown.state));
    return true;
}

static bool step_session(he2b_session *session)
{
    enum he2b_lifecycle_state_id before = session->machine.state;
    unsigned refused = session->machine.refused;
    int event;

    if (!he2b_events_take(&session->events, &event))
        return false;
    he2b_lifecycle_machine_step(&session->machine, (enum he2b_lifecycle_event)event);
    he2b_session_log(
        session, HE2B_LOG_DEBUG, "session: %s, %s, %s", he2b_lifecycle_state_name(before),
        he2b_lifecycle_event_name((enum he2b_lifecycle_event)event),
        session->machine.refused != refused ? "refused"
                                            : he2b_lifecycle_state_name(session->machine.state));
    return true;
}

static int64_t longest_need(const he2b_session *session)
{
    const struct he2b_waiter *waiter;
    int64_t need = 0;

    for (waiter = session->waiters; waiter; waiter = waiter->next) {
        if (waiter->need_ms > need)
            need = waiter->need_ms;
    }
    return need;
}

/* Nothing is begun any more for who still waits: closing creates nothing (B-90). A sync that is on
 * its way comes first, as a command does: the pull begins with a writer at rest. */
static bool may_close(const he2b_session *session)
{
    return session->closing && !he2b_commands_live(session) && !session->events.count &&
           !session->writer_events.count &&
           (session->machine.state != HE2B_LIFECYCLE_PREPARING || !he2b_role_syncs(session));
}

static void close_now(he2b_session *session)
{
    if (session->close_sent)
        return;
    session->close_sent = true;
    he2b_failure_set(&session->failure, NULL, HE2B_ERR_CLOSED, 0, "use session", NULL, "%s",
                     he2b_strerror(HE2B_ERR_CLOSED));
    he2b_session_post(session, LIFE_CLOSE);
}

static void consider_detached(he2b_session *session)
{
    session->lease_s = he2b_lease_ask(session, longest_need(session));
    if (session->scope[0])
        he2b_session_post(session, LIFE_WANT_SCOPE);
    else
        he2b_session_post(session, session->endpoint.sandbox_id[0] ? LIFE_WANT_OLD : LIFE_WANT_NEW);
}

static void consider_ready(he2b_session *session)
{
    enum he2b_lease_step lease = he2b_lease_step(session, longest_need(session));

    if (lease != HE2B_LEASE_COVERS)
        session->lease_s = he2b_lease_ask(session, longest_need(session));
    if (lease == HE2B_LEASE_FIRST) {
        he2b_session_post(session, LIFE_STALE);
        return;
    }
    he2b_session_post(session, session->scope[0] ? LIFE_WANT_GATE : LIFE_WANT);
    if (lease == HE2B_LEASE_BESIDE && he2b_lease_may_renew(session))
        he2b_session_post(session, LIFE_RENEW);
}

/* A search of which nobody hears keeps no other session from the role (B-64). */
static bool searching(const he2b_session *session)
{
    switch (session->machine.state) {
    case HE2B_LIFECYCLE_ELECTING:
    case HE2B_LIFECYCLE_LOOKING_UP:
        return true;
    case HE2B_LIFECYCLE_CONNECTING:
        return session->scope[0] && !session->attached;
    default:
        return false;
    }
}

/* What somebody who waits, or the wish to close, makes of a session that is at rest. */
static void consider(he2b_session *session)
{
    if (may_close(session))
        close_now(session);
    else if (session->waiters && session->machine.state == HE2B_LIFECYCLE_DETACHED)
        consider_detached(session);
    else if (session->waiters && session->machine.state == HE2B_LIFECYCLE_READY)
        consider_ready(session);
    else if (!session->waiters && searching(session))
        he2b_session_post(session, LIFE_ABANDONED);
}

void he2b_waiters_ask(he2b_session *session)
{
    struct he2b_waiter *waiter;

    for (waiter = session->waiters; waiter; waiter = waiter->next)
        waiter->asked = true;
}

void he2b_waiters_tell(he2b_session *session, struct he2b_waiter **list, bool asked_only,
                       const struct he2b_failure *failure)
{
    struct he2b_waiter **end = &session->due;

    while (*end)
        end = &(*end)->next;
    while (*list) {
        struct he2b_waiter *waiter = *list;

        if (asked_only && !waiter->asked) {
            list = &waiter->next;
            continue;
        }
        *list = waiter->next;
        waiter->next = NULL;
        waiter->failed = failure != NULL;
        if (failure)
            waiter->failure = *failure;
        *end = waiter;
        end = &waiter->next;
    }
}

/* The callbacks of those who wait: outside every chart, and free to call anything. */
static void tell_due(he2b_session *session)
{
    while (session->due && !session->deleted) {
        struct he2b_waiter *waiter = session->due;

        session->due = waiter->next;
        waiter->fn(waiter->user, waiter->failed ? &waiter->failure : NULL);
        free(waiter);
    }
}

static void session_free(he2b_session *session);

static void on_pump(void *arg)
{
    he2b_session *session = arg;

    session->pumping = true;
    while (step_teardown(session) || step_session(session) || step_writer(session) ||
           he2b_commands_step(session)) {
    }
    tell_due(session);
    if (!session->deleted)
        he2b_commands_deliver(session);
    if (!session->deleted)
        he2b_steps_hand_out(session);
    if (!session->deleted) {
        consider(session);
        he2b_lease_watch(session);
    }
    session->pumping = false;
    if (session->deleted)
        session_free(session);
}

/* ---- making and deleting ---- */

int he2b_session_new(he2b_session **ret, he2b_loop *loop, const he2b_options *options,
                     he2b_log_fn log, void *user)
{
    he2b_session *session;
    int error;

    if (he2b_loop_forked(loop))
        return HE2B_ERR_FORK;
    session = calloc(1, sizeof(*session));
    if (!session)
        return HE2B_ERR_NOMEM;
    session->loop = loop;
    session->log = log;
    session->log_user = user;
    session->renew_every_ms = HE2B_RENEW_EVERY_MS;
    he2b_buf_init(&session->probe_output, HE2B_PATH_MAX * 4);
    he2b_lifecycle_machine_init(&session->machine, &he2b_lifecycle_actions, session);
    he2b_writer_machine_init(&session->writer, &he2b_writer_actions, session);
    he2b_teardown_machine_init(&session->teardown, &he2b_teardown_actions, session);
    error = he2b_settings_copy(&session->settings, options);
    if (!error)
        error = he2b_task_new(&session->pump, loop, on_pump, session);
    if (error) {
        session_free(session);
        return error;
    }
    *ret = session;
    return HE2B_OK;
}

static void free_waiters(struct he2b_waiter **list)
{
    while (*list) {
        struct he2b_waiter *waiter = *list;

        *list = waiter->next;
        free(waiter);
    }
}

static void session_free(he2b_session *session)
{
    he2b_lifecycle_cancel(session);
    he2b_timer_del(session->lease_timer);
    he2b_timer_del(session->probe_timer);
    he2b_timer_del(session->lock_timer);
    he2b_steps_forget(session);
    he2b_host_del(session->steps.host);
    free_waiters(&session->waiters);
    free_waiters(&session->closers);
    free_waiters(&session->due);
    he2b_task_del(session->pump);
    he2b_buf_free(&session->probe_output);
    he2b_settings_done(&session->settings);
    he2b_endpoint_wipe(&session->endpoint);
    free(session);
}

/* Tells them that there is nothing to wait for any more. */
static void drop_waiters(he2b_session *session, struct he2b_waiter **list)
{
    struct he2b_failure failure;

    he2b_failure_set(&failure, NULL, HE2B_ERR_CLOSED, 0, "use session", NULL, "%s",
                     he2b_strerror(HE2B_ERR_CLOSED));
    while (*list) {
        struct he2b_waiter *waiter = *list;

        *list = waiter->next;
        if (list != &session->due)
            waiter->fn(waiter->user, &failure);
        else
            waiter->fn(waiter->user, waiter->failed ? &waiter->failure : NULL);
        free(waiter);
    }
}

void he2b_session_del(he2b_session *session)
{
    if (!session || session->deleted)
        return;
    /* What is called from here on finds a session that is closed. */
    session->deleted = true;
    session->closing = true;
    he2b_commands_drop(session);
    drop_waiters(session, &session->waiters);
    drop_waiters(session, &session->closers);
    drop_waiters(session, &session->due);
    if (!session->pumping)
        session_free(session);
}

/* Nobody has asked anything of it yet. */
static bool untouched(const he2b_session *session)
{
    return session->machine.state == HE2B_LIFECYCLE_DETACHED && !session->generation &&
           !session->waiters;
}

int he2b_session_set_sandbox(he2b_session *session, const char *sandbox_id)
{
    if (!he2b_sandbox_id_valid(sandbox_id))
        return HE2B_ERR_ARG;
    if (!untouched(session) || session->scope[0])
        return HE2B_ERR_STATE;
    snprintf(session->endpoint.sandbox_id, sizeof(session->endpoint.sandbox_id), "%s", sandbox_id);
    session->own = false;
    return HE2B_OK;
}

int he2b_session_set_scope(he2b_session *session, const char *home, const char *task,
                           int host_state)
{
    const struct he2b_scope scope = {
        .home = home,
        .task = task,
        .template_id = session->settings.template_id,
        .persistent = true,
        .internet = session->settings.allow_internet_access,
        .secure = session->settings.secure,
    };
    struct he2b_host *host;
    char digest[HE2B_SCOPE_MAX];
    int error;

    if (!untouched(session) || session->scope[0] || session->endpoint.sandbox_id[0])
        return HE2B_ERR_STATE;
    host = he2b_host_new();
    if (!host)
        return HE2B_ERR_NOMEM;
    he2b_scope_digest(digest, &scope);
    error = he2b_host_files(&host->files, home, digest);
    if (error) {
        he2b_host_del(host);
        return error;
    }
    session->steps.host = host;
    session->host_state = host_state != 0;
    memcpy(session->scope, digest, sizeof(digest));
    return HE2B_OK;
}

int he2b_session_on_step(he2b_session *session, he2b_step_fn fn, void *user)
{
    if (!untouched(session))
        return HE2B_ERR_STATE;
    session->steps.fn = fn;
    session->steps.user = user;
    return HE2B_OK;
}

int he2b_session_set_api_key(he2b_session *session, const char *key)
{
    return he2b_settings_set_key(&session->settings, key);
}

/* ---- waiting ---- */

static int add_waiter(struct he2b_waiter **list, he2b_session_fn fn, void *user, int64_t need_ms)
{
    struct he2b_waiter *waiter = calloc(1, sizeof(*waiter));

    if (!waiter)
        return HE2B_ERR_NOMEM;
    waiter->fn = fn;
    waiter->user = user;
    waiter->need_ms = need_ms;
    while (*list)
        list = &(*list)->next;
    *list = waiter;
    return HE2B_OK;
}

int he2b_session_wait(he2b_session *session, int64_t timeout_ms, he2b_session_fn fn, void *user)
{
    int error = add_waiter(&session->waiters, fn, user, he2b_lease_need(session, timeout_ms));

    if (error)
        return error;
    /* said when nobody waited, and not heard yet: there is no failure to tell this one of */
    he2b_events_forget(&session->events, LIFE_ABANDONED);
    he2b_session_wake(session);
    return HE2B_OK;
}

int he2b_session_prepare(he2b_session *session, int64_t timeout_ms, he2b_session_fn done,
                         void *user)
{
    if (he2b_loop_forked(session->loop))
        return HE2B_ERR_FORK;
    if (session->closing)
        return HE2B_ERR_CLOSED;
    return he2b_session_wait(session, timeout_ms, done, user);
}

void he2b_session_cancel(he2b_session *session, void *user)
{
    struct he2b_waiter **link = &session->waiters;

    while (*link) {
        struct he2b_waiter *waiter = *link;
        struct he2b_waiter **end = &session->due;

        if (waiter->user != user) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        waiter->next = NULL;
        waiter->failed = true;
        he2b_failure_set(&waiter->failure, NULL, HE2B_ERR_CANCELLED, 0, "prepare sandbox", NULL,
                         "%s", he2b_strerror(HE2B_ERR_CANCELLED));
        while (*end)
            end = &(*end)->next;
        *end = waiter;
        he2b_session_wake(session);
    }
}

static void forget(struct he2b_waiter **link, const void *user)
{
    while (*link) {
        struct he2b_waiter *waiter = *link;

        if (waiter->user == user) {
            *link = waiter->next;
            free(waiter);
        } else {
            link = &waiter->next;
        }
    }
}

void he2b_session_cancel_quietly(he2b_session *session, const void *user)
{
    forget(&session->waiters, user);
    forget(&session->due, user);
}

int he2b_session_close(he2b_session *session, he2b_session_fn done, void *user)
{
    int error;

    if (he2b_loop_forked(session->loop))
        return HE2B_ERR_FORK;
    if (session->deleted)
        return HE2B_ERR_CLOSED;
    if (session->teardown.state == HE2B_TEARDOWN_CLOSED)
        error = add_waiter(&session->due, done, user, 0);
    else
        error = add_waiter(&session->closers, done, user, 0);
    if (error)
        return error;
    he2b_session_wake(session);
    if (!session->closing)
        he2b_teardown_post(session, END_CLOSE);
    session->closing = true;
    if (may_close(session))
        close_now(session);
    return HE2B_OK;
}

/* ---- looking ---- */

const char *he2b_session_state(const he2b_session *session)
{
    return he2b_lifecycle_state_name(session->machine.state);
}

const char *he2b_session_sandbox_id(const he2b_session *session)
{
    return session->endpoint.sandbox_id;
}

const char *he2b_session_home(const he2b_session *session)
{
    return session->home;
}

const char *he2b_session_cwd(const he2b_session *session)
{
    return session->cwd;
}

unsigned he2b_session_generation(const he2b_session *session)
{
    return session->generation;
}

const char *he2b_session_scope(const he2b_session *session)
{
    return session->scope;
}

const char *he2b_session_role(const he2b_session *session)
{
    return he2b_writer_state_name(session->writer.state);
}
