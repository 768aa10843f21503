/*
 * One face for all charts, so that what is tested of each is written once: states and events as
 * numbers, actions as words, and the plain table that says what the chart should do.
 */
#ifndef HE2B_TESTS_CHART_CHART_H
#define HE2B_TESTS_CHART_CHART_H

#include "machines/command.h"
#include "machines/lifecycle.h"
#include "machines/teardown.h"
#include "machines/writer.h"
#include "tests/chart/record.h"

/* In state, event calls actions and leads to next. A pair that has no row is refused. */
struct row {
    int state;
    int event;
    int next;
    const char *actions;
};

union chart_machine {
    struct he2b_command_machine command;
    struct he2b_lifecycle_machine lifecycle;
    struct he2b_teardown_machine teardown;
    struct he2b_writer_machine writer;
};

struct chart {
    const struct row *rows;
    size_t row_count;
    int state_count;
    int event_count; /* they are numbered from 1 */
    int first;       /* state */
    const char *event_prefix;
    void (*init)(union chart_machine *machine, struct record *record);
    void (*step)(union chart_machine *machine, int event);
    int (*state)(const union chart_machine *machine);
    unsigned (*refused)(const union chart_machine *machine);
    const char *(*state_name)(int state);
    const char *(*event_name)(int event);
};

/* NULL: the pair is to be refused. */
static inline const struct row *chart_row(const struct chart *chart, int state, int event)
{
    size_t i;

    for (i = 0; i < chart->row_count; i++) {
        if (chart->rows[i].state == state && chart->rows[i].event == event)
            return &chart->rows[i];
    }
    return NULL;
}

#define CHART_RECORD(name)                                                                         \
    static void name(void *user)                                                                   \
    {                                                                                              \
        record_add(user, #name);                                                                   \
    }
#define CHART_BIND(name) .name = name,

/*
 * Defines "chart", the face of machines/<noun>.h, whose table[] stands before it. Each action
 * becomes a function that records its own name.
 */
#define CHART(noun, NOUN, first_state, prefix)                                                     \
    HE2B_##NOUN##_ACTIONS(CHART_RECORD) static const struct he2b_##noun##_actions actions = {      \
        HE2B_##NOUN##_ACTIONS(CHART_BIND)};                                                        \
                                                                                                   \
    static void chart_init(union chart_machine *machine, struct record *record)                    \
    {                                                                                              \
        he2b_##noun##_machine_init(&machine->noun, &actions, record);                              \
    }                                                                                              \
    static void chart_step(union chart_machine *machine, int event)                                \
    {                                                                                              \
        he2b_##noun##_machine_step(&machine->noun, (enum he2b_##noun##_event)event);               \
    }                                                                                              \
    static int chart_state(const union chart_machine *machine)                                     \
    {                                                                                              \
        return (int)machine->noun.state;                                                           \
    }                                                                                              \
    static unsigned chart_refused(const union chart_machine *machine)                              \
    {                                                                                              \
        return machine->noun.refused;                                                              \
    }                                                                                              \
    static const char *chart_state_name(int state)                                                 \
    {                                                                                              \
        return he2b_##noun##_state_name((enum he2b_##noun##_state_id)state);                       \
    }                                                                                              \
    static const char *chart_event_name(int event)                                                 \
    {                                                                                              \
        return he2b_##noun##_event_name((enum he2b_##noun##_event)event);                          \
    }                                                                                              \
                                                                                                   \
    static const struct chart chart = {                                                            \
        .rows = table,                                                                             \
        .row_count = sizeof(table) / sizeof(table[0]),                                             \
        .state_count = HE2B_##NOUN##_STATE_COUNT,                                                  \
        .event_count = HE2B_##NOUN##_EVENT_COUNT,                                                  \
        .first = (first_state),                                                                    \
        .event_prefix = (prefix),                                                                  \
        .init = chart_init,                                                                        \
        .step = chart_step,                                                                        \
        .state = chart_state,                                                                      \
        .refused = chart_refused,                                                                  \
        .state_name = chart_state_name,                                                            \
        .event_name = chart_event_name,                                                            \
    }

#endif
