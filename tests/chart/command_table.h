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
    ON(STARTING, CMD_LOST, DOUBTFUL, "ask_record"),
    ON(STARTING, CMD_KILL, CATCHING, "note_killed close_output bound_kill"),
    ON(STARTING, CMD_TIMEOUT, CATCHING, "note_timed_out close_output bound_kill"),

    ON(DOUBTFUL, CMD_RUNS, ATTACHING, "send_stdin attach"),
    ON(DOUBTFUL, CMD_RECORDED, DONE, "note_recorded report"),
    ON(DOUBTFUL, CMD_UNBEGUN, REPEATING, "send_repeat"),
    ON(DOUBTFUL, CMD_UNCLEAR, LOOKING, "ask_whereabouts"),
    ON(DOUBTFUL, CMD_KILL, CATCHING, "note_killed close_output bound_kill ask_forbid"),
    ON(DOUBTFUL, CMD_TIMEOUT, CATCHING, "note_timed_out close_output bound_kill ask_forbid"),

    ON(REPEATING, CMD_STARTED, RUNNING, "send_stdin"),
    ON(REPEATING, CMD_REFUSED, DOUBTFUL, "ask_record"),
    ON(REPEATING, CMD_LOST, DOUBTFUL, "ask_record"),
    ON(REPEATING, CMD_VANISHED, LOOKING, "ask_whereabouts"),
    ON(REPEATING, CMD_KILL, CATCHING, "note_killed close_output bound_kill ask_forbid"),
    ON(REPEATING, CMD_TIMEOUT, CATCHING, "note_timed_out close_output bound_kill ask_forbid"),

    ON(RUNNING, CMD_MARKER, ENDING, "note_exit report allow_grace"),
    ON(RUNNING, CMD_ENDED, ENDING, "note_exit report allow_grace"),
    ON(RUNNING, CMD_DENIED, DOUBTFUL, "forget_start ask_record"),
    ON(RUNNING, CMD_LOST, LOST, "ask_record"),
    ON(RUNNING, CMD_KILL, KILLING, "note_killed close_output bound_kill send_kill"),
    ON(RUNNING, CMD_TIMEOUT, KILLING, "note_timed_out close_output bound_kill send_kill"),

    ON(LOST, CMD_RUNS, ATTACHING, "attach"),
    ON(LOST, CMD_RECORDED, DONE, "note_recorded report"),
    ON(LOST, CMD_UNCLEAR, LOOKING, "ask_whereabouts"),
    ON(LOST, CMD_KILL, KILLING, "note_killed close_output bound_kill send_kill"),
    ON(LOST, CMD_TIMEOUT, KILLING, "note_timed_out close_output bound_kill send_kill"),

    ON(ATTACHING, CMD_MARKER, ENDING, "note_incomplete report allow_grace"),
    ON(ATTACHING, CMD_ENDED, ENDING, "note_incomplete report allow_grace"),
    ON(ATTACHING, CMD_DENIED, LOST, "ask_record"),
    ON(ATTACHING, CMD_LOST, LOST, "ask_record"),
    ON(ATTACHING, CMD_KILL, KILLING, "note_killed close_output bound_kill send_kill"),
    ON(ATTACHING, CMD_TIMEOUT, KILLING, "note_timed_out close_output bound_kill send_kill"),

    ON(ENDING, CMD_ENDED, ENDING, ""),
    ON(ENDING, CMD_CLOSED, DONE, ""),
    ON(ENDING, CMD_LOST, DONE, ""),
    ON(ENDING, CMD_GRACE, DONE, "drop_stream"),
    ON(ENDING, CMD_KILL, ENDING, ""),
    ON(ENDING, CMD_TIMEOUT, ENDING, ""),

    ON(CATCHING, CMD_STARTED, KILLING, "send_kill"),
    ON(CATCHING, CMD_REFUSED, DONE, "report"),
    ON(CATCHING, CMD_VANISHED, DONE, "report"),
    ON(CATCHING, CMD_LOST, CATCHING, "ask_forbid"),
    ON(CATCHING, CMD_RUNS, KILLING, "send_kill"),
    ON(CATCHING, CMD_RECORDED, DONE, "report"),
    ON(CATCHING, CMD_UNBEGUN, DONE, "report"),
    ON(CATCHING, CMD_UNCLEAR, DONE, "note_unkilled report"),
    ON(CATCHING, CMD_BOUND, DONE, "note_unkilled drop_stream report"),
    ON(CATCHING, CMD_KILL, CATCHING, ""),
    ON(CATCHING, CMD_TIMEOUT, CATCHING, ""),

    ON(KILLING, CMD_MARKER, KILLING, ""),
    ON(KILLING, CMD_ENDED, KILLING, ""),
    ON(KILLING, CMD_CLOSED, KILLING, ""),
    ON(KILLING, CMD_DENIED, CATCHING, "forget_start ask_forbid"),
    ON(KILLING, CMD_LOST, KILLING, ""),
    ON(KILLING, CMD_RUNS, KILLING, ""),
    ON(KILLING, CMD_RECORDED, KILLING, ""),
    ON(KILLING, CMD_UNCLEAR, KILLING, ""),
    ON(KILLING, CMD_UNKILLED, KILLING, "note_unkilled"),
    ON(KILLING, CMD_KILLED, DONE, "drop_stream report"),
    ON(KILLING, CMD_BOUND, DONE, "note_unkilled drop_stream report"),
    ON(KILLING, CMD_KILL, KILLING, ""),
    ON(KILLING, CMD_TIMEOUT, KILLING, ""),

    ON(LOOKING, CMD_SETTLED, DONE, "note_unknown report"),
    ON(LOOKING, CMD_KILL, DONE, "note_unknown report"),
    ON(LOOKING, CMD_TIMEOUT, DONE, "note_unknown report"),
};

CHART(command, COMMAND, HE2B_COMMAND_WAITING, "CMD_");

#endif
