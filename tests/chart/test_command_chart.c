/*
 * The command chart against a plain table: each pair of state and event, and each path up to a
 * depth (B-41, B-42, B-43, B-47).
 */
#include "tests/chart/command_table.h"
#include "tests/chart/record.h"

enum {
    /* All that can happen to a command, with a kill that is repeated. */
    DEPTH = 8,
};

/* One recording function for each action. */
#define HE2B_X(name)                                                                               \
    static void name(void *user)                                                                   \
    {                                                                                              \
        record_add(user, #name);                                                                   \
    }
HE2B_COMMAND_ACTIONS(HE2B_X)
#undef HE2B_X

static const struct he2b_command_actions actions = {
#define HE2B_X(name) .name = name,
    HE2B_COMMAND_ACTIONS(HE2B_X)
#undef HE2B_X
};

/* ---- pairs ---- */

/* Steps a new machine to state, by a shortest way of the table. */
static void lead_to(struct he2b_command_machine *machine, struct record *record,
                    enum he2b_command_state_id state)
{
    const struct row *came_by[HE2B_COMMAND_STATE_COUNT] = {NULL};
    enum he2b_command_event way[HE2B_COMMAND_STATE_COUNT];
    bool grown = true;
    int n = 0;

    while (grown) {
        size_t i;

        grown = false;
        for (i = 0; i < ROWS; i++) {
            const struct row *row = &table[i];

            if (row->next != WAITING && !came_by[row->next] &&
                (row->state == WAITING || came_by[row->state])) {
                came_by[row->next] = row;
                grown = true;
            }
        }
    }
    he2b_command_machine_init(machine, &actions, record);
    assert_int_equal(machine->state, WAITING);
    while (state != WAITING) {
        assert_non_null(came_by[state]);
        way[n++] = came_by[state]->event;
        state = came_by[state]->state;
    }
    while (n)
        he2b_command_machine_step(machine, way[--n]);
    record_clear(record);
}

static void test_each_pair_does_what_the_table_says(void **state)
{
    struct he2b_command_machine machine;
    struct record record;
    int from;
    int event;

    (void)state;
    for (from = 0; from < HE2B_COMMAND_STATE_COUNT; from++) {
        for (event = 1; event <= EVENTS; event++) {
            const struct row *row =
                find((enum he2b_command_state_id)from, (enum he2b_command_event)event);

            record_clear(&record);
            lead_to(&machine, &record, (enum he2b_command_state_id)from);
            assert_int_equal(machine.state, from);
            assert_int_equal(machine.refused, 0);
            he2b_command_machine_step(&machine, (enum he2b_command_event)event);
            assert_string_equal(record.text, row ? row->actions : "");
            assert_int_equal(machine.state, row ? (int)row->next : from);
            assert_int_equal(machine.refused, row ? 0 : 1);
        }
    }
}

/* A refused event leaves no trace: what follows goes as if it had not come. */
static void test_refused_event_changes_nothing(void **state)
{
    struct he2b_command_machine machine;
    struct record record;
    int from;
    int event;
    size_t i;

    (void)state;
    for (from = 0; from < HE2B_COMMAND_STATE_COUNT; from++) {
        for (event = 1; event <= EVENTS; event++) {
            if (find((enum he2b_command_state_id)from, (enum he2b_command_event)event))
                continue;
            for (i = 0; i < ROWS; i++) {
                if ((int)table[i].state != from)
                    continue;
                record_clear(&record);
                lead_to(&machine, &record, (enum he2b_command_state_id)from);
                he2b_command_machine_step(&machine, (enum he2b_command_event)event);
                he2b_command_machine_step(&machine, table[i].event);
                assert_string_equal(record.text, table[i].actions);
                assert_int_equal(machine.state, table[i].next);
                assert_int_equal(machine.refused, 1);
            }
        }
    }
}

/* Numbers that are no event at all. */
static void test_no_event_is_refused(void **state)
{
    static const int none[] = {0, -1, EVENTS + 1, 127, 128, 255, 256, 1 << 30};
    struct he2b_command_machine machine;
    struct record record;
    size_t i;
    int from;

    (void)state;
    for (from = 0; from < HE2B_COMMAND_STATE_COUNT; from++) {
        for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
            record_clear(&record);
            lead_to(&machine, &record, (enum he2b_command_state_id)from);
            he2b_command_machine_step(&machine, (enum he2b_command_event)none[i]);
            assert_int_equal(machine.state, from);
            assert_int_equal(machine.refused, 1);
            assert_string_equal(record.text, "");
        }
    }
}

