/*
 * The lifecycle chart against a plain table: each pair of state and event, and each path up to a
 * depth (B-31, B-90, B-91, B-97).
 */
#include "tests/chart/lifecycle_table.h"
#include "tests/chart/record.h"

enum {
    /* From nothing through a renewal and a replaced sandbox to the end. */
    DEPTH = 11,
};

/* One recording function for each action. */
#define HE2B_X(name)                                                                               \
    static void name(void *user)                                                                   \
    {                                                                                              \
        record_add(user, #name);                                                                   \
    }
HE2B_LIFECYCLE_ACTIONS(HE2B_X)
#undef HE2B_X

static const struct he2b_lifecycle_actions actions = {
#define HE2B_X(name) .name = name,
    HE2B_LIFECYCLE_ACTIONS(HE2B_X)
#undef HE2B_X
};

/* ---- pairs ---- */

/* Steps a new machine to state, by a shortest way of the table. */
static void lead_to(struct he2b_lifecycle_machine *machine, struct record *record,
                    enum he2b_lifecycle_state_id state)
{
    const struct row *came_by[HE2B_LIFECYCLE_STATE_COUNT] = {NULL};
    enum he2b_lifecycle_event way[HE2B_LIFECYCLE_STATE_COUNT];
    bool grown = true;
    int n = 0;

    while (grown) {
        size_t i;

        grown = false;
        for (i = 0; i < ROWS; i++) {
            const struct row *row = &table[i];

            if (row->next != DETACHED && !came_by[row->next] &&
                (row->state == DETACHED || came_by[row->state])) {
                came_by[row->next] = row;
                grown = true;
            }
        }
    }
    he2b_lifecycle_machine_init(machine, &actions, record);
    assert_int_equal(machine->state, DETACHED);
    while (state != DETACHED) {
        assert_non_null(came_by[state]);
        way[n++] = came_by[state]->event;
        state = came_by[state]->state;
    }
    while (n)
        he2b_lifecycle_machine_step(machine, way[--n]);
    record_clear(record);
}

static void test_each_pair_does_what_the_table_says(void **state)
{
    struct he2b_lifecycle_machine machine;
    struct record record;
    int from;
    int event;

    (void)state;
    for (from = 0; from < HE2B_LIFECYCLE_STATE_COUNT; from++) {
        for (event = 1; event <= EVENTS; event++) {
            const struct row *row =
                find((enum he2b_lifecycle_state_id)from, (enum he2b_lifecycle_event)event);

            record_clear(&record);
            lead_to(&machine, &record, (enum he2b_lifecycle_state_id)from);
            assert_int_equal(machine.state, from);
            assert_int_equal(machine.refused, 0);
            he2b_lifecycle_machine_step(&machine, (enum he2b_lifecycle_event)event);
            assert_string_equal(record.text, row ? row->actions : "");
            assert_int_equal(machine.state, row ? (int)row->next : from);
            assert_int_equal(machine.refused, row ? 0 : 1);
        }
    }
}

/* A refused event leaves no trace: what follows goes as if it had not come. */
static void test_refused_event_changes_nothing(void **state)
{
    struct he2b_lifecycle_machine machine;
    struct record record;
    int from;
    int event;
    size_t i;

    (void)state;
    for (from = 0; from < HE2B_LIFECYCLE_STATE_COUNT; from++) {
        for (event = 1; event <= EVENTS; event++) {
            if (find((enum he2b_lifecycle_state_id)from, (enum he2b_lifecycle_event)event))
                continue;
            for (i = 0; i < ROWS; i++) {
                if ((int)table[i].state != from)
                    continue;
                record_clear(&record);
                lead_to(&machine, &record, (enum he2b_lifecycle_state_id)from);
                he2b_lifecycle_machine_step(&machine, (enum he2b_lifecycle_event)event);
                he2b_lifecycle_machine_step(&machine, table[i].event);
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
    struct he2b_lifecycle_machine machine;
    struct record record;
    size_t i;
    int from;

    (void)state;
    for (from = 0; from < HE2B_LIFECYCLE_STATE_COUNT; from++) {
        for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
            record_clear(&record);
            lead_to(&machine, &record, (enum he2b_lifecycle_state_id)from);
            he2b_lifecycle_machine_step(&machine, (enum he2b_lifecycle_event)none[i]);
            assert_int_equal(machine.state, from);
            assert_int_equal(machine.refused, 1);
            assert_string_equal(record.text, "");
        }
    }
}

/* ---- paths ---- */

/* What the session would have on its way, reckoned from actions and events. */
struct walk {
    struct he2b_lifecycle_machine machine;
    struct record record;
    bool on_way; /* a call of the lifecycle has no answer yet */
    bool closing;
    unsigned long paths;
};

static bool is_answer(int event)
{
    switch (event) {
    case LIFE_CREATED:
    case LIFE_ATTACHED:
    case LIFE_CONNECTED:
    case LIFE_GONE:
    case LIFE_PROBED:
    case LIFE_FAILED:
    case LIFE_KILLED:
        return true;
    default:
        return false;
    }
}

static bool is_call(const char *word)
{
    return strcmp(word, "send_create") == 0 || strcmp(word, "send_connect") == 0 ||
           strcmp(word, "send_probe") == 0 || strcmp(word, "send_kill") == 0;
}

/* The actions of one step, from text on. */
static void check_step(struct walk *walk, const char *text)
{
    char words[RECORD_MAX];
    char *save = NULL;
    char *word;

    snprintf(words, sizeof(words), "%s", text);
    for (word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        if (strcmp(word, "cancel_call") == 0)
            walk->on_way = false;
        if (is_call(word)) {
            /* one call at a time: each answer belongs to one question */
            assert_false(walk->on_way);
            walk->on_way = true;
        }
        /* closing makes nothing and admits nobody (B-90) */
        if (walk->closing) {
            assert_string_not_equal(word, "send_create");
            assert_string_not_equal(word, "send_connect");
            assert_string_not_equal(word, "send_probe");
            assert_string_not_equal(word, "send_renew");
            assert_string_not_equal(word, "admit");
        }
    }
}

static void check_invariants(const struct walk *walk)
{
    const struct record *record = &walk->record;
    enum he2b_lifecycle_state_id state = walk->machine.state;
    bool last = state == CLOSING || state == CLOSED;

    /* one kill on each way to the end, and nothing killed on any other (B-91) */
    assert_int_equal(record_count(record, "send_kill"), last ? 1 : 0);
    assert_int_equal(record_count(record, "report_closed"), state == CLOSED ? 1 : 0);
    /* an answer is waited for exactly where one is due */
    assert_true(walk->on_way == (state != DETACHED && state != READY && state != CLOSED));
    /* who waited when it closed has been told */
    assert_true(!walk->closing || record_count(record, "fail_waiters") > 0);
    /* nobody starts a command before the sandbox was looked into (B-28) */
    assert_true(record_before(record, "send_probe", "admit") ||
                record_before(record, "send_connect", "admit"));
    /* a new sandbox replaces one that is known to be gone, and no other (B-97) */
    assert_true(record_count(record, "forget_sandbox") <= record_count(record, "send_create"));
}

static void follow(struct walk *walk, int depth)
{
    int event;

    check_invariants(walk);
    walk->paths++;
    if (depth == 0)
        return;
    for (event = 1; event <= EVENTS; event++) {
        const struct he2b_lifecycle_machine machine = walk->machine;
        const bool on_way = walk->on_way;
        const bool closing = walk->closing;
        size_t len = walk->record.len;

        if (is_answer(event) && walk->on_way)
            walk->on_way = false;
        walk->closing = walk->closing || event == LIFE_CLOSE;
        he2b_lifecycle_machine_step(&walk->machine, (enum he2b_lifecycle_event)event);
        if (walk->machine.refused == 0) {
            check_step(walk, walk->record.text + len);
            follow(walk, depth - 1);
        }
        walk->machine = machine;
        walk->on_way = on_way;
        walk->closing = closing;
        walk->record.len = len;
        walk->record.text[len] = '\0';
    }
}

static void test_each_path_keeps_the_invariants(void **state)
{
    struct walk walk = {.paths = 0};

    (void)state;
    record_clear(&walk.record);
    he2b_lifecycle_machine_init(&walk.machine, &actions, &walk.record);
    follow(&walk, DEPTH);
    assert_true(walk.paths > 10000);
}

/* ---- names ---- */

static void test_names(void **state)
{
    int i;
    int j;

    (void)state;
    for (i = 0; i < HE2B_LIFECYCLE_STATE_COUNT; i++) {
        const char *name = he2b_lifecycle_state_name((enum he2b_lifecycle_state_id)i);

        assert_true(name[0] >= 'a' && name[0] <= 'z');
        for (j = 0; j < i; j++)
            assert_string_not_equal(name,
                                    he2b_lifecycle_state_name((enum he2b_lifecycle_state_id)j));
    }
    assert_string_equal(he2b_lifecycle_state_name(HE2B_LIFECYCLE_STATE_COUNT), "?");
    for (i = 1; i <= EVENTS; i++) {
        const char *name = he2b_lifecycle_event_name((enum he2b_lifecycle_event)i);

        assert_memory_equal(name, "LIFE_", 5);
        for (j = 1; j < i; j++)
            assert_string_not_equal(name, he2b_lifecycle_event_name((enum he2b_lifecycle_event)j));
    }
    assert_string_equal(he2b_lifecycle_event_name((enum he2b_lifecycle_event)(EVENTS + 1)), "?");
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
