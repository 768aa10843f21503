/* The calls that are one request about one sandbox: connect, kill, get, pause. */
#include "core/wipe.h"
#include "e2b/control_call.h"
#include "e2b/control_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call {
    he2b_control control; /* first */
    const struct he2b_settings *settings;
    const struct he2b_request_kind *kind;
    he2b_request *request;
    he2b_control_fn done;
    void *user;
    char sandbox_id[HE2B_SANDBOX_ID_MAX];
    struct he2b_control_answer answer;
};

const char he2b_no_sandbox[] = "the answer does not describe a sandbox as E2B's API does";

void he2b_control_end(he2b_control *control)
{
    if (control)
        control->ops->end(control);
}

void he2b_control_cancel(he2b_control *control)
{
    if (control)
        control->ops->cancel(control);
}

static void end_call(he2b_control *control)
{
    struct call *call = (struct call *)control;

    he2b_request_end(call->request);
}

static void call_free(struct call *call)
{
    he2b_sandbox_info_done(&call->answer.info);
    he2b_wipe(&call->answer, sizeof(call->answer));
    free(call);
}

static void cancel_call(he2b_control *control)
{
    struct call *call = (struct call *)control;

    he2b_request_cancel(call->request);
    call_free(call);
}

static const struct he2b_control_ops call_ops = {
    .end = end_call,
    .cancel = cancel_call,
};

/* ---- the kinds ---- */

static bool is_connected(int status, const char *message)
{
    (void)message;
    return status == 200 || status == 201;
}

/* E2B's own 404 has words; without them it is somebody else's, and the sandbox may live on (B-91).
 */
static bool is_killed(int status, const char *message)
{
    return status == 200 || status == 204 || (status == 404 && message[0]);
}

static bool is_told(int status, const char *message)
{
    (void)message;
    return status == 200;
}

/* 409 also says that it cannot be paused now; only its words tell (wire A.10). */
static bool is_paused(int status, const char *message)
{
    return status == 200 || status == 204 || (status == 409 && strstr(message, "already paused"));
}

static const char *hint(int status)
{
    switch (status) {
    case 401:
        return "check E2B_API_KEY, and that it belongs to the server in E2B_API_URL";
    case 403:
        return "check the account";
    default:
        return NULL;
    }
}

static const char *connect_hint(int status)
{
    return status == 400 ? "check the setting lease_seconds" : hint(status);
}

static const struct he2b_request_kind connect_kind = {
    .action = "connect to sandbox",
    .method = "POST",
    .by_id = true,
    .v2_twin = true,
    .good = is_connected,
    .hint = connect_hint,
};

static const struct he2b_request_kind kill_kind = {
    .action = "kill sandbox",
    .method = "DELETE",
    .by_id = true,
    .good = is_killed,
    .hint = hint,
};

static const struct he2b_request_kind get_kind = {
    .action = "look at sandbox",
    .method = "GET",
    .by_id = true,
    .good = is_told,
    .hint = hint,
};

static const struct he2b_request_kind pause_kind = {
    .action = "pause sandbox",
    .method = "POST",
    .by_id = true,
    .good = is_paused,
    .hint = hint,
};

/* ---- reading ---- */

static bool copy_text(char *out, size_t size, const he2b_json *json, const char *key)
{
    const char *text = he2b_json_get_string(json, key);

    if (!text) {
        out[0] = '\0';
        return true;
    }
    if (strlen(text) >= size)
        return false;
    memcpy(out, text, strlen(text) + 1);
    return true;
}

/* A header made of this must be a header: tokens are hex, domains are names. */
static bool printable(const char *text)
{
    for (; *text; text++) {
        if (*text <= ' ' || *text > '~')
            return false;
    }
    return true;
}

bool he2b_endpoint_read(struct he2b_endpoint *ret, const char *body, size_t len)
{
    he2b_json *json = NULL;
    bool ok;

    if (he2b_json_parse(&json, body, len) != HE2B_OK)
        return false;
    ok = copy_text(ret->sandbox_id, sizeof(ret->sandbox_id), json, "sandboxID") &&
         copy_text(ret->access_token, sizeof(ret->access_token), json, "envdAccessToken") &&
         copy_text(ret->domain, sizeof(ret->domain), json, "domain") &&
         he2b_sandbox_id_valid(ret->sandbox_id) && printable(ret->access_token) &&
         printable(ret->domain) && !strpbrk(ret->domain, "/@?#");
    he2b_json_del(json);
    return ok;
}

