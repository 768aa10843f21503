/* A push: one upload, then one command, whatever there is to send or to delete (B-72, B-75). */
#include "session/transfer.h"

#include "core/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void archive_path(const he2b_transfer *transfer, char out[HE2B_TRANSFER_PATH_MAX])
{
    snprintf(out, HE2B_TRANSFER_PATH_MAX, "%s/push.%s", transfer->session->folder, transfer->word);
}

/* ---- the end ---- */

static void say_own(he2b_transfer *transfer)
{
    char text[160];

    if (!transfer->job->push.own)
        return;
    snprintf(text, sizeof(text),
             "%zu file%s left out: .env and config.yaml of the profile home never go into a "
             "sandbox",
             transfer->job->push.own, transfer->job->push.own == 1 ? "" : "s");
    he2b_transfer_say(transfer, HE2B_LOG_WARNING, text);
}

/* What is there now is what the next push starts from. */
static void remember(he2b_transfer *transfer)
{
    he2b_session *session = transfer->session;
    struct he2b_transfer_job *job = transfer->job;

    he2b_manifest_free(&session->manifest);
    session->manifest = job->manifest;
    he2b_manifest_init(&job->manifest);
    memcpy(session->manifest_hash, job->push.hash, sizeof(session->manifest_hash));
    snprintf(session->pushed_into, sizeof(session->pushed_into), "%s", job->sandbox_id);
    if (strstr(he2b_buf_str(&transfer->said), "stamped\n"))
        memcpy(session->stamp, job->push.hash, sizeof(session->stamp));
}

static void on_arrived(he2b_transfer *transfer)
{
    const struct he2b_push *push = &transfer->job->push;
    size_t bad = push->missing + push->changed;
    char cause[HE2B_FAILURE_CAUSE_MAX];

    remember(transfer);
    say_own(transfer);
    if (!bad) {
        he2b_transfer_succeed(transfer);
        return;
    }
    if (bad > 1)
        snprintf(cause, sizeof(cause), "%.400s (and %zu more files)", push->why, bad - 1);
    else
        snprintf(cause, sizeof(cause), "%s", push->why);
    he2b_transfer_fail(transfer, HE2B_ERR_STEP, 0, "all else has arrived; try again", cause);
}

static void on_command_over(he2b_transfer *transfer)
{
    const struct he2b_rpc_result *result = &transfer->process_result;

    if (result->code != HE2B_RPC_OK || !result->ended) {
        he2b_transfer_fail_by(transfer, result);
        return;
    }
    switch (transfer->exit_code) {
    case 0:
        on_arrived(transfer);
        break;
    case HE2B_TRANSFER_NO_TAR:
        he2b_transfer_push_singly(transfer);
        break;
    case HE2B_TRANSFER_NO_FOLDER:
        he2b_transfer_fail_said(transfer, HE2B_ERR_STEP,
                                "$HOME/.hermes cannot be made in the sandbox", "is its disk full?");
        break;
    case HE2B_TRANSFER_KEPT:
        he2b_transfer_fail_said(transfer, HE2B_ERR_STEP,
                                "a file in the sandbox could not be deleted",
                                "look at who owns the files there");
        break;
    case HE2B_TRANSFER_UNLISTED:
    case HE2B_TRANSFER_UNSTAMPED:
        he2b_transfer_fail_said(transfer, HE2B_ERR_STEP, "the sandbox's home cannot be written",
                                "is its disk full?");
        break;
    default:
        he2b_transfer_fail_said(transfer, HE2B_ERR_STEP,
                                "not all files could be written in the sandbox",
                                "is its disk full?");
        break;
    }
}

const struct he2b_transfer_command he2b_transfer_push_command = {.over = on_command_over};

struct he2b_transfer_stamp he2b_transfer_stamp(const he2b_transfer *transfer)
{
    const he2b_session *session = transfer->session;
    const struct he2b_push *push = &transfer->job->push;
    bool first = session->writer.state == HE2B_WRITER_PUSHING && !push->missing && !push->changed;

    return (struct he2b_transfer_stamp){
        .sandbox_id = transfer->job->sandbox_id,
        .hash = first || session->stamp[0] ? push->hash : "",
        .first = first,
    };
}

static void unpack(he2b_transfer *transfer)
{
    struct he2b_transfer_job *job = transfer->job;
    const struct he2b_transfer_stamp stamp = he2b_transfer_stamp(transfer);
    struct he2b_transfer_script script;
    char path[HE2B_TRANSFER_PATH_MAX];
    int error;

    archive_path(transfer, path);
    he2b_transfer_unpack(&script, path, transfer->word, job->removed.count > 0, &stamp);
    error = he2b_transfer_start(transfer, &script, NULL, &he2b_transfer_push_command);
    if (error)
        he2b_transfer_fail(transfer, error, 0, "try again", he2b_strerror(error));
}

