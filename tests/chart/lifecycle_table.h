/*
 * What the lifecycle chart is to do, as a plain table. Kept apart from the chart, so that each says
 * what the other should.
 */
#ifndef HE2B_TESTS_CHART_LIFECYCLE_TABLE_H
#define HE2B_TESTS_CHART_LIFECYCLE_TABLE_H

#include "machines/lifecycle.h"

#include <stddef.h>

struct row {
    enum he2b_lifecycle_state_id state;
    enum he2b_lifecycle_event event;
    enum he2b_lifecycle_state_id next;
    const char *actions;
};

#define DETACHED   HE2B_LIFECYCLE_DETACHED
#define CREATING   HE2B_LIFECYCLE_CREATING
#define UNWINDING  HE2B_LIFECYCLE_UNWINDING
#define CONNECTING HE2B_LIFECYCLE_CONNECTING
#define PROBING    HE2B_LIFECYCLE_PROBING
#define READY      HE2B_LIFECYCLE_READY
#define REPLACING  HE2B_LIFECYCLE_REPLACING
#define CLOSING    HE2B_LIFECYCLE_CLOSING
#define CLOSED     HE2B_LIFECYCLE_CLOSED

/* A pair that is not here is refused. */
static const struct row table[] = {
    {DETACHED, LIFE_WANT_NEW, CREATING, "send_create"},
    {DETACHED, LIFE_WANT_OLD, CONNECTING, "send_connect"},
    {DETACHED, LIFE_CLOSE, CLOSING, "fail_waiters send_kill"},

    {CREATING, LIFE_CREATED, PROBING, "send_probe"},
    {CREATING, LIFE_FAILED, DETACHED, "fail_waiters"},
    {CREATING, LIFE_CLOSE, UNWINDING, "end_create fail_waiters"},

    {UNWINDING, LIFE_CREATED, CLOSING, "send_kill"},
    {UNWINDING, LIFE_FAILED, CLOSING, "send_kill"},

    {CONNECTING, LIFE_ATTACHED, READY, "admit"},
    {CONNECTING, LIFE_CONNECTED, PROBING, "send_probe"},
    {CONNECTING, LIFE_GONE, CREATING, "forget_sandbox send_create"},
    {CONNECTING, LIFE_FAILED, DETACHED, "fail_waiters"},
    {CONNECTING, LIFE_CLOSE, CLOSING, "cancel_call fail_waiters send_kill"},

    {PROBING, LIFE_PROBED, READY, "admit"},
    {PROBING, LIFE_FAILED, DETACHED, "fail_waiters"},
    {PROBING, LIFE_CLOSE, CLOSING, "cancel_call fail_waiters send_kill"},

    {READY, LIFE_WANT, READY, "admit"},
    {READY, LIFE_RENEW, READY, "send_renew"},
    {READY, LIFE_RENEWED, READY, "note_lease"},
    {READY, LIFE_STALE, CONNECTING, "cancel_renew send_connect"},
    {READY, LIFE_VANISHED, REPLACING, "cancel_renew send_connect"},
    {READY, LIFE_CLOSE, CLOSING, "cancel_renew fail_waiters send_kill"},

    {REPLACING, LIFE_ATTACHED, READY, "admit"},
    {REPLACING, LIFE_CONNECTED, PROBING, "send_probe"},
    {REPLACING, LIFE_GONE, CREATING, "forget_sandbox send_create"},
    {REPLACING, LIFE_FAILED, DETACHED, "fail_waiters"},
    {REPLACING, LIFE_CLOSE, CLOSING, "cancel_call fail_waiters send_kill"},

    {CLOSING, LIFE_KILLED, CLOSED, "report_closed"},
};

enum {
    ROWS = sizeof(table) / sizeof(table[0]),
    EVENTS = HE2B_LIFECYCLE_EVENT_COUNT,
};

static inline const struct row *find(enum he2b_lifecycle_state_id state,
                                     enum he2b_lifecycle_event event)
{
    size_t i;

    for (i = 0; i < ROWS; i++) {
        if (table[i].state == state && table[i].event == event)
            return &table[i];
    }
    return NULL;
}

#endif
