/* Create, and what becomes of one whose outcome is not known (B-25). */
#include "core/wipe.h"
#include "e2b/control_call.h"
#include "e2b/control_request.h"
#include "e2b/create_body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct create {
    he2b_control control; /* first */
    he2b_loop *loop;
    const struct he2b_settings *settings;
    he2b_control_fn done;
    void *user;
    char attempt[HE2B_ATTEMPT_MAX];
    char *scope;
    bool second;             /* this attempt is the last */
    bool unwanted;           /* nothing is started any more */
    bool garbled;            /* answered as made, but by no word of which sandbox: one look */
    he2b_request *request;   /* the create itself */
    he2b_control *sub;       /* a look for it, or the connect to what was found */
    he2b_timer *timer;       /* the next look */
    int64_t look_until_ms;   /* a look that began later sees all that can ever appear */
    int64_t look_started_ms; /* the last one */
    char found[HE2B_SANDBOX_ID_MAX];
    struct he2b_control_answer answer;
};

static void send_create(struct create *create);
static void look(void *arg);

static void create_free(struct create *create)
{
    he2b_timer_del(create->timer);
    free(create->scope);
    he2b_wipe(&create->answer, sizeof(create->answer));
    free(create);
}

static void end_create(he2b_control *control)
{
    struct create *create = (struct create *)control;

    create->unwanted = true;
    he2b_request_end(create->request);
    he2b_control_end(create->sub);
    if (!create->request && !create->sub)
        (void)he2b_timer_arm(create->timer, 0);
}

static void cancel_create(he2b_control *control)
{
    struct create *create = (struct create *)control;

    he2b_request_cancel(create->request);
    he2b_control_cancel(create->sub);
    create_free(create);
}

static const struct he2b_control_ops create_ops = {
    .end = end_create,
    .cancel = cancel_create,
};

static bool is_created(int status, const char *message)
{
    (void)message;
    return status == 200 || status == 201;
}

static const char *hint(int status)
{
    switch (status) {
    case 400:
        return "check the settings template and lease_seconds";
    case 401:
        return "check E2B_API_KEY, and that it belongs to the server in E2B_API_URL";
    case 403:
        return "check the setting template and the account";
    case 404:
        return "check the setting template";
    default:
        return NULL;
    }
}

static const struct he2b_request_kind create_kind = {
    .action = "create sandbox",
    .method = "POST",
    .starts = true,
    .v2_twin = true,
    .good = is_created,
    .hint = hint,
};

/* ---- the end ---- */

static void finish(struct create *create)
{
    create->done(create->user, &create->answer);
    create_free(create);
}

static void fail(struct create *create, const struct he2b_failure *failure)
{
    create->answer.ok = false;
    create->answer.failure = *failure;
    finish(create);
}

static void fail_with(struct create *create, int code, int status, const char *hint_text,
                      const char *cause)
{
    struct he2b_failure failure;

    he2b_request_failure(&failure, create->settings, &create_kind, code, status, hint_text, cause,
                         strlen(cause));
    fail(create, &failure);
}

/* It may exist, and nobody can tell. */
static void fail_lost(struct create *create, const char *cause)
{
    fail_with(create, HE2B_ERR_LOST, create->answer.status,
              create->scope ? "a sandbox may have been made; its lease ends in a pause"
                            : "a sandbox may have been made; its lease ends it",
              cause);
}

/* Nobody waits for it, but whoever ends it must know what there is to kill. */
static void hand_over(struct create *create)
{
    memset(&create->answer.endpoint, 0, sizeof(create->answer.endpoint));
    memcpy(create->answer.endpoint.sandbox_id, create->found, sizeof(create->found));
    create->answer.ok = true;
    finish(create);
}

/* ---- the looks: only "absent" lets another attempt be made (B-22) ---- */

static void begin_again(struct create *create)
{
    int error;

    if (create->garbled) {
        fail(create, &create->answer.failure);
        return;
    }
    if (create->second) {
        fail_with(create, HE2B_ERR_LOST, create->answer.status,
                  "the server shows no sandbox of either attempt; try again",
                  create->answer.failure.cause);
        return;
    }
    create->second = true;
    error = he2b_attempt_token(create->attempt);
    if (error)
        fail_with(create, error, 0, NULL, he2b_strerror(error));
    else
        send_create(create);
}

static void on_connected(void *user, const struct he2b_control_answer *answer)
{
    struct create *create = user;
    char cause[HE2B_FAILURE_CAUSE_MAX + HE2B_SANDBOX_ID_MAX + 64];
    int64_t lease_s = create->answer.lease_s;

    create->sub = NULL;
    if (answer->ok) {
        create->answer = *answer;
        create->answer.lease_s = lease_s;
        finish(create);
    } else if (create->unwanted) {
        hand_over(create);
    } else if (answer->failure.code == HE2B_ERR_GONE) {
        begin_again(create);
    } else {
        snprintf(cause, sizeof(cause), "sandbox %s was made, but connecting to it failed: %s",
                 create->found, answer->failure.cause);
        fail_lost(create, cause);
    }
}

