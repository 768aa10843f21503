/*
 * What the command chart is to do, as a plain table. Kept apart from the chart, so that each says
 * what the other should.
 */
#ifndef HE2B_TESTS_CHART_COMMAND_TABLE_H
#define HE2B_TESTS_CHART_COMMAND_TABLE_H

#include "tests/chart/chart.h"

#define ON(state, event, next, actions)                                                            \
    {                                                                                              \
        HE2B_COMMAND_##state, event, HE2B_COMMAND_##next, actions                                  \
    }

/* A pair that is not here is refused. */
static const struct row table[] = {
    ON(WAITING, CMD_READY, STARTING, "send_start"),
    ON(WAITING, CMD_UNREADY, DONE, "note_not_started report"),
    ON(WAITING, CMD_KILL, DONE, "note_killed report"),
    ON(WAITING, CMD_TIMEOUT, DONE, "note_timed_out report"),

    ON(STARTING, CMD_STARTED, RUNNING, "send_stdin"),
    ON(STARTING, CMD_REFUSED, DONE, "note_not_started report"),
    ON(STARTING, CMD_VANISHED, WAITING, "ask_session"),
    ON(STARTING, CMD_LOST, LOST, "ask_whereabouts"),
    ON(STARTING, CMD_KILL, KILLING, "note_killed close_output bound_kill"),
    ON(STARTING, CMD_TIMEOUT, KILLING, "note_timed_out close_output bound_kill"),

    ON(RUNNING, CMD_MARKER, ENDING, "note_exit report allow_grace"),
    ON(RUNNING, CMD_ENDED, ENDING, "note_exit report allow_grace"),
    ON(RUNNING, CMD_LOST, LOST, "ask_whereabouts"),
    ON(RUNNING, CMD_KILL, KILLING, "note_killed close_output bound_kill send_kill"),
    ON(RUNNING, CMD_TIMEOUT, KILLING, "note_timed_out close_output bound_kill send_kill"),

    ON(ENDING, CMD_ENDED, ENDING, ""),
    ON(ENDING, CMD_CLOSED, DONE, ""),
    ON(ENDING, CMD_LOST, DONE, ""),
    ON(ENDING, CMD_GRACE, DONE, "drop_stream"),
    ON(ENDING, CMD_KILL, ENDING, ""),
    ON(ENDING, CMD_TIMEOUT, ENDING, ""),

    ON(KILLING, CMD_STARTED, KILLING, "send_kill"),
    ON(KILLING, CMD_REFUSED, DONE, "report"),
    ON(KILLING, CMD_VANISHED, DONE, "report"),
    ON(KILLING, CMD_MARKER, KILLING, ""),
    ON(KILLING, CMD_ENDED, KILLING, ""),
    ON(KILLING, CMD_CLOSED, KILLING, ""),
    ON(KILLING, CMD_LOST, KILLING, ""),
    ON(KILLING, CMD_UNKILLED, KILLING, "note_unkilled"),
    ON(KILLING, CMD_KILLED, DONE, "drop_stream report"),
    ON(KILLING, CMD_BOUND, DONE, "note_unkilled drop_stream report"),
    ON(KILLING, CMD_KILL, KILLING, ""),
    ON(KILLING, CMD_TIMEOUT, KILLING, ""),

    ON(LOST, CMD_SETTLED, DONE, "note_unknown report"),
    ON(LOST, CMD_KILL, DONE, "note_unknown report"),
    ON(LOST, CMD_TIMEOUT, DONE, "note_unknown report"),
};

CHART(command, COMMAND, HE2B_COMMAND_WAITING, "CMD_");

#endif
