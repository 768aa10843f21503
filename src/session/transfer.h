/*
 * A transfer (he2b.h: he2b_transfer), as its own files see it: on the loop's side a request or two
 * to the sandbox, on the other side of a pipe a thread that may block on files.
 */
#ifndef HE2B_SESSION_TRANSFER_H
#define HE2B_SESSION_TRANSFER_H

#include "core/failure.h"
#include "e2b/upload.h"
#include "host/deletions.h"
#include "session/session.h"
#include "session/transfer_job.h"
#include "session/transfer_script.h"
#include "session/worker.h"

enum {
    /* of tar's words; guards against a sandbox that says a lot */
    HE2B_TRANSFER_SAID_MAX = 4 * 1024 * 1024,
    HE2B_TRANSFER_PATH_MAX = HE2B_FOLDER_MAX + HE2B_ATTEMPT_MAX + 32,
};

struct he2b_transfer_command;

enum he2b_transfer_kind {
    HE2B_TRANSFER_PUSH = 1,
    HE2B_TRANSFER_RECOVER = 2,
    HE2B_TRANSFER_PULL = 3,
};

struct he2b_note {
    int level;
    char *text;
};

struct he2b_transfer {
    he2b_session *session;
    struct he2b_transfer_job *job;
    enum he2b_transfer_kind kind; /* 0: not started */
    bool over;                    /* done is due, or was called */
    bool failed;
    bool followed; /* the manifest is that of a recovery */
    bool applied;
    he2b_transfer_fn done;
    void *user;
    he2b_task *finish;
    struct he2b_failure failure;

    he2b_worker *worker;
    int pipe;           /* the loop's end of what a push sends; -1: none */
    he2b_outlet *pipes; /* ... and of what the others receive */
    struct he2b_buf rest;
    he2b_upload *upload;
    struct he2b_rpc_result upload_result;
    char upload_path[HE2B_TRANSFER_PATH_MAX];
    void (*upload_work)(void *job);
    void (*upload_next)(he2b_transfer *transfer);
    bool again; /* a request is sent for the second time */
    char word[HE2B_ATTEMPT_MAX];

    he2b_process *process;
    const struct he2b_transfer_command *command; /* whose it is */
    he2b_timer *limit;
    int64_t process_pid;
    int exit_code;
    bool as_default; /* not as root */
    bool heard;      /* it said something */
    bool single;     /* files go one by one */
    bool no_memory;  /* some of its output was lost */
    struct he2b_rpc_result process_result;
    struct he2b_buf said;   /* on stderr, or all of it */
    struct he2b_buf script; /* of single files */
    struct he2b_buf text;   /* their manifest */

    struct he2b_deletions deletions; /* found by apply */
    struct he2b_manifest before;     /* read by apply */
    struct he2b_note *notes;
    size_t note_count;
    char why[HE2B_FAILURE_CAUSE_MAX];
};

/* ---- transfer.c ---- */

/* Whether it may start. Returns HE2B_OK, HE2B_ERR_STATE, HE2B_ERR_FORK. */
int he2b_transfer_may_start(const he2b_transfer *transfer);
/* It is over, well; done comes from the loop. */
void he2b_transfer_succeed(he2b_transfer *transfer);
void he2b_transfer_fail(he2b_transfer *transfer, int code, int status, const char *hint,
                        const char *cause);
/* ... with what a request came to. */
void he2b_transfer_fail_by(he2b_transfer *transfer, const struct he2b_rpc_result *result);
/* It did not start: what runs for it is dropped, and done is not called. */
void he2b_transfer_drop(he2b_transfer *transfer);
/* text: one line. Without memory there is one note less. */
void he2b_transfer_say(he2b_transfer *transfer, int level, const char *text);
void he2b_transfer_say_fates(he2b_transfer *transfer, const struct he2b_fates *fates);

/* ---- transfer_command.c ---- */

struct he2b_transfer_command {
    /* Its output; NULL: it is kept in said, with what is on stderr. False: comes again. */
    bool (*data)(void *transfer, const char *data, size_t len);
    /* It is over: process_result, exit_code. */
    void (*over)(he2b_transfer *transfer);
};

/* Starts script, as user (NULL: the default). Returns HE2B_OK or an error. */
int he2b_transfer_start(he2b_transfer *transfer, const struct he2b_transfer_script *script,
                        const char *user, const struct he2b_transfer_command *command);
/* Fails with tar's own words, or these. */
void he2b_transfer_fail_said(he2b_transfer *transfer, int code, const char *what, const char *hint);

/* ---- transfer_push.c ---- */

extern const struct he2b_transfer_command he2b_transfer_push_command;
/* What becomes of the stamp: a push on the way to a role brings the first one, if all of it goes
 * well, so that it costs no round trip of its own (B-62). */
struct he2b_transfer_stamp he2b_transfer_stamp(const he2b_transfer *transfer);
/*
 * Uploads to path what work writes into the job's pipe; then next, unless one of both failed.
 * Returns HE2B_OK or an error: the transfer is to be dropped then, or to fail.
 */
int he2b_transfer_upload(he2b_transfer *transfer, const char *path, void (*work)(void *job),
                         void (*next)(he2b_transfer *transfer));

/* ---- transfer_singly.c ---- */

/* There is no tar: file by file. */
void he2b_transfer_push_singly(he2b_transfer *transfer);

/* ---- transfer_apply.c ---- */

/* What tar said that it could not read of a pull becomes a fate. */
void he2b_transfer_note_unread(he2b_transfer *transfer);

#endif
