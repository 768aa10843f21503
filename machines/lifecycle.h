/*
 * The lifecycle chart, ready to be stepped. See machines/README.md and its picture.
 */
#ifndef HE2B_MACHINES_LIFECYCLE_H
#define HE2B_MACHINES_LIFECYCLE_H

#include "machines/lifecycle_events.h"

/* The states, in the words of the picture. */
#define HE2B_LIFECYCLE_STATES(X)                                                                   \
    X(DETACHED, "detached")                                                                        \
    X(ELECTING, "electing")                                                                        \
    X(LOOKING_UP, "looking up")                                                                    \
    X(CREATING, "creating")                                                                        \
    X(CONNECTING, "connecting")                                                                    \
    X(PROBING, "probing")                                                                          \
    X(PREPARING, "preparing")                                                                      \
    X(READY, "ready")                                                                              \
    X(REPLACING, "replacing")                                                                      \
    X(DROPPING, "dropping")                                                                        \
    X(CLOSING, "closing")                                                                          \
    X(CLOSED, "closed")

enum he2b_lifecycle_state_id {
#define HE2B_X(name, text) HE2B_LIFECYCLE_##name,
    HE2B_LIFECYCLE_STATES(HE2B_X)
#undef HE2B_X
    HE2B_LIFECYCLE_STATE_COUNT,
};

/* Each starts or notes something and returns; none may step the machine. */
#define HE2B_LIFECYCLE_ACTIONS(X)                                                                  \
    X(send_create)                                                                                 \
    X(send_connect)                                                                                \
    X(seek_role)                                                                                   \
    X(fail_waiters)                                                                                \
    X(report_rest)                                                                                 \
    X(send_list)                                                                                   \
    X(drop_role)                                                                                   \
    X(cancel_call)                                                                                 \
    X(send_probe)                                                                                  \
    X(prepare_own)                                                                                 \
    X(prepare_made)                                                                                \
    X(end_create)                                                                                  \
    X(admit)                                                                                       \
    X(forget_sandbox)                                                                              \
    X(gate_role)                                                                                   \
    X(prepare_joined)                                                                              \
    X(prepare_rebooted)                                                                            \
    X(seek_again)                                                                                  \
    X(doubt_sandbox)                                                                               \
    X(refuse_waiters)                                                                              \
    X(send_renew)                                                                                  \
    X(note_lease)                                                                                  \
    X(cancel_renew)

struct he2b_lifecycle_actions {
#define HE2B_X(name) void (*name)(void *user);
    HE2B_LIFECYCLE_ACTIONS(HE2B_X)
#undef HE2B_X
};

struct he2b_lifecycle_machine {
    int cs; /* Ragel's; means nothing outside */
    enum he2b_lifecycle_state_id state;
    unsigned refused; /* events that the chart does not allow where they came */
    const struct he2b_lifecycle_actions *actions;
    void *user;
};

void he2b_lifecycle_machine_init(struct he2b_lifecycle_machine *machine,
                                 const struct he2b_lifecycle_actions *actions, void *user);
/* Feeds one event. One that is not allowed changes nothing and is counted. */
void he2b_lifecycle_machine_step(struct he2b_lifecycle_machine *machine,
                                 enum he2b_lifecycle_event event);

/* "LIFE_WANT_NEW" for LIFE_WANT_NEW. Static. */
const char *he2b_lifecycle_event_name(enum he2b_lifecycle_event event);
const char *he2b_lifecycle_state_name(enum he2b_lifecycle_state_id state);

#endif