/* ---- paths ---- */

struct walk {
    struct he2b_command_machine machine;
    struct record record;
    bool started_seen;
    unsigned long paths;
};

static unsigned notes(const struct record *record)
{
    return record_count(record, "note_exit") + record_count(record, "note_not_started") +
           record_count(record, "note_killed") + record_count(record, "note_timed_out") +
           record_count(record, "note_unknown");
}

static void check_invariants(const struct walk *walk)
{
    const struct record *record = &walk->record;
    enum he2b_command_state_id state = walk->machine.state;
    bool told = state == ENDING || state == DONE;

    /* one result, told once, on each way to the end */
    assert_int_equal(record_count(record, "report"), told ? 1 : 0);
    assert_true(notes(record) <= 1);
    assert_true(!told || notes(record) == 1);
    /* never started twice unless the first certainly did nothing (B-47) */
    assert_true(record_count(record, "send_start") <= 1 + record_count(record, "ask_session"));
    assert_true(record_count(record, "ask_whereabouts") <= 1);
    /* an exit code only from a command that ran to its end (B-41) */
    assert_true(!record_count(record, "note_exit") || walk->started_seen);
    assert_true(!record_count(record, "note_not_started") || !walk->started_seen);
    /* a kill needs a pid; it is bounded (B-43), and its reader has its end at once (B-117) */
    assert_true(!record_count(record, "send_kill") || walk->started_seen);
    if (state == KILLING) {
        assert_int_equal(record_count(record, "bound_kill"), 1);
        assert_int_equal(record_count(record, "close_output"), 1);
        assert_true(record_count(record, "send_kill") == (walk->started_seen ? 1 : 0));
    }
    /* a kill that nobody confirmed is reported as such */
    assert_true(record_before(record, "note_killed", "note_unkilled") ||
                record_before(record, "note_timed_out", "note_unkilled"));
}

/* Follows every allowed event; a second CMD_STARTED of one stream cannot happen. */
static void follow(struct walk *walk, int depth)
{
    int event;

    check_invariants(walk);
    walk->paths++;
    if (depth == 0)
        return;
    for (event = 1; event <= EVENTS; event++) {
        struct he2b_command_machine machine = walk->machine;
        size_t len = walk->record.len;
        bool started_seen = walk->started_seen;

        if (event == CMD_STARTED && started_seen)
            continue;
        he2b_command_machine_step(&walk->machine, (enum he2b_command_event)event);
        if (walk->machine.refused == 0) {
            walk->started_seen = started_seen || event == CMD_STARTED;
            follow(walk, depth - 1);
        }
        walk->machine = machine;
        walk->record.len = len;
        walk->record.text[len] = '\0';
        walk->started_seen = started_seen;
    }
}

static void test_each_path_keeps_the_invariants(void **state)
{
    struct walk walk = {.paths = 0};

    (void)state;
    record_clear(&walk.record);
    he2b_command_machine_init(&walk.machine, &actions, &walk.record);
    follow(&walk, DEPTH);
    assert_true(walk.paths > 10000);
}

/* ---- names ---- */

static void test_names(void **state)
{
    int i;
    int j;

    (void)state;
    for (i = 0; i < HE2B_COMMAND_STATE_COUNT; i++) {
        const char *name = he2b_command_state_name((enum he2b_command_state_id)i);

        assert_true(name[0] >= 'a' && name[0] <= 'z');
        for (j = 0; j < i; j++)
            assert_string_not_equal(name, he2b_command_state_name((enum he2b_command_state_id)j));
    }
    assert_string_equal(he2b_command_state_name(HE2B_COMMAND_STATE_COUNT), "?");
    for (i = 1; i <= EVENTS; i++) {
        const char *name = he2b_command_event_name((enum he2b_command_event)i);

        assert_memory_equal(name, "CMD_", 4);
        for (j = 1; j < i; j++)
            assert_string_not_equal(name, he2b_command_event_name((enum he2b_command_event)j));
    }
    assert_string_equal(he2b_command_event_name((enum he2b_command_event)(EVENTS + 1)), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_pair_does_what_the_table_says),
        cmocka_unit_test(test_refused_event_changes_nothing),
        cmocka_unit_test(test_no_event_is_refused),
        cmocka_unit_test(test_each_path_keeps_the_invariants),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
