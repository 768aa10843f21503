#include "session/transfer.h"

#include "core/text.h"
#include "e2b/unreached.h"
#include "host/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const actions[] = {
    "move Hermes' state",
    [HE2B_TRANSFER_PUSH] = "send Hermes' state",
    [HE2B_TRANSFER_RECOVER] = "recover the sandbox's state",
    [HE2B_TRANSFER_PULL] = "fetch the sandbox's state",
};

/* ---- the end ---- */

/* What runs for it runs for nobody any more. */
static void drop_all(he2b_transfer *transfer)
{
    atomic_store(&transfer->job->cancelled, true);
    he2b_upload_cancel(transfer->upload);
    transfer->upload = NULL;
    he2b_process_cancel(transfer->process);
    transfer->process = NULL;
    he2b_timer_del(transfer->limit);
    transfer->limit = NULL;
    he2b_worker_drop(transfer->worker);
    transfer->worker = NULL;
    if (transfer->pipe >= 0)
        close(transfer->pipe);
    transfer->pipe = -1;
    he2b_outlet_del(transfer->pipes);
    transfer->pipes = NULL;
    he2b_buf_free(&transfer->rest);
}

void he2b_transfer_drop(he2b_transfer *transfer)
{
    transfer->over = true;
    transfer->failed = true;
    drop_all(transfer);
}

static void on_finish(void *arg)
{
    he2b_transfer *transfer = arg;

    transfer->done(transfer->user, transfer->failed ? &transfer->failure : NULL);
}

void he2b_transfer_succeed(he2b_transfer *transfer)
{
    if (transfer->over)
        return;
    transfer->over = true;
    drop_all(transfer);
    he2b_task_schedule(transfer->finish);
}

void he2b_transfer_fail(he2b_transfer *transfer, int code, int status, const char *hint,
                        const char *cause)
{
    struct he2b_secrets secrets;

    if (transfer->over)
        return;
    he2b_session_secrets(transfer->session, &secrets);
    he2b_failure_set(&transfer->failure, &secrets, code, status, actions[transfer->kind], hint,
                     "%s", cause);
    transfer->failed = true;
    he2b_transfer_succeed(transfer);
}

void he2b_transfer_fail_by(he2b_transfer *transfer, const struct he2b_rpc_result *result)
{
    bool answered = result->connect ||
                    (result->http.end == HE2B_HTTP_COMPLETE && result->proxy == HE2B_PROXY_NONE);
    char hint[HE2B_FAILURE_HINT_MAX];
    int status = result->http.status;
    int code;

    switch (he2b_start_outcome(result)) {
    case HE2B_START_NO_SANDBOX:
        he2b_transfer_fail(transfer, HE2B_ERR_GONE, status, "try again", result->message);
        return;
    case HE2B_START_REFUSED:
        if (answered)
            break;
        code = he2b_unreached(&result->http, "E2B_SANDBOX_URL", hint, sizeof(hint));
        he2b_transfer_fail(transfer, code, 0, hint, result->message);
        return;
    case HE2B_START_NOT_YET:
    case HE2B_START_UNKNOWN:
        if (answered && result->code != HE2B_RPC_OK)
            break;
        he2b_transfer_fail(transfer, HE2B_ERR_LOST, status, "try again", result->message);
        return;
    }
    he2b_transfer_fail(transfer, HE2B_ERR_REFUSED, status,
                       status == 507 ? "make room on the sandbox's disk" : "try again",
                       result->message);
}

/* ---- notes ---- */

void he2b_transfer_say(he2b_transfer *transfer, int level, const char *text)
{
    struct he2b_note *notes = realloc(transfer->notes, (transfer->note_count + 1) * sizeof(*notes));
    struct he2b_secrets secrets;
    char *copy;

    if (!notes)
        return;
    transfer->notes = notes;
    copy = strdup(text);
    if (!copy)
        return;
    he2b_session_secrets(transfer->session, &secrets);
    he2b_redact(copy, &secrets);
    notes[transfer->note_count++] = (struct he2b_note){level, copy};
}

void he2b_transfer_say_fates(he2b_transfer *transfer, const struct he2b_fates *fates)
{
    struct he2b_buf text;
    int fate;

    for (fate = HE2B_FATE_RESTORED; fate < HE2B_FATES; fate++) {
        he2b_buf_init(&text, 16 * 1024);
        if (he2b_fates_say(fates, (enum he2b_fate)fate, &text) == HE2B_OK && text.len)
            he2b_transfer_say(transfer,
                              he2b_fate_is_warning((enum he2b_fate)fate) ? HE2B_LOG_WARNING
                                                                         : HE2B_LOG_INFO,
                              text.data);
        he2b_buf_free(&text);
    }
}

size_t he2b_transfer_notes(const he2b_transfer *transfer)
{
    return transfer->note_count;
}

const char *he2b_transfer_note(const he2b_transfer *transfer, size_t number, int *ret_level)
{
    if (number >= transfer->note_count)
        return "";
    if (ret_level)
        *ret_level = transfer->notes[number].level;
    return transfer->notes[number].text;
}

/* ---- life ---- */

