/*
 * A push into a template without tar: each file is an upload of its own into the private folder,
 * then a manifest, then the text of a script that moves all to their places and deletes what goes.
 */
#include "session/transfer.h"

#include <stdio.h>

static void next(he2b_transfer *transfer);

static void fail(he2b_transfer *transfer, int error)
{
    he2b_transfer_fail(transfer, error, 0, "try again", he2b_strerror(error));
}

static void path_of(const he2b_transfer *transfer, const char *last,
                    char out[HE2B_TRANSFER_PATH_MAX])
{
    snprintf(out, HE2B_TRANSFER_PATH_MAX, "%s/push.%s.%s", transfer->session->folder,
             transfer->word, last);
}

/* ---- the end: manifest, script, command ---- */

static void run(he2b_transfer *transfer)
{
    const struct he2b_transfer_stamp stamp = he2b_transfer_stamp(transfer);
    struct he2b_transfer_script script;
    char path[HE2B_TRANSFER_PATH_MAX];
    int error;

    path_of(transfer, "sh", path);
    he2b_transfer_run(&script, path, transfer->word, &stamp);
    error = he2b_transfer_start(transfer, &script, NULL, &he2b_transfer_push_command);
    if (error)
        fail(transfer, error);
}

static void on_script(void *user, const struct he2b_rpc_result *result)
{
    he2b_transfer *transfer = user;

    transfer->upload = NULL;
    if (result->code == HE2B_RPC_OK)
        run(transfer);
    else
        he2b_transfer_fail_by(transfer, result);
}

static int send_text(he2b_transfer *transfer, const char *last, const struct he2b_buf *text,
                     he2b_upload_fn done)
{
    struct he2b_process_target target;
    char path[HE2B_TRANSFER_PATH_MAX];

    path_of(transfer, last, path);
    he2b_session_target(transfer->session, &target);
    return he2b_upload_start(&transfer->upload, &target, path, he2b_buf_str(text), text->len, done,
                             transfer);
}

static void on_manifest(void *user, const struct he2b_rpc_result *result)
{
    static const char place[] = "mv -f \"$d/push.$w.manifest\" \"$m.$w\" || end 47\n";
    he2b_transfer *transfer = user;
    int error;

    transfer->upload = NULL;
    if (result->code != HE2B_RPC_OK) {
        he2b_transfer_fail_by(transfer, result);
        return;
    }
    error = he2b_buf_adds(&transfer->script, place);
    if (!error)
        error = send_text(transfer, "sh", &transfer->script, on_script);
    if (error)
        fail(transfer, error);
}

static int send_manifest(he2b_transfer *transfer)
{
    int error;

    /* borrowed by the upload until it is over */
    he2b_buf_clear(&transfer->text);
    error =
        he2b_manifest_write(&transfer->job->manifest, &transfer->text, transfer->job->push.hash);
    return error ? error : send_text(transfer, "manifest", &transfer->text, on_manifest);
}

/* ---- the files ---- */

static void on_single(he2b_transfer *transfer)
{
    struct he2b_transfer_job *job = transfer->job;
    const struct he2b_push_single *file = &job->single_file;
    int error = HE2B_OK;

    if (file->there) {
        error = he2b_buf_addf(&transfer->script, "g %zu %o %lld ", job->single,
                              (unsigned)file->mode, (long long)file->mtime_s);
        if (!error)
            error = he2b_transfer_quote(&transfer->script, job->files[job->single].path);
        if (!error)
            error = he2b_buf_adds(&transfer->script, "\n");
    }
    job->single++;
    if (error)
        fail(transfer, error);
    else
        next(transfer);
}

static void next(he2b_transfer *transfer)
{
    const struct he2b_transfer_job *job = transfer->job;
    char path[HE2B_TRANSFER_PATH_MAX];
    char number[24];
    int error;

    if (job->single < job->count) {
        snprintf(number, sizeof(number), "%zu", job->single);
        path_of(transfer, number, path);
        error = he2b_transfer_upload(transfer, path, he2b_job_push_single, on_single);
    } else {
        error = send_manifest(transfer);
    }
    if (error)
        fail(transfer, error);
}

void he2b_transfer_push_singly(he2b_transfer *transfer)
{
    int error;

    if (transfer->single) {
        he2b_transfer_fail(transfer, HE2B_ERR_PROTOCOL, 0, "check the setting template",
                           "the sandbox' shell does not answer as a shell does");
        return;
    }
    transfer->single = true;
    transfer->job->single = 0;
    /* what goes makes room for what comes */
    error = he2b_buf_add(&transfer->script, he2b_buf_str(&transfer->job->list),
                         transfer->job->list.len);
    if (error)
        fail(transfer, error);
    else
        next(transfer);
}
