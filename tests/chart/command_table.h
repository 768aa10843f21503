/*
 * What the command chart is to do, as a plain table. Kept apart from the chart, so that each says
 * what the other should.
 */
#ifndef HE2B_TESTS_CHART_COMMAND_TABLE_H
#define HE2B_TESTS_CHART_COMMAND_TABLE_H

#include "machines/command.h"

#include <stddef.h>

struct row {
    enum he2b_command_state_id state;
    enum he2b_command_event event;
    enum he2b_command_state_id next;
    const char *actions;
};

#define WAITING  HE2B_COMMAND_WAITING
#define STARTING HE2B_COMMAND_STARTING
#define RUNNING  HE2B_COMMAND_RUNNING
#define ENDING   HE2B_COMMAND_ENDING
#define KILLING  HE2B_COMMAND_KILLING
#define LOST     HE2B_COMMAND_LOST
#define DONE     HE2B_COMMAND_DONE

/* A pair that is not here is refused. */
static const struct row table[] = {
    {WAITING, CMD_READY, STARTING, "send_start"},
    {WAITING, CMD_UNREADY, DONE, "note_not_started report"},
    {WAITING, CMD_KILL, DONE, "note_killed report"},
    {WAITING, CMD_TIMEOUT, DONE, "note_timed_out report"},

    {STARTING, CMD_STARTED, RUNNING, "send_stdin"},
    {STARTING, CMD_REFUSED, DONE, "note_not_started report"},
    {STARTING, CMD_VANISHED, WAITING, "ask_session"},
    {STARTING, CMD_LOST, LOST, "ask_whereabouts"},
    {STARTING, CMD_KILL, KILLING, "note_killed close_output bound_kill"},
    {STARTING, CMD_TIMEOUT, KILLING, "note_timed_out close_output bound_kill"},

    {RUNNING, CMD_MARKER, ENDING, "note_exit report allow_grace"},
    {RUNNING, CMD_ENDED, ENDING, "note_exit report allow_grace"},
    {RUNNING, CMD_LOST, LOST, "ask_whereabouts"},
    {RUNNING, CMD_KILL, KILLING, "note_killed close_output bound_kill send_kill"},
    {RUNNING, CMD_TIMEOUT, KILLING, "note_timed_out close_output bound_kill send_kill"},

    {ENDING, CMD_ENDED, ENDING, ""},
    {ENDING, CMD_CLOSED, DONE, ""},
    {ENDING, CMD_LOST, DONE, ""},
    {ENDING, CMD_GRACE, DONE, "drop_stream"},
    {ENDING, CMD_KILL, ENDING, ""},
    {ENDING, CMD_TIMEOUT, ENDING, ""},

    {KILLING, CMD_STARTED, KILLING, "send_kill"},
    {KILLING, CMD_REFUSED, DONE, "report"},
    {KILLING, CMD_VANISHED, DONE, "report"},
    {KILLING, CMD_MARKER, KILLING, ""},
    {KILLING, CMD_ENDED, KILLING, ""},
    {KILLING, CMD_CLOSED, KILLING, ""},
    {KILLING, CMD_LOST, KILLING, ""},
    {KILLING, CMD_UNKILLED, KILLING, "note_unkilled"},
    {KILLING, CMD_KILLED, DONE, "drop_stream report"},
    {KILLING, CMD_BOUND, DONE, "note_unkilled drop_stream report"},
    {KILLING, CMD_KILL, KILLING, ""},
    {KILLING, CMD_TIMEOUT, KILLING, ""},

    {LOST, CMD_SETTLED, DONE, "note_unknown report"},
    {LOST, CMD_KILL, DONE, "note_unknown report"},
    {LOST, CMD_TIMEOUT, DONE, "note_unknown report"},
};

enum {
    ROWS = sizeof(table) / sizeof(table[0]),
    EVENTS = HE2B_COMMAND_EVENT_COUNT,
};

static inline const struct row *find(enum he2b_command_state_id state,
                                     enum he2b_command_event event)
{
    size_t i;

    for (i = 0; i < ROWS; i++) {
        if (table[i].state == state && table[i].event == event)
            return &table[i];
    }
    return NULL;
}

#endif