/* ---- the upload ---- */

/* What was sent over a connection that was closed meanwhile may never have arrived: once more does
 * no harm, since nothing was begun with it. */
static bool worth_another(const he2b_transfer *transfer)
{
    const struct he2b_rpc_result *result = &transfer->upload_result;

    return !transfer->again &&
           (he2b_start_outcome(result) == HE2B_START_NOT_YET || result->http.end == HE2B_HTTP_LOST);
}

static void on_both(he2b_transfer *transfer)
{
    struct he2b_transfer_job *job = transfer->job;
    int error;

    if (transfer->over || transfer->upload || transfer->worker)
        return;
    if (transfer->upload_result.code != HE2B_RPC_OK) {
        if (!worth_another(transfer)) {
            he2b_transfer_fail_by(transfer, &transfer->upload_result);
            return;
        }
        transfer->again = true;
        error = he2b_transfer_upload(transfer, transfer->upload_path, transfer->upload_work,
                                     transfer->upload_next);
        if (error)
            he2b_transfer_fail(transfer, error, 0, "try again", he2b_strerror(error));
        return;
    }
    transfer->again = false;
    if (job->result)
        he2b_transfer_fail(transfer, job->result, 0, "try again", job->why);
    else
        transfer->upload_next(transfer);
}

static void close_pipe(he2b_transfer *transfer)
{
    if (transfer->pipe >= 0)
        close(transfer->pipe);
    transfer->pipe = -1;
}

static void on_worked(void *user)
{
    he2b_transfer *transfer = user;

    transfer->worker = NULL;
    on_both(transfer);
}

static void on_uploaded(void *user, const struct he2b_rpc_result *result)
{
    he2b_transfer *transfer = user;

    transfer->upload = NULL;
    transfer->upload_result = *result;
    /* a worker that still writes hears of it */
    close_pipe(transfer);
    on_both(transfer);
}

int he2b_transfer_upload(he2b_transfer *transfer, const char *path, void (*work)(void *job),
                         void (*next)(he2b_transfer *transfer))
{
    const struct he2b_worker_events events = {
        .work = work,
        .ended = on_worked,
        .release = he2b_job_let_go,
    };
    struct he2b_process_target target;
    int ends[2];
    int error;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return HE2B_ERR_SYSTEM;
    transfer->pipe = ends[0];
    transfer->job->pipe = ends[1];
    transfer->upload_work = work;
    transfer->upload_next = next;
    if (path != transfer->upload_path)
        snprintf(transfer->upload_path, sizeof(transfer->upload_path), "%s", path);
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
        return HE2B_ERR_SYSTEM;
    he2b_session_target(transfer->session, &target);
    error = he2b_upload_pipe(&transfer->upload, &target, path, ends[0], on_uploaded, transfer);
    if (error)
        return error;
    error = he2b_worker_start(&transfer->worker, transfer->session->loop, &events,
                              he2b_job_hold(transfer->job), transfer);
    if (error)
        he2b_job_let_go(transfer->job);
    return error;
}

/* ---- the start ---- */

/* What lies there already: as a recovery read it, or as this session's last push left it. */
static int begin_manifest(he2b_transfer *transfer)
{
    const he2b_session *session = transfer->session;

    if (transfer->followed || strcmp(session->pushed_into, transfer->job->sandbox_id) != 0)
        return HE2B_OK;
    return he2b_manifest_add_all(&transfer->job->manifest, &session->manifest);
}

static int begin(he2b_transfer *transfer)
{
    struct he2b_transfer_job *job = transfer->job;
    char path[HE2B_TRANSFER_PATH_MAX];
    int error = begin_manifest(transfer);

    if (!error && asprintf(&job->manifest_name, "%s.%s", HE2B_MANIFEST_NAME, transfer->word) < 0)
        error = HE2B_ERR_NOMEM;
    if (!error && job->removed.count)
        error = he2b_transfer_removals(&job->list, job->removed.all, job->removed.count);
    if (error)
        return error;
    archive_path(transfer, path);
    return he2b_transfer_upload(transfer, path, he2b_job_push, unpack);
}

int he2b_transfer_push(he2b_transfer *transfer, he2b_transfer_fn done, void *user)
{
    int error = he2b_transfer_may_start(transfer);

    if (error)
        return error;
    transfer->kind = HE2B_TRANSFER_PUSH;
    transfer->done = done;
    transfer->user = user;
    if (!transfer->session->folder[0]) {
        he2b_transfer_fail(transfer, HE2B_ERR_REFUSED, 0, "is its disk full or read-only?",
                           "the sandbox has no place for a file: XDG_RUNTIME_DIR, /tmp and HOME "
                           "cannot be written");
        return HE2B_OK;
    }
    error = begin(transfer);
    if (error)
        he2b_transfer_drop(transfer);
    return error;
}
