/*
 * The command chart against a plain table, and every path of it against what the rules promise
 * (B-41, B-42, B-43, B-47).
 */
#include "tests/chart/command_table.h"

/* Each member is a byte. */
struct story {
    bool sent;    /* a start whose fate is not known to be "nothing" */
    bool started; /* its pid came */
    bool looked;  /* after what became of it */
    bool bounded; /* the kill */
    bool closed;  /* the output */
    bool killed;
    bool cut_short; /* by a kill or a time limit */
    unsigned char notes;
    bool told;
};

#include "tests/chart/pairs.h"
#include "tests/chart/paths.h"

static bool is(const char *word, const char *action)
{
    return strcmp(word, action) == 0;
}

/* A second CMD_STARTED of one stream cannot happen; all else may come at any time. */
static bool story_allows(const struct story *story, int event)
{
    return event != CMD_STARTED || !story->started;
}

/* A kill and a time limit are heard until the result is told. */
static bool story_owes(const struct story *story, int event)
{
    return !story->told && (event == CMD_KILL || event == CMD_TIMEOUT);
}

static void story_event(struct story *story, int event)
{
    if (event == CMD_STARTED)
        story->started = true;
}

static void story_action(struct story *story, int event, const char *action)
{
    (void)event;
    if (is(action, "send_start")) {
        require(!story->sent, "never sent twice unless the first certainly did nothing (B-47)");
        story->sent = true;
    } else if (is(action, "ask_session")) {
        require(!story->started, "what ran is not begun again (B-47)");
        story->sent = false;
    } else if (is(action, "ask_whereabouts")) {
        require(!story->looked, "one look");
        story->looked = true;
    } else if (is(action, "note_unkilled")) {
        require(story->cut_short, "a kill that nobody confirmed was one (B-43)");
    } else if (is(action, "send_kill")) {
        require(story->started && !story->killed, "a kill needs a pid, and is one (B-43)");
        story->killed = true;
    } else if (is(action, "bound_kill")) {
        story->bounded = true;
    } else if (is(action, "close_output")) {
        story->closed = true;
    } else if (is(action, "report")) {
        require(!story->told, "told once");
        story->told = true;
    } else if (strncmp(action, "note_", 5) == 0) {
        require(!is(action, "note_exit") || story->started,
                "an exit code only from a command that ran to its end (B-41)");
        require(!is(action, "note_not_started") || !story->started, "what ran has started");
        story->cut_short = is(action, "note_killed") || is(action, "note_timed_out");
        story->notes++;
        require(story->notes == 1, "one note of how it ended");
    } else {
        require(is(action, "send_stdin") || is(action, "allow_grace") || is(action, "drop_stream"),
                "this test knows each action");
    }
}

static void story_check(const struct story *story, int event, int state)
{
    (void)event;
    require(story->told == (state == HE2B_COMMAND_ENDING || state == HE2B_COMMAND_DONE),
            "told when it ends");
    require(!story->told || story->notes == 1, "what is told is how it ended");
    require(state != HE2B_COMMAND_KILLING ||
                (story->bounded && story->closed && story->killed == story->started),
            "a kill is bounded (B-43), and its reader has its end at once (B-117)");
}

static void test_each_path(void **state)
{
    static const int others[] = {-1};
    const struct story story = {.sent = false};

    (void)state;
    walk_every_path(&story);
    check_ways_to(HE2B_COMMAND_DONE);
    check_seen_all_but(others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHART_PAIR_TESTS,
        cmocka_unit_test(test_each_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
