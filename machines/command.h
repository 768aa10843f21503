/*
 * The command chart, ready to be stepped. See machines/README.md and its picture.
 */
#ifndef HE2B_MACHINES_COMMAND_H
#define HE2B_MACHINES_COMMAND_H

#include "machines/command_events.h"

/* The states, in the words of the picture. */
#define HE2B_COMMAND_STATES(X)                                                                     \
    X(WAITING, "waiting")                                                                          \
    X(STARTING, "starting")                                                                        \
    X(DOUBTFUL, "doubtful")                                                                        \
    X(REPEATING, "repeating")                                                                      \
    X(RUNNING, "running")                                                                          \
    X(LOST, "lost")                                                                                \
    X(ATTACHING, "attaching")                                                                      \
    X(ENDING, "ending")                                                                            \
    X(CATCHING, "catching")                                                                        \
    X(KILLING, "killing")                                                                          \
    X(LOOKING, "looking")                                                                          \
    X(DONE, "done")

enum he2b_command_state_id {
#define HE2B_X(name, text) HE2B_COMMAND_##name,
    HE2B_COMMAND_STATES(HE2B_X)
#undef HE2B_X
    HE2B_COMMAND_STATE_COUNT,
};

/* Each starts or notes something and returns; none may step the machine. */
#define HE2B_COMMAND_ACTIONS(X)                                                                    \
    X(send_start)                                                                                  \
    X(send_repeat)                                                                                 \
    X(send_stdin)                                                                                  \
    X(send_kill)                                                                                   \
    X(ask_session)                                                                                 \
    X(ask_record)                                                                                  \
    X(ask_forbid)                                                                                  \
    X(ask_whereabouts)                                                                             \
    X(attach)                                                                                      \
    X(forget_start)                                                                                \
    X(note_exit)                                                                                   \
    X(note_incomplete)                                                                             \
    X(note_recorded)                                                                               \
    X(note_not_started)                                                                            \
    X(note_killed)                                                                                 \
    X(note_timed_out)                                                                              \
    X(note_unkilled)                                                                               \
    X(note_unknown)                                                                                \
    X(close_output)                                                                                \
    X(drop_stream)                                                                                 \
    X(allow_grace)                                                                                 \
    X(bound_kill)                                                                                  \
    X(report)

struct he2b_command_actions {
#define HE2B_X(name) void (*name)(void *user);
    HE2B_COMMAND_ACTIONS(HE2B_X)
#undef HE2B_X
};

struct he2b_command_machine {
    int cs; /* Ragel's; means nothing outside */
    enum he2b_command_state_id state;
    unsigned refused; /* events that the chart does not allow where they came */
    const struct he2b_command_actions *actions;
    void *user;
};

void he2b_command_machine_init(struct he2b_command_machine *machine,
                               const struct he2b_command_actions *actions, void *user);
/* Feeds one event. One that is not allowed changes nothing and is counted. */
void he2b_command_machine_step(struct he2b_command_machine *machine, enum he2b_command_event event);

/* "CMD_READY" for CMD_READY. Static. */
const char *he2b_command_event_name(enum he2b_command_event event);
const char *he2b_command_state_name(enum he2b_command_state_id state);

#endif
