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
    ret->attached_key = session->attached_key;
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
    session->ask_for_ms = HE2B_ASK_FOR_MS;
    session->ask_again_ms = HE2B_ASK_AGAIN_MS;
    he2b_buf_init(&session->probe_output, HE2B_PATH_MAX * 4);
    he2b_manifest_init(&session->manifest);
    he2b_lifecycle_machine_init(&session->machine, &he2b_lifecycle_actions, session);
    he2b_writer_machine_init(&session->writer, &he2b_writer_actions, session);
    he2b_teardown_machine_init(&session->teardown, &he2b_teardown_actions, session);
    error = he2b_settings_copy(&session->settings, options);
    if (!error)
        error = he2b_task_new(&session->pump, loop, he2b_session_pump, session);
    if (error) {
        he2b_session_free(session);
        return error;
    }
    *ret = session;
    return HE2B_OK;
}

void he2b_session_free(he2b_session *session)
{
    he2b_lifecycle_cancel(session);
    he2b_timer_del(session->lease_timer);
    he2b_timer_del(session->probe_timer);
    he2b_timer_del(session->lock_timer);
    he2b_steps_forget(session);
    he2b_host_del(session->steps.host);
    he2b_waiters_free(&session->waiters);
    he2b_waiters_free(&session->closers);
    he2b_waiters_free(&session->due);
    he2b_task_del(session->pump);
    he2b_buf_free(&session->probe_output);
    he2b_manifest_free(&session->manifest);
    he2b_settings_done(&session->settings);
    he2b_attachment_done(session);
    free(session);
}

void he2b_session_del(he2b_session *session)
{
    if (!session || session->deleted)
        return;
    /* What is called from here on finds a session that is closed. */
    session->deleted = true;
    session->closing = true;
    he2b_commands_drop(session);
    he2b_waiters_drop(session, &session->waiters);
    he2b_waiters_drop(session, &session->closers);
    he2b_waiters_drop(session, &session->due);
    if (!session->pumping)
        he2b_session_free(session);
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
    if (!untouched(session) || he2b_role_gates(session))
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

    if (!untouched(session) || he2b_role_gates(session) || session->endpoint.sandbox_id[0])
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

int he2b_session_set_host_state(he2b_session *session, int host_state)
{
    if (!untouched(session) || session->scope[0] || session->endpoint.sandbox_id[0])
        return HE2B_ERR_STATE;
    session->host_state = host_state != 0;
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

/* ---- waiting ---- */

int he2b_session_wait(he2b_session *session, int64_t timeout_ms, he2b_session_fn fn, void *user)
{
    int error = he2b_waiters_add(&session->waiters, fn, user, he2b_lease_need(session, timeout_ms));

    if (error)
        return error;
    /* said when nobody waited, and not heard yet: there is no failure to tell this one of */
    he2b_events_forget(&session->events, LIFE_ABANDONED);
    he2b_session_wake(session);
    return HE2B_OK;
}

bool he2b_session_is_prepared(const he2b_session *session, unsigned generation, int64_t timeout_ms)
{
    bool gates = he2b_role_gates(session);
    bool rests = session->machine.state == HE2B_LIFECYCLE_READY ||
                 (session->machine.state == HE2B_LIFECYCLE_PREPARING && gates);

    return rests && !session->events.count && generation == session->generation &&
           (!gates || he2b_role_admits(session)) &&
           he2b_lease_step(session, he2b_lease_need(session, timeout_ms)) != HE2B_LEASE_FIRST;
}

int he2b_session_admit(he2b_session *session, he2b_session_fn fn, void *user)
{
    int error = he2b_waiters_add(&session->due, fn, user, 0);

    if (!error)
        he2b_session_wake(session);
    return error;
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

void he2b_session_cancel_quietly(he2b_session *session, const void *user)
{
    he2b_waiters_forget(&session->waiters, user);
    he2b_waiters_forget(&session->due, user);
}

int he2b_session_close(he2b_session *session, he2b_session_fn done, void *user)
{
    int error;

    if (he2b_loop_forked(session->loop))
        return HE2B_ERR_FORK;
    if (session->deleted)
        return HE2B_ERR_CLOSED;
    if (session->teardown.state == HE2B_TEARDOWN_CLOSED)
        error = he2b_waiters_add(&session->due, done, user, 0);
    else
        error = he2b_waiters_add(&session->closers, done, user, 0);
    if (error)
        return error;
    he2b_session_wake(session);
    if (!session->closing)
        he2b_teardown_post(session, END_CLOSE);
    session->closing = true;
    he2b_session_consider_close(session);
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
