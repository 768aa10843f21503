#include "session/step.h"

#include "machines/teardown_events.h"
#include "machines/writer_events.h"
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct he2b_step {
    he2b_session *session;  /* NULL: gone, or not interested any more */
    struct he2b_host *host; /* the session's, or this step's own once the session is gone */
    enum he2b_step_kind kind;
    const char *reason;
    bool did;
    struct he2b_step_result result;
};

static bool is_own(enum he2b_step_kind kind)
{
    return kind <= HE2B_STEP_RELEASE;
}

/* ---- the caller's side ---- */

enum he2b_step_kind he2b_step_kind(const he2b_step *step)
{
    return step->kind;
}

const char *he2b_step_name(int kind)
{
    static const char *const names[] = {
        [HE2B_STEP_ELECT] = "elect",     [HE2B_STEP_PROMOTE] = "promote",
        [HE2B_STEP_MARK] = "mark",       [HE2B_STEP_CLEAR] = "clear",
        [HE2B_STEP_RELEASE] = "release", [HE2B_STEP_RECOVER] = "recover",
        [HE2B_STEP_PUSH] = "push",       [HE2B_STEP_SYNC] = "sync",
        [HE2B_STEP_PULL] = "pull",
    };

    return kind >= HE2B_STEP_ELECT && kind <= HE2B_STEP_PULL ? names[kind] : "?";
}

void he2b_step_do(he2b_step *step)
{
    if (!is_own(step->kind))
        return;
    he2b_host_step(step->host, step->kind, step->reason, &step->result);
    step->did = true;
}

/* ---- what came of it ---- */

static void fail(he2b_session *session, const char *action, const char *hint, const char *why)
{
    struct he2b_secrets secrets;

    he2b_session_secrets(session, &secrets);
    he2b_failure_set(&session->failure, &secrets, HE2B_ERR_STEP, 0, action, hint, "%s", why);
}

static const char *hint_for(int error)
{
    switch (error) {
    case EMFILE:
    case ENFILE:
        return "close files or programs, then try again";
    case ENOMEM:
        return "free memory, then try again";
    case ENOSPC:
    case EDQUOT:
        return "free disk space, then try again";
    case ENOENT:
    case ENOTDIR:
        return "the profile home must be a folder that exists";
    default:
        return "look at the disk that holds the profile home";
    }
}

static void finish_own(he2b_session *session, const he2b_step *step)
{
    const struct he2b_step_result *result = &step->result;
    struct he2b_steps *steps = &session->steps;

    if (result->no_lock)
        he2b_session_log(session, HE2B_LOG_WARNING,
                         "%s has been held by another process for %d s; going on without it, so "
                         "that the scope may get two sandboxes",
                         steps->host->files.creation_lock, steps->host->creation_wait_ms / 1000);
    if (result->unmarked && !steps->warned_marker) {
        steps->warned_marker = true;
        he2b_session_log(
            session, HE2B_LOG_WARNING,
            "%s cannot be used (%s): concurrent same-scope persistent sessions are NOT "
            "SUPPORTED here and not protected; a single session is unaffected",
            steps->host->files.marker, strerror(result->error));
    }
    session->step_error = result->error;
    if (result->event == WRITER_FAILED) {
        char why[HE2B_FAILURE_CAUSE_MAX];

        snprintf(why, sizeof(why), "%s: %s", he2b_step_name((int)step->kind),
                 strerror(result->error));
        fail(session, "use <home>/cache/e2b", hint_for(result->error), why);
    }
    he2b_writer_post(session, (enum he2b_writer_event)result->event);
}

/* What the caller did, in the words of its chart. */
static void finish_callers(he2b_session *session, const he2b_step *step,
                           enum he2b_step_outcome outcome, const char *why)
{
    static const char *const failed[] = {
        [HE2B_STEP_RECOVER] = "state recovery",
        [HE2B_STEP_PUSH] = "initial state upload",
        [HE2B_STEP_SYNC] = "state sync before the command",
        [HE2B_STEP_PULL] = "state download",
    };
    static const enum he2b_writer_event done[] = {
        [HE2B_STEP_RECOVER] = WRITER_RECOVERED,
        [HE2B_STEP_PUSH] = WRITER_PUSHED,
        [HE2B_STEP_SYNC] = WRITER_SYNCED,
    };
    bool pull = step->kind == HE2B_STEP_PULL;

