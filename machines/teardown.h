/*
 * The teardown chart, ready to be stepped. See machines/README.md and its picture.
 */
#ifndef HE2B_MACHINES_TEARDOWN_H
#define HE2B_MACHINES_TEARDOWN_H

#include "machines/teardown_events.h"

/* The states, in the words of the picture. */
#define HE2B_TEARDOWN_STATES(X)                                                                    \
    X(OPEN, "open")                                                                                \
    X(DEFERRED, "deferred")                                                                        \
    X(HURRIED, "hurried")                                                                          \
    X(RECONNECTING, "reconnecting")                                                                \
    X(PULLING, "pulling")                                                                          \
    X(CLEANING, "cleaning")                                                                        \
    X(KILLING, "killing")                                                                          \
    X(RELEASING, "releasing")                                                                      \
    X(CLOSED, "closed")

enum he2b_teardown_state_id {
#define HE2B_X(name, text) HE2B_TEARDOWN_##name,
    HE2B_TEARDOWN_STATES(HE2B_X)
#undef HE2B_X
    HE2B_TEARDOWN_STATE_COUNT,
};

/* Each starts or notes something and returns; none may step the machine. */
#define HE2B_TEARDOWN_ACTIONS(X)                                                                   \
    X(rest)                                                                                        \
    X(reconnect)                                                                                   \
    X(clean)                                                                                       \
    X(release)                                                                                     \
    X(want_pull)                                                                                   \
    X(report_unpulled)                                                                             \
    X(cancel_call)                                                                                 \
    X(send_kill)                                                                                   \
    X(report_closed)

struct he2b_teardown_actions {
#define HE2B_X(name) void (*name)(void *user);
    HE2B_TEARDOWN_ACTIONS(HE2B_X)
#undef HE2B_X
};

struct he2b_teardown_machine {
    int cs; /* Ragel's; means nothing outside */
    enum he2b_teardown_state_id state;
    unsigned refused; /* events that the chart does not allow where they came */
    const struct he2b_teardown_actions *actions;
    void *user;
};

void he2b_teardown_machine_init(struct he2b_teardown_machine *machine,
                                const struct he2b_teardown_actions *actions, void *user);
/* Feeds one event. One that is not allowed changes nothing and is counted. */
void he2b_teardown_machine_step(struct he2b_teardown_machine *machine,
                                enum he2b_teardown_event event);

/* "END_CLOSE" for END_CLOSE. Static. */
const char *he2b_teardown_event_name(enum he2b_teardown_event event);
const char *he2b_teardown_state_name(enum he2b_teardown_state_id state);

#endif
