/*
 * What the writer chart is to do, as a plain table. Kept apart from the chart, so that each says
 * what the other should.
 */
#ifndef HE2B_TESTS_CHART_WRITER_TABLE_H
#define HE2B_TESTS_CHART_WRITER_TABLE_H

#include "tests/chart/chart.h"

#define ON(state, event, next, actions)                                                            \
    {                                                                                              \
        HE2B_WRITER_##state, event, HE2B_WRITER_##next, actions                                    \
    }

/* A pair that is not here is refused. */
static const struct row table[] = {
    ON(IDLE, WRITER_SEEK, CONTENDING, "step_elect"),
    ON(IDLE, WRITER_OWN, OWN_PUSHING, "want_push"),
    ON(IDLE, WRITER_DROP, IDLE, "report_dropped"),

    ON(CONTENDING, WRITER_WON, ELECTED, "report_elected"),
    ON(CONTENDING, WRITER_ALONE, DEGRADED, "warn_degraded report_elected"),
    ON(CONTENDING, WRITER_TAKEN, FOLLOWING, "report_elected"),
    ON(CONTENDING, WRITER_BUSY, CONTENDING, "wait_for_lock"),
    ON(CONTENDING, WRITER_POLL, CONTENDING, "step_elect"),
    ON(CONTENDING, WRITER_FAILED, FAILING, "step_release"),
    ON(CONTENDING, WRITER_DROP, RELEASING, "step_release"),

    ON(ELECTED, WRITER_JOINED, MARKING, "step_mark"),
    ON(ELECTED, WRITER_MADE, MARKING_MADE, "step_mark"),
    ON(ELECTED, WRITER_DROP, RELEASING, "step_release"),

    ON(DEGRADED, WRITER_JOINED, MARKING, "step_mark"),
    ON(DEGRADED, WRITER_MADE, MARKING_MADE, "step_mark"),
    ON(DEGRADED, WRITER_DROP, RELEASING, "step_release"),

    ON(FOLLOWING, WRITER_JOINED, LOOKING, "step_promote"),
    ON(FOLLOWING, WRITER_DROP, RELEASING, "step_release"),

    /* mark, unstamp, recover, push, stamp, clear (B-62) */
    ON(MARKING, WRITER_MARKED, UNSTAMPING, "send_unstamp"),
    ON(MARKING, WRITER_FAILED, FAILING, "step_release"),
    ON(MARKING, WRITER_DROP, RELEASING, "step_release"),

    ON(UNSTAMPING, WRITER_UNSTAMPED, RECOVERING, "want_recover"),
    ON(UNSTAMPING, WRITER_FAILED, FAILING, "step_release"),
    ON(UNSTAMPING, WRITER_DROP, RELEASING, "cancel_look step_release"),

    ON(RECOVERING, WRITER_RECOVERED, PUSHING, "want_push"),
    ON(RECOVERING, WRITER_ABANDONED, FAILING, "step_release"),
    ON(RECOVERING, WRITER_FAILED, FAILING, "step_release"),
    ON(RECOVERING, WRITER_DROP, RELEASING, "step_release"),

    ON(PUSHING, WRITER_PUSHED, STAMPING, "send_stamp"),
    ON(PUSHING, WRITER_ABANDONED, FAILING, "step_release"),
    ON(PUSHING, WRITER_FAILED, FAILING, "step_release"),
    ON(PUSHING, WRITER_DROP, RELEASING, "step_release"),

    ON(STAMPING, WRITER_STAMPED, CLEARING, "step_clear"),
    ON(STAMPING, WRITER_FAILED, FAILING, "step_release"),
    ON(STAMPING, WRITER_DROP, RELEASING, "cancel_look step_release"),

    ON(CLEARING, WRITER_CLEARED, HOLDING, "report_prepared"),
    ON(CLEARING, WRITER_FAILED, FAILING, "step_release"),
    ON(CLEARING, WRITER_DROP, RELEASING, "step_release"),

    /* a sandbox of this session's own create (B-63) */
    ON(MARKING_MADE, WRITER_MARKED, SURVEYING, "send_look"),
    ON(MARKING_MADE, WRITER_FAILED, FAILING, "step_release"),
    ON(MARKING_MADE, WRITER_DROP, RELEASING, "step_release"),

    ON(SURVEYING, WRITER_LOOKED, PUSHING, "want_push"),
    ON(SURVEYING, WRITER_STAMPED, CLEARING, "step_clear"),
    ON(SURVEYING, WRITER_FAILED, FAILING, "step_release"),
    ON(SURVEYING, WRITER_DROP, RELEASING, "cancel_look step_release"),

    /* the writer, before each command (B-66) */
    ON(HOLDING, WRITER_GATE, SYNCING, "want_sync"),
    ON(HOLDING, WRITER_REBOOTED, VERIFYING, "send_look"),
    ON(HOLDING, WRITER_ASTRAY, CONTENDING, "step_elect"),
    ON(HOLDING, WRITER_DROP, RELEASING, "step_release"),

    ON(SYNCING, WRITER_SYNCED, UNTAINTING, "step_clear"),
    ON(SYNCING, WRITER_ABANDONED, HOLDING, "report_refused"),
    ON(SYNCING, WRITER_FAILED, TAINTING, "doubt_sandbox step_mark_stale"),
    ON(SYNCING, WRITER_DROP, RELEASING, "step_release"),

    ON(TAINTING, WRITER_MARKED, HOLDING, "report_refused"),
    ON(TAINTING, WRITER_FAILED, HOLDING, "report_refused"),
    ON(TAINTING, WRITER_DROP, RELEASING, "step_release"),

    ON(UNTAINTING, WRITER_CLEARED, HOLDING, "report_prepared"),
    ON(UNTAINTING, WRITER_FAILED, HOLDING, "report_refused"),
    ON(UNTAINTING, WRITER_DROP, RELEASING, "step_release"),

    ON(VERIFYING, WRITER_STAMPED, SYNCING, "want_sync"),
    ON(VERIFYING, WRITER_LOOKED, MARKING, "step_mark"),
    ON(VERIFYING, WRITER_FAILED, FAILING, "step_release"),
    ON(VERIFYING, WRITER_DROP, RELEASING, "cancel_look step_release"),

    /* the reader: attaching, then before each command (B-65) */
    ON(LOOKING, WRITER_WON, MARKING, "step_mark"),
    ON(LOOKING, WRITER_ALONE, MARKING, "warn_degraded step_mark"),
    ON(LOOKING, WRITER_CLEAN, GATING, "send_look"),
    ON(LOOKING, WRITER_DIRTY, FAILING, "note_not_ready step_release"),
    ON(LOOKING, WRITER_FAILED, FAILING, "step_release"),
    ON(LOOKING, WRITER_DROP, RELEASING, "step_release"),

    ON(GATING, WRITER_STAMPED, PROMOTING, "step_promote"),
    ON(GATING, WRITER_LOOKED, FAILING, "note_not_ready step_release"),
    ON(GATING, WRITER_FAILED, FAILING, "step_release"),
    ON(GATING, WRITER_DROP, RELEASING, "cancel_look step_release"),

    ON(READING, WRITER_GATE, PROMOTING, "step_promote"),
    ON(READING, WRITER_REBOOTED, LOOKING, "step_promote"),
    ON(READING, WRITER_ASTRAY, CONTENDING, "step_elect"),
    ON(READING, WRITER_DROP, RELEASING, "step_release"),

    ON(PROMOTING, WRITER_WON, MARKING, "step_mark"),
    ON(PROMOTING, WRITER_ALONE, MARKING, "warn_degraded step_mark"),
    ON(PROMOTING, WRITER_CLEAN, READING, "report_prepared"),
    ON(PROMOTING, WRITER_DIRTY, READING, "note_not_ready report_refused"),
    ON(PROMOTING, WRITER_FAILED, READING, "report_refused"),
    ON(PROMOTING, WRITER_DROP, RELEASING, "step_release"),

    /* a sandbox for this session alone: no locks, no marker, no stamp (B-73) */
    ON(OWN_PUSHING, WRITER_PUSHED, OWN_HOLDING, "report_prepared"),
    ON(OWN_PUSHING, WRITER_ABANDONED, IDLE, "report_failed"),
    ON(OWN_PUSHING, WRITER_FAILED, IDLE, "report_failed"),
    ON(OWN_PUSHING, WRITER_DROP, IDLE, "forget_step report_dropped"),

    ON(OWN_HOLDING, WRITER_GATE, OWN_SYNCING, "want_sync"),
    ON(OWN_HOLDING, WRITER_OWN, OWN_PUSHING, "want_push"),
    ON(OWN_HOLDING, WRITER_DROP, IDLE, "report_dropped"),

    ON(OWN_SYNCING, WRITER_SYNCED, OWN_HOLDING, "report_prepared"),
    ON(OWN_SYNCING, WRITER_ABANDONED, OWN_HOLDING, "report_refused"),
    ON(OWN_SYNCING, WRITER_FAILED, OWN_HOLDING, "doubt_sandbox report_refused"),
    ON(OWN_SYNCING, WRITER_DROP, IDLE, "forget_step report_dropped"),

    /* nobody is told before the locks are gone (B-64) */
    ON(FAILING, WRITER_RELEASED, IDLE, "report_failed"),
    ON(FAILING, WRITER_DROP, RELEASING, ""),

    ON(RELEASING, WRITER_RELEASED, IDLE, "report_dropped"),
};

CHART(writer, WRITER, HE2B_WRITER_IDLE, "WRITER_");

#endif
