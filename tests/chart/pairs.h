/*
 * Every pair of state and event of a chart against its plain table, and its names. Included once by
 * each test, after the table; CHART_PAIR_TESTS are the tests.
 */
#ifndef HE2B_TESTS_CHART_PAIRS_H
#define HE2B_TESTS_CHART_PAIRS_H

#include "tests/chart/chart.h"
#include "tests/unit/unit.h"

enum {
    STATES_MAX = 32,
};

/* Steps a new machine to state, by a shortest way of the table. */
static void lead_to(union chart_machine *machine, struct record *record, int state)
{
    const struct row *came_by[STATES_MAX] = {NULL};
    bool reached[STATES_MAX] = {false};
    int way[STATES_MAX];
    bool grown = true;
    int n = 0;

    assert_true(chart.state_count <= STATES_MAX);
    reached[chart.first] = true;
    while (grown) {
        bool from[STATES_MAX];
        size_t i;

        grown = false;
        memcpy(from, reached, sizeof(from));
        for (i = 0; i < chart.row_count; i++) {
            const struct row *row = &chart.rows[i];

            if (from[row->state] && !reached[row->next]) {
                came_by[row->next] = row;
                reached[row->next] = true;
                grown = true;
            }
        }
    }
    record_clear(record);
    chart.init(machine, record);
    assert_int_equal(chart.state(machine), chart.first);
    assert_true(reached[state]);
    for (; came_by[state]; state = came_by[state]->state)
        way[n++] = came_by[state]->event;
    while (n)
        chart.step(machine, way[--n]);
    record_clear(record);
}

/* Says which pair it is about, since a line number does not. */
static void compare(const union chart_machine *machine, const struct record *record, int from,
                    int event, const struct row *row, unsigned refused)
{
    int next = row ? row->next : from;

    if (strcmp(record->text, row ? row->actions : "") != 0 || chart.state(machine) != next ||
        chart.refused(machine) != refused)
        fail_msg("%s, %s: the chart calls [%s] and is %s, %u refused; the table says [%s] and %s, "
                 "%u refused",
                 chart.state_name(from), chart.event_name(event), record->text,
                 chart.state_name(chart.state(machine)), chart.refused(machine),
                 row ? row->actions : "", chart.state_name(next), refused);
}

static void test_each_pair_does_what_the_table_says(void **state)
{
    union chart_machine machine;
    struct record record;
    int from;
    int event;

    (void)state;
    for (from = 0; from < chart.state_count; from++) {
        for (event = 1; event <= chart.event_count; event++) {
            const struct row *row = chart_row(&chart, from, event);

            lead_to(&machine, &record, from);
            assert_int_equal(chart.state(&machine), from);
            assert_int_equal(chart.refused(&machine), 0);
            chart.step(&machine, event);
            compare(&machine, &record, from, event, row, row ? 0 : 1);
        }
    }
}

/* A refused event leaves no trace: what follows goes as if it had not come. */
static void test_refused_event_changes_nothing(void **state)
{
    union chart_machine machine;
    struct record record;
    size_t i;
    int event;

    (void)state;
    for (i = 0; i < chart.row_count; i++) {
        const struct row *row = &chart.rows[i];

        for (event = 1; event <= chart.event_count; event++) {
            if (chart_row(&chart, row->state, event))
                continue;
            lead_to(&machine, &record, row->state);
            chart.step(&machine, event);
            chart.step(&machine, row->event);
            compare(&machine, &record, row->state, row->event, row, 1);
        }
    }
}

/* Numbers that are no event at all. */
static void test_no_event_is_refused(void **state)
{
    const int none[] = {0, -1, chart.event_count + 1, 127, 128, 255, 256, 1 << 30};
    union chart_machine machine;
    struct record record;
    size_t i;
    int from;

    (void)state;
    for (from = 0; from < chart.state_count; from++) {
        for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
            lead_to(&machine, &record, from);
            chart.step(&machine, none[i]);
            compare(&machine, &record, from, none[i], NULL, 1);
        }
    }
}

static void test_table_names_each_pair_once(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < chart.row_count; i++)
        assert_ptr_equal(chart_row(&chart, chart.rows[i].state, chart.rows[i].event),
                         &chart.rows[i]);
}

static void test_names(void **state)
{
    int i;
    int j;

    (void)state;
    for (i = 0; i < chart.state_count; i++) {
        const char *name = chart.state_name(i);

        assert_true(name[0] >= 'a' && name[0] <= 'z');
        for (j = 0; j < i; j++)
            assert_string_not_equal(name, chart.state_name(j));
    }
    assert_string_equal(chart.state_name(chart.state_count), "?");
    for (i = 1; i <= chart.event_count; i++) {
        const char *name = chart.event_name(i);

        assert_memory_equal(name, chart.event_prefix, strlen(chart.event_prefix));
        for (j = 1; j < i; j++)
            assert_string_not_equal(name, chart.event_name(j));
    }
    assert_string_equal(chart.event_name(chart.event_count + 1), "?");
}

#define CHART_PAIR_TESTS                                                                           \
    cmocka_unit_test(test_each_pair_does_what_the_table_says),                                     \
        cmocka_unit_test(test_refused_event_changes_nothing),                                      \
        cmocka_unit_test(test_no_event_is_refused),                                                \
        cmocka_unit_test(test_table_names_each_pair_once), cmocka_unit_test(test_names)

#endif