    if (outcome != HE2B_STEP_DONE)
        fail(session, failed[step->kind], "try again",
             outcome == HE2B_STEP_ABANDONED ? "nobody waits for it any more"
             : why                          ? why
                                            : "it failed");
    if (pull && outcome == HE2B_STEP_AGAIN)
        he2b_teardown_post(session, END_AGAIN);
    else if (pull)
        he2b_teardown_post(session, outcome == HE2B_STEP_DONE ? END_PULLED : END_FAILED);
    else if (outcome == HE2B_STEP_ABANDONED)
        he2b_writer_post(session, WRITER_ABANDONED);
    else
        he2b_writer_post(session, outcome == HE2B_STEP_DONE ? done[step->kind] : WRITER_FAILED);
    if (step->kind == HE2B_STEP_PUSH && outcome == HE2B_STEP_DONE)
        session->pushed = session->host_state;
}

void he2b_step_done(he2b_step *step, enum he2b_step_outcome outcome, const char *why)
{
    he2b_session *session = step->session;

    if (!session) {
        he2b_host_del(step->host);
        free(step);
        return;
    }
    if (is_own(step->kind) && !step->did)
        he2b_step_do(step);
    session->steps.out = NULL;
    if (session->steps.next) {
        enum he2b_step_kind next = (enum he2b_step_kind)session->steps.next;

        session->steps.next = 0;
        he2b_steps_want(session, next, session->steps.next_reason);
    } else if (is_own(step->kind)) {
        finish_own(session, step);
    } else {
        finish_callers(session, step, outcome, why);
    }
    free(step);
}

/* ---- the session's side ---- */

void he2b_steps_want(he2b_session *session, enum he2b_step_kind kind, const char *reason)
{
    struct he2b_steps *steps = &session->steps;
    he2b_step *step;

    if (steps->out && steps->due) {
        /* nobody has it yet */
        free(steps->out);
        steps->out = NULL;
    }
    if (steps->out) {
        /* The files are that step's until it is answered: no lock goes before its work is done. */
        steps->next = (int)kind;
        steps->next_reason = reason;
        return;
    }
    step = calloc(1, sizeof(*step));
    if (!step) {
        struct he2b_step here = {
            .session = session, .host = steps->host, .kind = kind, .reason = reason};

        if (is_own(kind))
            he2b_step_do(&here);
        if (is_own(kind))
            finish_own(session, &here);
        else
            finish_callers(session, &here, HE2B_STEP_FAILED, he2b_strerror(HE2B_ERR_NOMEM));
        return;
    }
    step->session = session;
    step->host = steps->host;
    step->kind = kind;
    step->reason = reason;
    steps->out = step;
    steps->due = true;
    he2b_session_wake(session);
}

void he2b_steps_hand_out(he2b_session *session)
{
    struct he2b_steps *steps = &session->steps;
    he2b_step *step = steps->out;

    if (!step || !steps->due)
        return;
    steps->due = false;
    if (steps->fn && (is_own(step->kind) || session->host_state)) {
        steps->fn(steps->user, step);
        return;
    }
    he2b_step_done(
        step, is_own(step->kind) || !session->host_state ? HE2B_STEP_DONE : HE2B_STEP_FAILED,
        "nobody moves this session's Hermes state: he2b_session_on_step() was not called");
}

static void orphan(he2b_session *session)
{
    struct he2b_steps *steps = &session->steps;
    he2b_step *step = steps->out;

    steps->out = NULL;
    if (steps->due) {
        steps->due = false;
        free(step);
        return;
    }
    step->session = NULL;
    step->host = NULL;
}

void he2b_steps_forget_callers(he2b_session *session)
{
    struct he2b_steps *steps = &session->steps;

    if (steps->next && !is_own((enum he2b_step_kind)steps->next))
        steps->next = 0;
    if (steps->out && !is_own(steps->out->kind))
        orphan(session);
}

void he2b_steps_forget(he2b_session *session)
{
    struct he2b_steps *steps = &session->steps;
    he2b_step *step = steps->out;
    /* A pull has nothing to do with the locks; all else is the writer's work, and the lease must
     * outlive it. */
    bool keeps = step && !steps->due && step->kind != HE2B_STEP_PULL;

    steps->next = 0;
    if (!step)
        return;
    orphan(session);
    if (keeps) {
        step->host = steps->host;
        steps->host = NULL;
    }
}