void he2b_name_lease(struct he2b_failure *failure, int64_t lease_s)
{
    char hint[HE2B_FAILURE_HINT_MAX + 64];

    if (failure->code != HE2B_ERR_REFUSED)
        return;
    snprintf(hint, sizeof(hint), "%lld s of lease were asked for%s%s", (long long)lease_s,
             failure->hint[0] ? "; " : "", failure->hint);
    he2b_failure_set_hint(failure, hint);
}

static bool read_info(struct he2b_sandbox_info *info, const struct he2b_request_answer *answer)
{
    he2b_json *json = NULL;
    bool ok = he2b_json_parse(&json, answer->body, answer->len) == HE2B_OK &&
              he2b_sandbox_info_read(info, json, answer->date) == HE2B_OK;

    he2b_json_del(json);
    return ok;
}

/* B-34: another id in the answer is an error. */
static bool read_answer(struct call *call, const struct he2b_request_answer *answer)
{
    if (call->kind == &connect_kind)
        return he2b_endpoint_read(&call->answer.endpoint, answer->body, answer->len) &&
               strcmp(call->answer.endpoint.sandbox_id, call->sandbox_id) == 0;
    if (call->kind == &get_kind)
        return read_info(&call->answer.info, answer) &&
               strcmp(call->answer.info.sandbox_id, call->sandbox_id) == 0;
    return true;
}

static void on_answer(void *user, const struct he2b_request_answer *answer)
{
    struct call *call = user;

    call->request = NULL;
    call->answer.ok = answer->ok;
    call->answer.status = answer->status;
    call->answer.sent_ms = answer->sent_ms;
    if (!answer->ok) {
        call->answer.failure = answer->failure;
        if (call->kind == &connect_kind)
            he2b_name_lease(&call->answer.failure, call->answer.lease_s);
    } else if (!read_answer(call, answer)) {
        call->answer.ok = false;
        he2b_request_failure(&call->answer.failure, call->settings, call->kind, HE2B_ERR_PROTOCOL,
                             answer->status, "check E2B_API_URL", he2b_no_sandbox,
                             strlen(he2b_no_sandbox));
    }
    call->done(call->user, &call->answer);
    call_free(call);
}

/* ---- the calls ---- */

/* body becomes the call's; failed says that it could not be made. */
static int start(he2b_control **ret, he2b_loop *loop, struct call *from, const char *rest,
                 he2b_json *body, bool failed)
{
    struct call *call = calloc(1, sizeof(*call));
    char path[HE2B_URL_MAX];
    int error = HE2B_ERR_NOMEM;

    if (!call || failed) {
        he2b_json_del(body);
        free(call);
        return error;
    }
    *call = *from;
    call->control.ops = &call_ops;
    snprintf(path, sizeof(path), "/sandboxes/%s%s", call->sandbox_id, rest);
    error = he2b_request_start(&call->request, loop, call->settings, call->kind, path, body, NULL,
                               on_answer, call);
    if (error) {
        free(call);
        return error;
    }
    *ret = &call->control;
    return HE2B_OK;
}

static struct call about(const struct he2b_settings *settings, const struct he2b_request_kind *kind,
                         const char *sandbox_id, he2b_control_fn done, void *user)
{
    struct call call = {.settings = settings, .kind = kind, .done = done, .user = user};

    snprintf(call.sandbox_id, sizeof(call.sandbox_id), "%s", sandbox_id);
    return call;
}

int he2b_control_connect(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                         const char *sandbox_id, int64_t lease_s, he2b_control_fn done, void *user)
{
    struct call call = about(settings, &connect_kind, sandbox_id, done, user);
    he2b_json *body = he2b_json_new_object();
    bool failed = !body || he2b_json_add_int(body, "timeout", lease_s) != HE2B_OK;

    call.answer.lease_s = lease_s;
    return start(ret, loop, &call, "/connect", body, failed);
}

int he2b_control_kill(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                      const char *sandbox_id, he2b_control_fn done, void *user)
{
    struct call call = about(settings, &kill_kind, sandbox_id, done, user);

    return start(ret, loop, &call, "", NULL, false);
}

int he2b_control_get(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                     const char *sandbox_id, he2b_control_fn done, void *user)
{
    struct call call = about(settings, &get_kind, sandbox_id, done, user);

    return start(ret, loop, &call, "", NULL, false);
}

int he2b_control_pause(he2b_control **ret, he2b_loop *loop, const struct he2b_settings *settings,
                       const char *sandbox_id, he2b_control_fn done, void *user)
{
    struct call call = about(settings, &pause_kind, sandbox_id, done, user);
    he2b_json *body = he2b_json_new_object();
    bool failed = !body || he2b_json_add_bool(body, "memory", false) != HE2B_OK;

    return start(ret, loop, &call, "/pause", body, failed);
}
