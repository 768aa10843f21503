/* A recovery and a pull: one command, whose output is an archive, into a pipe that a worker reads
 * (B-86, B-91). */
#include "session/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct he2b_transfer_command fetching;

static int start(he2b_transfer *transfer)
{
    struct he2b_transfer_script script;

    he2b_transfer_send(&script, transfer->session->home, transfer->kind == HE2B_TRANSFER_PULL);
    /* as root: a file that the user cannot read must not be lost (B-86) */
    return he2b_transfer_start(transfer, &script, transfer->as_default ? NULL : "root", &fetching);
}

/* ---- the pipe ---- */

static bool drain(he2b_transfer *transfer)
{
    size_t n = he2b_outlet_write(transfer->pipes, transfer->rest.data, transfer->rest.len);

    he2b_buf_drain(&transfer->rest, n);
    return transfer->rest.len == 0;
}

/* The worker gets its end of file when all that came is in the pipe. */
static void close_when_drained(he2b_transfer *transfer)
{
    if (transfer->rest.len)
        return;
    he2b_outlet_del(transfer->pipes);
    transfer->pipes = NULL;
}

static void on_room(void *arg)
{
    he2b_transfer *transfer = arg;

    if (!drain(transfer))
        return;
    if (transfer->process)
        he2b_process_resume(transfer->process);
    else
        close_when_drained(transfer);
}

static bool on_data(void *user, const char *data, size_t len)
{
    he2b_transfer *transfer = user;
    size_t n;

    if (transfer->rest.len)
        return false;
    transfer->heard = true;
    /* reserved first: what was written once must not come again */
    transfer->no_memory = transfer->no_memory || he2b_buf_reserve(&transfer->rest, len) != HE2B_OK;
    if (transfer->no_memory)
        return true;
    n = he2b_outlet_write(transfer->pipes, data, len);
    (void)he2b_buf_add(&transfer->rest, data + n, len - n);
    return true;
}

/* ---- the end ---- */

static bool is_root_refused(const he2b_transfer *transfer)
{
    return transfer->process_result.connect && !transfer->process_pid && !transfer->as_default;
}

/* It was read only, and nothing came: looking twice harms nobody. */
static bool worth_another(const he2b_transfer *transfer)
{
    enum he2b_start_outcome outcome = he2b_start_outcome(&transfer->process_result);

    return !transfer->again && !transfer->heard && !transfer->process_pid &&
           (outcome == HE2B_START_NOT_YET || outcome == HE2B_START_UNKNOWN);
}

static void say_unread(he2b_transfer *transfer)
{
    struct he2b_transfer_job *job = transfer->job;

    if (job->recovery)
        he2b_recovery_notes(job->recovery, he2b_buf_str(&transfer->said), transfer->said.len);
    if (transfer->kind == HE2B_TRANSFER_PULL) {
        he2b_transfer_note_unread(transfer);
        he2b_transfer_say_fates(transfer, &job->fates);
    }
}

static void settle(he2b_transfer *transfer)
{
    const struct he2b_rpc_result *result = &transfer->process_result;
    const struct he2b_transfer_job *job = transfer->job;

    if (transfer->over || transfer->process || transfer->worker)
        return;
    if (result->code != HE2B_RPC_OK || !result->ended) {
        he2b_transfer_fail_by(transfer, result);
    } else if (transfer->no_memory) {
        he2b_transfer_fail(transfer, HE2B_ERR_NOMEM, 0, "free memory, then try again",
                           he2b_strerror(HE2B_ERR_NOMEM));
    } else if (transfer->exit_code == HE2B_TRANSFER_NO_TAR) {
        he2b_transfer_fail(transfer, HE2B_ERR_STEP, 0, "use a template that has tar",
                           "the sandbox has no tar");
    } else if (job->result == HE2B_ERR_PROTOCOL) {
        he2b_transfer_fail_said(transfer, job->result, job->why, "look at the sandbox's disk");
    } else if (job->result) {
        he2b_transfer_fail(transfer, job->result, 0, "look at the disk of the profile home",
                           job->why);
    } else if (job->received == 0 && transfer->exit_code != HE2B_TRANSFER_NOTHING) {
        he2b_transfer_fail_said(transfer, HE2B_ERR_STEP, "the sandbox sent no archive",
                                "look at the sandbox's disk");
    } else {
        say_unread(transfer);
        he2b_transfer_succeed(transfer);
    }
}

