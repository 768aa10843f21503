/*
 * What the lifecycle chart is to do, as a plain table. Kept apart from the chart, so that each says
 * what the other should.
 */
#ifndef HE2B_TESTS_CHART_LIFECYCLE_TABLE_H
#define HE2B_TESTS_CHART_LIFECYCLE_TABLE_H

#include "tests/chart/chart.h"

#define ON(state, event, next, actions)                                                            \
    {                                                                                              \
        HE2B_LIFECYCLE_##state, event, HE2B_LIFECYCLE_##next, actions                              \
    }

/* A pair that is not here is refused. */
static const struct row table[] = {
    ON(DETACHED, LIFE_WANT_NEW, CREATING, "send_create"),
    ON(DETACHED, LIFE_WANT_OLD, CONNECTING, "cancel_renew send_connect"),
    ON(DETACHED, LIFE_WANT_SCOPE, ELECTING, "cancel_renew seek_role"),
    ON(DETACHED, LIFE_RENEW, DETACHED, "send_renew"),
    ON(DETACHED, LIFE_RENEWED, DETACHED, "note_lease"),
    ON(DETACHED, LIFE_VANISHED, DETACHED, ""),
    ON(DETACHED, LIFE_CLOSE, CLOSED, "cancel_renew fail_waiters report_rest"),

    ON(ELECTING, LIFE_ELECTED, LOOKING_UP, "send_list"),
    ON(ELECTING, LIFE_FAILED, DROPPING, "drop_role"),
    ON(ELECTING, LIFE_ABANDONED, DROPPING, "drop_role"),
    ON(ELECTING, LIFE_VANISHED, ELECTING, ""),
    ON(ELECTING, LIFE_CLOSE, CLOSED, "fail_waiters report_rest"),

    ON(LOOKING_UP, LIFE_FOUND, CONNECTING, "send_connect"),
    ON(LOOKING_UP, LIFE_ABSENT, CREATING, "send_create"),
    ON(LOOKING_UP, LIFE_FAILED, DROPPING, "drop_role"),
    ON(LOOKING_UP, LIFE_ABANDONED, DROPPING, "cancel_call drop_role"),
    ON(LOOKING_UP, LIFE_VANISHED, LOOKING_UP, ""),
    ON(LOOKING_UP, LIFE_CLOSE, CLOSED, "cancel_call fail_waiters report_rest"),

    ON(CREATING, LIFE_CREATED, PROBING, "send_probe"),
    ON(CREATING, LIFE_MADE, PREPARING, "prepare_made"),
    ON(CREATING, LIFE_FAILED, DROPPING, "drop_role"),
    ON(CREATING, LIFE_VANISHED, CREATING, ""),
    ON(CREATING, LIFE_CLOSE, CLOSING, "end_create fail_waiters"),

    ON(CONNECTING, LIFE_ATTACHED, READY, "admit"),
    ON(CONNECTING, LIFE_CONNECTED, PROBING, "send_probe"),
    ON(CONNECTING, LIFE_GONE, CREATING, "forget_sandbox send_create"),
    ON(CONNECTING, LIFE_SAME, PREPARING, "gate_role"),
    ON(CONNECTING, LIFE_JOINED, PREPARING, "prepare_joined"),
    ON(CONNECTING, LIFE_REBOOTED, PREPARING, "prepare_rebooted"),
    ON(CONNECTING, LIFE_NEXT, CONNECTING, "send_connect"),
    ON(CONNECTING, LIFE_ABSENT, CREATING, "send_create"),
    ON(CONNECTING, LIFE_ASTRAY, ELECTING, "forget_sandbox seek_again"),
    ON(CONNECTING, LIFE_FAILED, DROPPING, "drop_role"),
    ON(CONNECTING, LIFE_ABANDONED, DROPPING, "cancel_call drop_role"),
    ON(CONNECTING, LIFE_VANISHED, CONNECTING, ""),
    ON(CONNECTING, LIFE_CLOSE, CLOSED, "cancel_call fail_waiters report_rest"),

    ON(PROBING, LIFE_PROBED, READY, "admit"),
    ON(PROBING, LIFE_OWNED, PREPARING, "prepare_own"),
    ON(PROBING, LIFE_FAILED, DROPPING, "drop_role"),
    ON(PROBING, LIFE_VANISHED, PROBING, ""),
    ON(PROBING, LIFE_CLOSE, CLOSED, "cancel_call fail_waiters report_rest"),

    ON(PREPARING, LIFE_PREPARED, READY, "admit"),
    ON(PREPARING, LIFE_LAPSED, CONNECTING, "cancel_renew send_connect"),
    ON(PREPARING, LIFE_REFUSED, READY, "refuse_waiters"),
    ON(PREPARING, LIFE_RENEW, PREPARING, "send_renew"),
    ON(PREPARING, LIFE_RENEWED, PREPARING, "note_lease"),
    ON(PREPARING, LIFE_FAILED, DROPPING, "cancel_renew drop_role"),
    ON(PREPARING, LIFE_VANISHED, PREPARING, "doubt_sandbox"),
    ON(PREPARING, LIFE_CLOSE, CLOSED, "cancel_renew fail_waiters report_rest"),

    ON(READY, LIFE_WANT, READY, "admit"),
    ON(READY, LIFE_WANT_GATE, PREPARING, "gate_role"),
    ON(READY, LIFE_RENEW, READY, "send_renew"),
    ON(READY, LIFE_RENEWED, READY, "note_lease"),
    ON(READY, LIFE_STALE, CONNECTING, "cancel_renew send_connect"),
    ON(READY, LIFE_VANISHED, REPLACING, "cancel_renew send_connect"),
    ON(READY, LIFE_CLOSE, CLOSED, "cancel_renew fail_waiters report_rest"),

    ON(REPLACING, LIFE_ATTACHED, READY, "admit"),
    ON(REPLACING, LIFE_CONNECTED, PROBING, "send_probe"),
    ON(REPLACING, LIFE_GONE, CREATING, "forget_sandbox send_create"),
    ON(REPLACING, LIFE_SAME, PREPARING, "gate_role"),
    ON(REPLACING, LIFE_REBOOTED, PREPARING, "prepare_rebooted"),
    ON(REPLACING, LIFE_ASTRAY, ELECTING, "forget_sandbox seek_again"),
    ON(REPLACING, LIFE_FAILED, DROPPING, "drop_role"),
    ON(REPLACING, LIFE_VANISHED, REPLACING, ""),
    ON(REPLACING, LIFE_CLOSE, CLOSED, "cancel_call fail_waiters report_rest"),

    ON(DROPPING, LIFE_DROPPED, DETACHED, "refuse_waiters"),
    ON(DROPPING, LIFE_VANISHED, DROPPING, ""),
    ON(DROPPING, LIFE_CLOSE, CLOSED, "fail_waiters report_rest"),

    ON(CLOSING, LIFE_CREATED, CLOSED, "report_rest"),
    ON(CLOSING, LIFE_MADE, CLOSED, "report_rest"),
    ON(CLOSING, LIFE_FAILED, CLOSED, "report_rest"),
};

CHART(lifecycle, LIFECYCLE, HE2B_LIFECYCLE_DETACHED, "LIFE_");

#endif
