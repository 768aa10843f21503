/*
 * Every path of a chart, however long, against what must hold on it. Included once by a test, after
 * its table and its struct story: what has happened so far and what is on its way, as far as the
 * rules ask. Two ways that lead to the same state with the same story have the same future, so each
 * is followed once, nearest first: what fails is told with a shortest way there.
 */
#ifndef HE2B_TESTS_CHART_PATHS_H
#define HE2B_TESTS_CHART_PATHS_H

#include "tests/chart/chart.h"
#include "tests/unit/unit.h"

enum {
    /* More than any chart has; a story that counts without end would find it. */
    PLACES_MAX = 20000,
    ROADS_MAX = 400000,
};

/* ---- what the test says; a story has no holes between its members, it is compared as bytes ----
 */

/* Whether event can come at this point. */
static bool story_allows(const struct story *story, int event);
/* Whether the chart has to take it then: an answer to a question that is on its way, say. */
static bool story_owes(const struct story *story, int event);
/* event was taken; then each action of its arrow, in order; then the state is reached. */
static void story_event(struct story *story, int event);
static void story_action(struct story *story, int event, const char *action);
static void story_check(const struct story *story, int event, int state);

/* ---- the walk ---- */

struct place {
    union chart_machine machine;
    struct story story;
    size_t from;
    int event;
};

static struct {
    struct place places[PLACES_MAX];
    size_t count;
    size_t roads[ROADS_MAX][2];
    size_t road_count;
    size_t at; /* the place that is left, by event */
    int event;
    struct record record;
} walk;

static void print_way(size_t at)
{
    if (at == 0)
        return;
    print_way(walk.places[at].from);
    print_error("    %s -> %s\n", chart.event_name(walk.places[at].event),
                chart.state_name(chart.state(&walk.places[at].machine)));
}

static void require(bool holds, const char *rule)
{
    if (holds)
        return;
    print_error("after\n");
    print_way(walk.at);
    fail_msg("in \"%s\" %s does [%s]: %s",
             chart.state_name(chart.state(&walk.places[walk.at].machine)),
             chart.event_name(walk.event), walk.record.text, rule);
}

/* True if the step that is checked called action. */
static inline bool did(const char *action)
{
    return record_has(&walk.record, action);
}

static size_t find_place(const union chart_machine *machine, const struct story *story)
{
    size_t i;

    for (i = 0; i < walk.count; i++) {
        if (memcmp(&walk.places[i].story, story, sizeof(*story)) == 0 &&
            memcmp(&walk.places[i].machine, machine, sizeof(*machine)) == 0)
            break;
    }
    return i;
}

static void take_step(int event)
{
    union chart_machine machine = walk.places[walk.at].machine;
    struct story story = walk.places[walk.at].story;
    struct record words;
    char *save = NULL;
    char *word;
    size_t to;

    walk.event = event;
    record_clear(&walk.record);
    chart.step(&machine, event);
    if (chart.refused(&machine)) {
        require(!story_owes(&story, event), "it is refused, and must not be");
        return;
    }
    story_event(&story, event);
    words = walk.record;
    for (word = strtok_r(words.text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        story_action(&story, event, word);
    story_check(&story, event, chart.state(&machine));

    to = find_place(&machine, &story);
    if (to == walk.count) {
        struct place *place = &walk.places[walk.count++];

        assert_true(walk.count < PLACES_MAX);
        place->machine = machine;
        place->story = story;
        place->from = walk.at;
        place->event = event;
    }
    assert_true(walk.road_count < ROADS_MAX);
    walk.roads[walk.road_count][0] = walk.at;
    walk.roads[walk.road_count++][1] = to;
}

/* Follows every event that the story allows, from the chart's first state. */
static void walk_every_path(const struct story *story)
{
    int event;

    walk.count = 1;
    walk.road_count = 0;
    memset(&walk.places[0], 0, sizeof(walk.places[0]));
    chart.init(&walk.places[0].machine, &walk.record);
    walk.places[0].story = *story;
    for (walk.at = 0; walk.at < walk.count; walk.at++) {
        for (event = 1; event <= chart.event_count; event++) {
            if (story_allows(&walk.places[walk.at].story, event))
                take_step(event);
        }
    }
    print_message("%zu situations, %zu steps between them\n", walk.count, walk.road_count);
}

/* After the walk: from each place a way leads to state. */
static void check_ways_to(int state)
{
    static bool leads[PLACES_MAX];
    bool grown = true;
    size_t i;

    for (i = 0; i < walk.count; i++)
        leads[i] = chart.state(&walk.places[i].machine) == state;
    while (grown) {
        grown = false;
        for (i = 0; i < walk.road_count; i++) {
            if (leads[walk.roads[i][1]] && !leads[walk.roads[i][0]]) {
                leads[walk.roads[i][0]] = true;
                grown = true;
            }
        }
    }
    for (i = 0; i < walk.count; i++) {
        if (!leads[i]) {
            print_error("after\n");
            print_way(i);
            fail_msg("no way leads to \"%s\"", chart.state_name(state));
        }
    }
}

/* After the walk: it came to each state but those of the list, which ends with -1. */
static void check_seen_all_but(const int *others)
{
    int state;

    for (state = 0; state < chart.state_count; state++) {
        const int *other = others;
        bool seen = false;
        size_t i;

        while (*other != state && *other != -1)
            other++;
        for (i = 0; i < walk.count && !seen; i++)
            seen = chart.state(&walk.places[i].machine) == state;
        if (seen != (*other == -1))
            fail_msg("\"%s\" is %s", chart.state_name(state), seen ? "reached" : "not reached");
    }
}

#endif