int he2b_transfer_new(he2b_transfer **ret, he2b_session *session, const char *home)
{
    he2b_transfer *transfer;
    int error;

    if (home[0] != '/')
        return HE2B_ERR_SETTING;
    if (session->deleted || session->teardown.state == HE2B_TEARDOWN_CLOSED)
        return HE2B_ERR_CLOSED;
    transfer = calloc(1, sizeof(*transfer));
    if (!transfer)
        return HE2B_ERR_NOMEM;
    transfer->session = session;
    transfer->pipe = -1;
    he2b_manifest_init(&transfer->before);
    he2b_buf_init(&transfer->rest, HE2B_RPC_MESSAGE_MAX);
    he2b_buf_init(&transfer->said, HE2B_TRANSFER_SAID_MAX);
    he2b_buf_init(&transfer->script, 2 * HE2B_JOB_LIST_MAX);
    he2b_buf_init(&transfer->text, HE2B_MANIFEST_MAX);
    error = he2b_job_new(&transfer->job, home, session->endpoint.sandbox_id);
    if (!error)
        error = he2b_task_new(&transfer->finish, session->loop, on_finish, transfer);
    if (!error)
        error = he2b_attempt_token(transfer->word);
    if (error) {
        he2b_transfer_del(transfer);
        return error;
    }
    *ret = transfer;
    return HE2B_OK;
}

void he2b_transfer_del(he2b_transfer *transfer)
{
    size_t i;

    if (!transfer)
        return;
    if (transfer->job) {
        drop_all(transfer);
        he2b_job_let_go(transfer->job);
    }
    he2b_task_del(transfer->finish);
    he2b_buf_free(&transfer->said);
    he2b_buf_free(&transfer->script);
    he2b_buf_free(&transfer->text);
    he2b_deletions_free(&transfer->deletions);
    he2b_manifest_free(&transfer->before);
    for (i = 0; i < transfer->note_count; i++)
        free(transfer->notes[i].text);
    free(transfer->notes);
    free(transfer);
}

int he2b_transfer_may_start(const he2b_transfer *transfer)
{
    const he2b_session *session = transfer->session;

    if (he2b_loop_forked(session->loop))
        return HE2B_ERR_FORK;
    if (transfer->kind || !session->endpoint.sandbox_id[0] || !session->home[0])
        return HE2B_ERR_STATE;
    return HE2B_OK;
}

void he2b_transfer_cancel(he2b_transfer *transfer)
{
    if (transfer->kind)
        he2b_transfer_fail(transfer, HE2B_ERR_CANCELLED, 0, NULL, "it was cancelled");
}

void he2b_transfer_progress(const he2b_transfer *transfer, size_t *ret_files, int64_t *ret_bytes)
{
    *ret_files = atomic_load(&transfer->job->files_moved);
    *ret_bytes = atomic_load(&transfer->job->bytes_moved);
}

/* ---- what goes ---- */

static int add_file(struct he2b_transfer_job *job, const char *host, const char *path,
                    enum he2b_manifest_kind kind)
{
    struct he2b_push_file *file;
    char *host_copy;
    char *path_copy;

    if (job->count == job->room) {
        size_t room = job->room ? job->room * 2 : 64;
        struct he2b_push_file *files = realloc(job->files, room * sizeof(*files));

        if (!files)
            return HE2B_ERR_NOMEM;
        job->files = files;
        job->room = room;
    }
    host_copy = strdup(host);
    path_copy = strdup(path);
    if (!host_copy || !path_copy) {
        free(host_copy);
        free(path_copy);
        return HE2B_ERR_NOMEM;
    }
    file = &job->files[job->count++];
    file->host = host_copy;
    file->path = path_copy;
    file->kind = kind;
    return HE2B_OK;
}

_Static_assert((int)HE2B_FILE_CREDENTIAL == (int)HE2B_KIND_CREDENTIAL &&
                   (int)HE2B_FILE_SKILL == (int)HE2B_KIND_SKILL &&
                   (int)HE2B_FILE_OTHER == (int)HE2B_KIND_OTHER,
               "the same numbers");

int he2b_transfer_add(he2b_transfer *transfer, const char *host, const char *path,
                      enum he2b_file_kind kind)
{
    if (transfer->kind)
        return HE2B_ERR_STATE;
    if (!he2b_tree_path_is_plain(path) || kind < HE2B_FILE_CREDENTIAL || kind > HE2B_FILE_OTHER)
        return HE2B_ERR_ARG;
    return add_file(transfer->job, host, path, (enum he2b_manifest_kind)(int)kind);
}

int he2b_transfer_remove(he2b_transfer *transfer, const char *path)
{
    if (transfer->kind)
        return HE2B_ERR_STATE;
    if (!he2b_tree_path_is_plain(path))
        return HE2B_ERR_ARG;
    return he2b_texts_add(&transfer->job->removed, path);
}

int he2b_transfer_protect(he2b_transfer *transfer, const char *host, int mirrored)
{
    if (transfer->kind)
        return HE2B_ERR_STATE;
    return he2b_texts_add(mirrored ? &transfer->job->mirrored : &transfer->job->credentials, host);
}

int he2b_transfer_follow(he2b_transfer *push, const he2b_transfer *recovered)
{
    int error = HE2B_OK;
    size_t i;

    if (push->kind || !recovered->applied)
        return HE2B_ERR_STATE;
    for (i = 0; i < recovered->deletions.count && !error; i++)
        error = he2b_texts_add(&push->job->removed, recovered->deletions.paths[i]);
    if (!error)
        error = he2b_manifest_add_all(&push->job->manifest, &recovered->before);
    push->followed = true;
    return error;
}
