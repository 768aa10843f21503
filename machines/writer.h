/*
 * The writer chart, ready to be stepped. See machines/README.md and its picture.
 */
#ifndef HE2B_MACHINES_WRITER_H
#define HE2B_MACHINES_WRITER_H

#include "machines/writer_events.h"

/* The states, in the words of the picture. */
#define HE2B_WRITER_STATES(X)                                                                      \
    X(IDLE, "idle")                                                                                \
    X(CONTENDING, "contending")                                                                    \
    X(ELECTED, "elected")                                                                          \
    X(DEGRADED, "degraded")                                                                        \
    X(FOLLOWING, "following")                                                                      \
    X(MARKING, "marking")                                                                          \
    X(MARKING_MADE, "marking made")                                                                \
    X(UNSTAMPING, "unstamping")                                                                    \
    X(SURVEYING, "surveying")                                                                      \
    X(RECOVERING, "recovering")                                                                    \
    X(PUSHING, "pushing")                                                                          \
    X(STAMPING, "stamping")                                                                        \
    X(CLEARING, "clearing")                                                                        \
    X(HOLDING, "holding")                                                                          \
    X(SYNCING, "syncing")                                                                          \
    X(TAINTING, "tainting")                                                                        \
    X(UNTAINTING, "untainting")                                                                    \
    X(VERIFYING, "verifying")                                                                      \
    X(LOOKING, "looking")                                                                          \
    X(GATING, "gating")                                                                            \
    X(READING, "reading")                                                                          \
    X(PROMOTING, "promoting")                                                                      \
    X(OWN_PUSHING, "own pushing")                                                                  \
    X(OWN_HOLDING, "own holding")                                                                  \
    X(OWN_SYNCING, "own syncing")                                                                  \
    X(FAILING, "failing")                                                                          \
    X(RELEASING, "releasing")

enum he2b_writer_state_id {
#define HE2B_X(name, text) HE2B_WRITER_##name,
    HE2B_WRITER_STATES(HE2B_X)
#undef HE2B_X
    HE2B_WRITER_STATE_COUNT,
};

/* Each starts or notes something and returns; none may step the machine. */
#define HE2B_WRITER_ACTIONS(X)                                                                     \
    X(step_elect)                                                                                  \
    X(report_dropped)                                                                              \
    X(report_elected)                                                                              \
    X(warn_degraded)                                                                               \
    X(wait_for_lock)                                                                               \
    X(step_release)                                                                                \
    X(step_mark)                                                                                   \
    X(step_promote)                                                                                \
    X(send_unstamp)                                                                                \
    X(send_look)                                                                                   \
    X(want_recover)                                                                                \
    X(cancel_look)                                                                                 \
    X(want_push)                                                                                   \
    X(step_clear)                                                                                  \
    X(send_stamp)                                                                                  \
    X(report_prepared)                                                                             \
    X(report_refused)                                                                              \
    X(want_sync)                                                                                   \
    X(doubt_sandbox)                                                                               \
    X(step_mark_stale)                                                                             \
    X(note_not_ready)                                                                              \
    X(report_failed)                                                                               \
    X(forget_step)

struct he2b_writer_actions {
#define HE2B_X(name) void (*name)(void *user);
    HE2B_WRITER_ACTIONS(HE2B_X)
#undef HE2B_X
};

struct he2b_writer_machine {
    int cs; /* Ragel's; means nothing outside */
    enum he2b_writer_state_id state;
    unsigned refused; /* events that the chart does not allow where they came */
    const struct he2b_writer_actions *actions;
    void *user;
};

void he2b_writer_machine_init(struct he2b_writer_machine *machine,
                              const struct he2b_writer_actions *actions, void *user);
/* Feeds one event. One that is not allowed changes nothing and is counted. */
void he2b_writer_machine_step(struct he2b_writer_machine *machine, enum he2b_writer_event event);

/* "WRITER_SEEK" for WRITER_SEEK. Static. */
const char *he2b_writer_event_name(enum he2b_writer_event event);
const char *he2b_writer_state_name(enum he2b_writer_state_id state);

#endif
