/*
 * One command, as command.c (the chart's actions) and stream.c (what goes over the wire) see it.
 */
#ifndef HE2B_SESSION_COMMAND_H
#define HE2B_SESSION_COMMAND_H

#include "e2b/health.h"
#include "e2b/upload.h"
#include "machines/command.h"
#include "session/output.h"
#include "session/session.h"

struct he2b_result {
    enum he2b_outcome outcome;
    int exit_code;
    bool failed; /* failure is set */
    struct he2b_failure failure;
    bool stdin_failed;
    struct he2b_failure stdin_failure;
};

struct he2b_command {
    he2b_session *session;
    he2b_command *next;
    he2b_command **previous;
    struct he2b_command_machine machine;
    struct he2b_events events;

    /* what to run */
    char *text; /* by file: with HE2B_WRAPPER_TEXT_END behind it */
    size_t text_len;
    bool by_file; /* the text is none that an argument can hold (B-46) */
    bool login;
    unsigned prepared; /* generation that a prepare was made for; 0: none was */
    int64_t timeout_ms;
    int64_t need_until_ms; /* a lease, with its limit and grace (B-30); 0: no limit, or not begun */
    const char *stdin_data;
    size_t stdin_len;
    char word[HE2B_MARKER_WORD + 1];

    /* whom to tell */
    he2b_command_fn done;
    void *user;
    bool started;
    bool reported;   /* the result is settled */
    bool report_due; /* and not told yet */
    bool orphan;     /* its owner is gone */

    /* what is known */
    struct he2b_result result;
    struct he2b_failure failure; /* of what went wrong last */
    struct he2b_output output;
    int64_t pid; /* 0: not told yet */
    bool process_ended;
    bool end_told; /* the chart has heard of the shell's or the process's end */
    int end_code;
    bool vanished_before;
    char boot[HE2B_BOOT_MAX];     /* under which its first Start was sent; "": not known */
    char record[HE2B_RECORD_MAX]; /* its path; "": it has none */
    unsigned repeats;
    unsigned attached;     /* so often in a row */
    int64_t attached_ms;   /* the last time, monotonic */
    int recorded_code;     /* as its record says */
    const char *elsewhere; /* it starts there, since it could not in the session's directory */

    /* on the way */
    he2b_upload *upload;
    bool upload_again;
    he2b_process *stream;
    bool stream_over;
    struct he2b_rpc_result stream_result;
    he2b_rpc *input;
    size_t stdin_sent;
    size_t stdin_piece;
    bool stdin_closed;
    he2b_process *killer;
    bool kill_as_default;
    he2b_process *asker;
    struct he2b_buf answer; /* the asker's */
    int asker_code;         /* -1: none yet */
    bool forbid;            /* the command is not to begin any more */
    int64_t ask_until_ms;
    unsigned unclear; /* answers that may become clear */
    he2b_timer *ask_timer;
    he2b_health_look *look;
    he2b_control *get; /* what the control plane says of the sandbox */
    he2b_timer *get_timer;
    he2b_timer *limit;
    he2b_timer *bound;
    he2b_timer *grace;
};

extern const struct he2b_command_actions he2b_command_actions;

void he2b_command_post(he2b_command *command, enum he2b_command_event event);
/* All output that was held is in the pipe: what waited for that is posted. */
void he2b_command_drained(void *user);

/* ---- text.c ---- */

/* Brings the text into a file of the sandbox, and starts the command from it. */
void he2b_text_upload(he2b_command *command);
/* The path of that file. */
void he2b_text_path(const he2b_command *command, char out[HE2B_URL_MAX]);
/* It is not wanted any more: an upload on its way is dropped, and the chart told so. */
void he2b_text_abandon(he2b_command *command);

/* ---- record.c ---- */

/* Where the record of a first Start will be (B-47): command->boot and ->record. */
void he2b_record_choose(he2b_command *command);
/*
 * Asks it what became of the command, again where nobody answers: posts CMD_RUNS, CMD_RECORDED,
 * CMD_UNBEGUN or CMD_UNCLEAR. forbid: one that has not begun never will.
 */
void he2b_record_ask(he2b_command *command, bool forbid);
void he2b_record_drop(he2b_command *command);
/* What became of the command is known for good: nobody will ask for its record. */
void he2b_record_settle(he2b_command *command);
/* The names of some that are settled, with blanks between; they are taken for removed. */
void he2b_record_take_settled(he2b_session *session, char *out, size_t size);

/* ---- whereabouts.c ---- */

/* One look at what became of the sandbox (B-48): sets the failure, posts CMD_SETTLED. */
void he2b_whereabouts_ask(he2b_command *command);
void he2b_whereabouts_drop(he2b_command *command);

/* ---- stream.c ---- */

/* repeat: one that runs nothing if an earlier one did (B-47). */
void he2b_stream_start(he2b_command *command, bool repeat);
/* Its output from here on (B-48). */
void he2b_stream_attach(he2b_command *command);
/* The process that the stream told of was not the command. */
void he2b_stream_forget(he2b_command *command);
/* True if the wrapper was not to run it. */
bool he2b_stream_denied(const he2b_command *command);
void he2b_stream_send_stdin(he2b_command *command);
/* No more input is sent; the daemon is told the end of it if that is not known there. */
void he2b_stream_end_stdin(he2b_command *command);
void he2b_stream_kill(he2b_command *command);
/* Output is not wanted any more: a stream that stopped for its reader goes on. */
void he2b_stream_go_on(he2b_command *command);
/* The stream is dropped; the process is left as it is. */
void he2b_stream_drop(he2b_command *command);
/* Everything on the way is dropped. */
void he2b_stream_cancel(he2b_command *command);

#endif
