/*
 * The processes that requests started: their outputs go to every reader, their end is kept for a
 * while (wire C.9).
 */
#ifndef HE2B_LOCAL_DAEMON_PROCESS_H
#define HE2B_LOCAL_DAEMON_PROCESS_H

#include "core/json.h"
#include "local/daemon_input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct event;
struct exchange;
struct reader;
struct spawn;

enum process_output {
    PROCESS_STDOUT,
    PROCESS_STDERR,
    PROCESS_PTY,
    PROCESS_OUTPUTS,
};

struct process {
    TAILQ_ENTRY(process) link;
    pid_t pid;
    he2b_json *config; /* as List shows it; NULL once it has ended */
    char *tag;         /* NULL: none */
    struct output {
        struct process *process;
        enum process_output which;
        int fd; /* -1: none, or at its end */
        struct event *readable;
    } outputs[PROCESS_OUTPUTS];
    TAILQ_HEAD(, reader) readers;
    bool stopped; /* a reader is behind: outputs are not read */
    struct input input;
    struct event *kill_timer;
    bool reaped;
    bool signalled; /* by a call or the timer: outputs are not waited for */
    int status;     /* of wait(2), once reaped */
    char *end;      /* once ended: the message for readers, kept for RETAIN_S */
    struct event *retain;
};
TAILQ_HEAD(process_list, process);

/* The ones that run, or whose outputs are still open. */
extern struct process_list process_live;

/* Begins to collect children. False: no memory. */
bool process_init(void);

/* Takes over what was spawned; NULL (and all of it ended and closed) without memory. */
struct process *process_new(const struct spawn *spawn, const he2b_json *request);

/* The one that a request's selector names; NULL and a Connect code and message if there is none.
 * ended: also one whose end is still kept. */
struct process *process_select(const he2b_json *selector, bool ended, const char **ret_code,
                               char *why, size_t why_size);

/* SIGKILL after this time, whoever watches then. */
void process_kill_after(struct process *process, int64_t ms);
/* One process, not its group; what it wrote and nobody has read may be lost. */
void process_signal(struct process *process, int signum);
/* Reads on, or stops, as its readers keep up. */
void process_watch(struct process *process);

/* ---- calls (daemon_process_calls.c) ---- */

void process_start(struct exchange *x, const he2b_json *request);
void process_connect(struct exchange *x, const he2b_json *request);
void process_list(struct exchange *x, const he2b_json *request);
void process_send_signal(struct exchange *x, const he2b_json *request);
void process_update(struct exchange *x, const he2b_json *request);

#endif
