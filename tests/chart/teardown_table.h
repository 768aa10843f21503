/*
 * What the teardown chart is to do, as a plain table. Kept apart from the chart, so that each says
 * what the other should.
 */
#ifndef HE2B_TESTS_CHART_TEARDOWN_TABLE_H
#define HE2B_TESTS_CHART_TEARDOWN_TABLE_H

#include "tests/chart/chart.h"

#define ON(state, event, next, actions)                                                            \
    {                                                                                              \
        HE2B_TEARDOWN_##state, event, HE2B_TEARDOWN_##next, actions                                \
    }

/* A pair that is not here is refused. */
static const struct row table[] = {
    ON(OPEN, END_CLOSE, DEFERRED, "rest"),

    ON(DEFERRED, END_PULL, RECONNECTING, "reconnect"),
    ON(DEFERRED, END_NO_PULL, CLEANING, "clean"),
    ON(DEFERRED, END_NOTHING, RELEASING, "release"),
    ON(DEFERRED, END_ABANDONED, HURRIED, ""),

    ON(HURRIED, END_PULL, CLEANING, "report_unpulled clean"),
    ON(HURRIED, END_NO_PULL, CLEANING, "clean"),
    ON(HURRIED, END_NOTHING, RELEASING, "release"),

    ON(RECONNECTING, END_CONNECTED, PULLING, "want_pull"),
    ON(RECONNECTING, END_FAILED, CLEANING, "report_unpulled clean"),
    ON(RECONNECTING, END_ABANDONED, CLEANING, "cancel_call report_unpulled clean"),

    ON(PULLING, END_PULLED, CLEANING, "clean"),
    ON(PULLING, END_AGAIN, RECONNECTING, "reconnect"),
    ON(PULLING, END_FAILED, CLEANING, "report_unpulled clean"),
    ON(PULLING, END_ABANDONED, CLEANING, "report_unpulled clean"),

    ON(CLEANING, END_KEEP, RELEASING, "release"),
    ON(CLEANING, END_KILL, KILLING, "send_kill"),

    ON(KILLING, END_KILLED, RELEASING, "release"),

    ON(RELEASING, END_RELEASED, CLOSED, "report_closed"),
};

CHART(teardown, TEARDOWN, HE2B_TEARDOWN_OPEN, "END_");

#endif