static void on_worked(void *user)
{
    he2b_transfer *transfer = user;

    transfer->worker = NULL;
    /* It gave up: what still comes is of no use. At the end of the pipe the command is about to
     * tell its code. */
    if (transfer->job->result && transfer->process) {
        he2b_transfer_fail(transfer, transfer->job->result, 0,
                           transfer->job->result == HE2B_ERR_STEP
                               ? "look at the disk of the profile home"
                               : "look at the sandbox's .hermes",
                           transfer->job->why);
        return;
    }
    settle(transfer);
}

static void on_over(he2b_transfer *transfer)
{
    bool again = worth_another(transfer);
    int error;

    if (is_root_refused(transfer) || again) {
        transfer->again = transfer->again || again;
        transfer->as_default = transfer->as_default || !again;
        error = start(transfer);
        if (error)
            he2b_transfer_fail(transfer, error, 0, "try again", he2b_strerror(error));
        return;
    }
    if (transfer->pipes)
        close_when_drained(transfer);
    settle(transfer);
}

static const struct he2b_transfer_command fetching = {.data = on_data, .over = on_over};

/* ---- the start ---- */

static int begin(he2b_transfer *transfer, void (*work)(void *job))
{
    const struct he2b_worker_events events = {
        .work = work,
        .ended = on_worked,
        .release = he2b_job_let_go,
    };
    he2b_session *session = transfer->session;
    int ends[2];
    int error;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return HE2B_ERR_SYSTEM;
    transfer->job->pipe = ends[0];
    error = he2b_outlet_new(&transfer->pipes, session->loop, ends[1], on_room, transfer);
    if (error) {
        close(ends[1]);
        return error;
    }
    error = start(transfer);
    if (error)
        return error;
    error = he2b_worker_start(&transfer->worker, session->loop, &events,
                              he2b_job_hold(transfer->job), transfer);
    if (error)
        he2b_job_let_go(transfer->job);
    return error;
}

static int go(he2b_transfer *transfer, enum he2b_transfer_kind kind, void (*work)(void *job),
              he2b_transfer_fn done, void *user)
{
    int error;

    transfer->kind = kind;
    transfer->done = done;
    transfer->user = user;
    error = begin(transfer, work);
    if (error)
        he2b_transfer_drop(transfer);
    return error;
}

int he2b_transfer_recover(he2b_transfer *transfer, he2b_transfer_fn done, void *user)
{
    int error = he2b_transfer_may_start(transfer);

    if (error)
        return error;
    transfer->job->prefix = strdup(HE2B_TRANSFER_PREFIX);
    if (!transfer->job->prefix)
        return HE2B_ERR_NOMEM;
    return go(transfer, HE2B_TRANSFER_RECOVER, he2b_job_recover, done, user);
}

int he2b_transfer_pull(he2b_transfer *transfer, int fd, int recover, he2b_transfer_fn done,
                       void *user)
{
    const char *home = transfer->session->home;
    int error = he2b_transfer_may_start(transfer);

    if (error)
        return error;
    /* the caller may close its own while a worker that nobody waits for still writes */
    transfer->job->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (transfer->job->fd < 0)
        return HE2B_ERR_SYSTEM;
    transfer->job->keep = recover != 0;
    if (asprintf(&transfer->job->prefix, "%s%s.hermes/", home + 1, home[1] ? "/" : "") < 0) {
        transfer->job->prefix = NULL;
        return HE2B_ERR_NOMEM;
    }
    return go(transfer, HE2B_TRANSFER_PULL, he2b_job_pull, done, user);
}
