/*
 * A shell on a terminal in a sandbox (he2b.h: he2b_terminal), for a person who looks into it. It
 * has no session, and so neither a role nor a part in a scope: terminal.c begins and ends it,
 * terminal_input.c carries what is typed and the size.
 */
#ifndef HE2B_SESSION_TERMINAL_H
#define HE2B_SESSION_TERMINAL_H

#include "core/failure.h"
#include "core/settings.h"
#include "e2b/control.h"
#include "e2b/health.h"
#include "e2b/process.h"
#include "session/output.h"

struct he2b_terminal_size {
    unsigned cols;
    unsigned rows;
};

enum he2b_terminal_state {
    HE2B_TERMINAL_NEW = 0,
    HE2B_TERMINAL_STARTING = 1,
    HE2B_TERMINAL_RUNNING = 2,
    HE2B_TERMINAL_OVER = 3,
};

struct he2b_terminal {
    he2b_loop *loop;
    struct he2b_settings settings;
    char sandbox_id[HE2B_SANDBOX_ID_MAX];
    struct he2b_endpoint endpoint;
    char word[HE2B_MARKER_WORD + 1];
    char *type; /* NULL: the default */
    enum he2b_terminal_state state;

    he2b_control *connect; /* the first one, then those that extend the lease */
    he2b_timer *timer;     /* to start again, then for the lease */
    int64_t start_until_ms;

    he2b_process *stream;
    int64_t pid;
    bool told;        /* that it has started */
    bool shell_ended; /* exit_code is its own */
    bool stream_over;
    int exit_code;
    struct he2b_rpc_result stream_result;
    struct he2b_output output;
    he2b_task *look_on; /* a callback inside the stream noted something */
    he2b_health_look *look;

    he2b_rpc *input;
    he2b_terminal_sent_fn sent;
    void *sent_user;
    he2b_rpc *update;
    struct he2b_terminal_size size;
    struct he2b_terminal_size size_told;

    he2b_terminal_started_fn started;
    he2b_terminal_ended_fn ended;
    void *user;
    struct he2b_failure failure;
};

void he2b_terminal_target(const he2b_terminal *terminal, struct he2b_process_target *ret);
/* The stream, or what was typed, did not get through: asks where the sandbox is, then ends. */
void he2b_terminal_lost(he2b_terminal *terminal);
/* Tells the sandbox the size, if it has another one and is not being told. */
void he2b_terminal_tell_size(he2b_terminal *terminal);
/* Drops what is on its way. */
void he2b_terminal_drop_input(he2b_terminal *terminal);

#endif