static void adopt(struct create *create, const char *sandbox_id)
{
    int error;

    snprintf(create->found, sizeof(create->found), "%s", sandbox_id);
    if (create->unwanted) {
        hand_over(create);
        return;
    }
    error = he2b_control_connect(&create->sub, create->loop, create->settings, create->found,
                                 create->answer.lease_s, on_connected, create);
    if (error)
        fail_lost(create, he2b_strerror(error));
}

static bool hopeless(const struct he2b_failure *failure)
{
    return failure->code == HE2B_ERR_KEY || failure->code == HE2B_ERR_REFUSED;
}

static void on_looked(void *user, const struct he2b_list_answer *answer)
{
    struct create *create = user;
    bool last = create->look_started_ms >= create->look_until_ms;
    int64_t wait = he2b_control_times(create->settings)->look_every;

    create->sub = NULL;
    if (create->garbled && !(answer->ok && answer->count)) {
        fail(create, &create->answer.failure);
        return;
    }
    if (answer->ok && answer->count) {
        adopt(create, answer->items[0].sandbox_id);
        return;
    }
    if (create->unwanted) {
        fail_lost(create, create->answer.failure.cause);
        return;
    }
    if (answer->ok && last) {
        begin_again(create);
        return;
    }
    if (!answer->ok && (last || hopeless(&answer->failure))) {
        fail_lost(create, answer->failure.text);
        return;
    }
    if (wait > create->look_until_ms - he2b_now_ms())
        wait = create->look_until_ms - he2b_now_ms();
    if (he2b_timer_arm(create->timer, wait > 0 ? wait : 0) != HE2B_OK)
        fail_lost(create, he2b_strerror(HE2B_ERR_LOOP));
}

static void look(void *arg)
{
    struct create *create = arg;
    const struct he2b_list_filter filter = {.attempt = create->attempt};
    int error;

    if (create->unwanted) {
        fail_lost(create, create->answer.failure.cause);
        return;
    }
    create->look_started_ms = he2b_now_ms();
    error =
        he2b_control_list(&create->sub, create->loop, create->settings, &filter, on_looked, create);
    if (error)
        fail_lost(create, he2b_strerror(error));
}

/* ---- the create ---- */

/* A 201 says that something was made: if it was a sandbox, nobody would know what to end. (A 200 is
 * what a page of somebody else's is answered with.) */
static void look_once(struct create *create, const struct he2b_request_answer *answer)
{
    create->garbled = true;
    create->answer.ok = false;
    he2b_request_failure(&create->answer.failure, create->settings, &create_kind, HE2B_ERR_PROTOCOL,
                         answer->status, "check E2B_API_URL", he2b_no_sandbox,
                         strlen(he2b_no_sandbox));
    look(create);
}

static void on_created(void *user, const struct he2b_request_answer *answer)
{
    struct create *create = user;

    create->request = NULL;
    create->answer.ok = answer->ok;
    create->answer.status = answer->status;
    create->answer.sent_ms = answer->sent_ms;
    if (answer->ok) {
        if (he2b_endpoint_read(&create->answer.endpoint, answer->body, answer->len))
            finish(create);
        else if (answer->status == 201)
            look_once(create, answer);
        else
            fail_with(create, HE2B_ERR_PROTOCOL, answer->status, "check E2B_API_URL",
                      he2b_no_sandbox);
    } else if (answer->failure.code != HE2B_ERR_LOST) {
        create->answer.failure = answer->failure;
        he2b_name_lease(&create->answer.failure, create->answer.lease_s);
        finish(create);
    } else {
        create->answer.failure = answer->failure;
        create->look_until_ms = answer->sent_ms + he2b_control_times(create->settings)->look_until;
        look(create);
    }
}

static void send_create(struct create *create)
{
    he2b_json *body = NULL;
    int error = he2b_create_body(&body, create->settings, create->attempt, create->scope,
                                 create->answer.lease_s);

    if (!error)
        error = he2b_request_start(&create->request, create->loop, create->settings, &create_kind,
                                   "/sandboxes", body, create->attempt, on_created, create);
    if (error)
        fail_with(create, error, 0, NULL, he2b_strerror(error));
}

int he2b_control_create(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                        const char *attempt, const char *scope, int64_t lease_s,
                        he2b_control_fn done, void *user)
{
    struct create *create = calloc(1, sizeof(*create));
    he2b_json *body = NULL;
    int error = HE2B_ERR_NOMEM;

    if (!create)
        return HE2B_ERR_NOMEM;
    create->control.ops = &create_ops;
    create->loop = loop;
    create->settings = settings;
    create->done = done;
    create->user = user;
    create->answer.lease_s = lease_s;
    snprintf(create->attempt, sizeof(create->attempt), "%s", attempt);
    create->scope = scope ? strdup(scope) : NULL;
    if (create->scope || !scope)
        error = he2b_timer_new(&create->timer, loop, look, create);
    if (!error)
        error = he2b_create_body(&body, settings, attempt, scope, lease_s);
    if (!error)
        error = he2b_request_start(&create->request, loop, settings, &create_kind, "/sandboxes",
                                   body, attempt, on_created, create);
    if (error) {
        create_free(create);
        return error;
    }
    *ret = &create->control;
    return HE2B_OK;
}
