/* What a recovery or a pull brought, into the profile home (B-75, B-80 to B-87). */
#include "session/transfer.h"

#include "host/tar_notes.h"

#include <stdio.h>
#include <string.h>

/* ---- what tar could not read ---- */

static int note(void *user, enum he2b_tar_note note, const char *name)
{
    he2b_transfer *transfer = user;
    const char *prefix = transfer->job->prefix;
    const char *path = name + strlen(prefix);

    if (note != HE2B_TAR_UNREAD || strncmp(name, prefix, strlen(prefix)) != 0)
        return 0;
    /* a recovery of the same archive tells of these */
    if (transfer->job->recovery &&
        (strncmp(path, "skills/", 7) == 0 || strncmp(path, "memories/", 9) == 0))
        return 0;
    he2b_fates_add(&transfer->job->fates, HE2B_FATE_UNREAD, path);
    return 0;
}

void he2b_transfer_note_unread(he2b_transfer *transfer)
{
    he2b_tar_notes(he2b_buf_str(&transfer->said), transfer->said.len, note, transfer);
}

/* ---- apply ---- */

static int fail(he2b_transfer *transfer, int code, const char *why, const char **ret_why)
{
    struct he2b_secrets secrets;

    he2b_session_secrets(transfer->session, &secrets);
    snprintf(transfer->why, sizeof(transfer->why), "%s", why[0] ? why : he2b_strerror(code));
    he2b_redact(transfer->why, &secrets);
    if (ret_why)
        *ret_why = transfer->why;
    return code;
}

static int find_deletions(he2b_transfer *transfer, const char *const *present, size_t count)
{
    struct he2b_names now;
    size_t i;
    int error = HE2B_OK;

    he2b_names_init(&now);
    for (i = 0; i < count && !error; i++)
        error = he2b_names_put(&now, present[i], i);
    if (!error)
        error = he2b_deletions_find(&transfer->deletions, &transfer->before, &now,
                                    transfer->job->recovery, transfer->job->home);
    he2b_names_free(&now);
    return error;
}

/* Without a valid one nothing is deleted (B-75). */
static int read_manifest(he2b_transfer *transfer)
{
    char hash[HE2B_SHA256_HEX_MAX];
    const char *text;
    size_t len;
    int error;

    text = he2b_recovery_wanted(transfer->job->recovery, &len);
    if (!len)
        return HE2B_OK;
    error = he2b_manifest_read(&transfer->before, text, len, hash);
    if (error != HE2B_ERR_PROTOCOL)
        return error;
    he2b_transfer_say(transfer, HE2B_LOG_WARNING,
                      "the sandbox's list of what was sent to it is damaged: what was deleted on "
                      "this machine since is not deleted there");
    return HE2B_OK;
}

static void say_bare(he2b_transfer *transfer, bool bare, const char *root)
{
    char text[200];

    if (!bare)
        return;
    snprintf(text, sizeof(text),
             "%s is missing or empty on this machine: nothing of it was taken for deleted, and "
             "the sandbox's files are recovered",
             root);
    he2b_transfer_say(transfer, HE2B_LOG_WARNING, text);
}

int he2b_transfer_apply(he2b_transfer *transfer, const char *const *present, size_t count,
                        const char **ret_why)
{
    struct he2b_transfer_job *job = transfer->job;
    int error;

    if (!transfer->over || transfer->failed || transfer->applied || !job->recovery)
        return fail(transfer, HE2B_ERR_STATE, "there is nothing that could be applied", ret_why);
    transfer->applied = true;
    error = read_manifest(transfer);
    if (!error && present)
        error = find_deletions(transfer, present, count);
    if (error)
        return fail(transfer, error, "", ret_why);
    say_bare(transfer, transfer->deletions.no_skills, "skills");
    say_bare(transfer, transfer->deletions.no_memories, "memories");
    error = he2b_recovery_apply(job->recovery);
    he2b_transfer_say_fates(transfer, he2b_recovery_fates(job->recovery));
    return error ? fail(transfer, error, he2b_recovery_why(job->recovery), ret_why) : HE2B_OK;
}
