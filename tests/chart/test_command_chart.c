/*
 * The command chart against a plain table, and every path of it against what the rules promise
 * (B-41, B-42, B-43, B-47, B-48).
 */
#include "tests/chart/command_table.h"

/* Each member is a byte. */
struct story {
    bool sent;    /* a start whose fate is not known to be "nothing" */
    bool open;    /* its stream is, and may tell the pid */
    bool started; /* its pid is known */
    bool unbegun; /* its record has just said so */
    bool asking;  /* the record */
    bool forbid;  /* ... so that it never begins */
    bool broken;  /* a stream was lost: output may be missing */
    bool looked;  /* after what became of the sandbox */
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

static bool answers(int event)
{
    return event == CMD_RUNS || event == CMD_RECORDED || event == CMD_UNBEGUN ||
           event == CMD_UNCLEAR;
}

/*
 * A stream tells one pid, and what needs a process comes from one that has told it. The record
 * answers when it was asked; that a command has not begun it never says of one whose pid is known.
 * A kill may have overtaken an answer. All else may come at any time.
 */
static bool story_allows(const struct story *story, int event)
{
    if (event == CMD_STARTED)
        return story->open && !story->started;
    if (event == CMD_DENIED)
        return story->open && story->started;
    if (event == CMD_UNBEGUN)
        return story->asking && !story->started;
    if (answers(event))
        return story->asking || story->killed;
    return true;
}

/* A kill and a time limit are heard until the result is told, and so is what was asked for. */
static bool story_owes(const struct story *story, int event)
{
    return !story->told &&
           (event == CMD_KILL || event == CMD_TIMEOUT || (story->asking && answers(event)));
}

static void story_event(struct story *story, int event)
{
    story->unbegun = event == CMD_UNBEGUN;
    if (answers(event))
        story->asking = false;
    if (event == CMD_STARTED || event == CMD_RUNS)
        story->started = true;
    if (event == CMD_LOST && story->started && !story->told)
        story->broken = true;
}

static void story_note(struct story *story, int event, const char *action)
{
    require(!is(action, "note_exit") || (story->started && !story->broken),
            "an exit code only from a command whose output is all there (B-41)");
    require(!is(action, "note_incomplete") || (story->started && story->broken),
            "a stream that was found again was lost before (B-48)");
    require(!is(action, "note_recorded") || event == CMD_RECORDED, "the record says it");
    require(!is(action, "note_not_started") || !story->started, "what ran has started");
    story->cut_short = is(action, "note_killed") || is(action, "note_timed_out");
    story->notes++;
    require(story->notes == 1, "one note of how it ended");
}

static void story_action(struct story *story, int event, const char *action)
{
    if (is(action, "send_start")) {
        require(!story->sent, "never sent twice unless the first certainly did nothing (B-47)");
        story->sent = true;
        story->open = true;
    } else if (is(action, "send_repeat")) {
        require(story->unbegun && !story->started && !story->cut_short,
                "repeated only when the record says that it did not begin (B-47)");
        story->open = true;
    } else if (is(action, "ask_session")) {
        require(!story->started && !story->broken, "what ran is not begun again (B-47)");
        story->sent = false;
        story->open = false;
    } else if (is(action, "ask_record") || is(action, "ask_forbid")) {
        require(!story->asking || is(action, "ask_forbid"), "one question at a time");
        story->asking = true;
        story->open = false;
        story->forbid = is(action, "ask_forbid");
        require(story->forbid == story->cut_short,
                "who wants it dead, and no other, sees to it that it never begins");
    } else if (is(action, "attach")) {
        require(event == CMD_RUNS, "attached to what its record says that it runs (B-48)");
        story->broken = true;
    } else if (is(action, "forget_start")) {
        story->started = false;
        story->killed = false; /* whatever that kill was for */
    } else if (is(action, "ask_whereabouts")) {
        require(!story->looked, "one look");
        story->looked = true;
        story->open = false;
    } else if (is(action, "note_unkilled")) {
        require(story->cut_short, "a kill that nobody confirmed was one (B-43)");
    } else if (is(action, "send_kill")) {
        require(story->started && !story->killed, "a kill needs a pid, and is one (B-43)");
        story->killed = true;
        story->asking = false;
    } else if (is(action, "bound_kill")) {
        story->bounded = true;
    } else if (is(action, "close_output")) {
        story->closed = true;
    } else if (is(action, "report")) {
        require(!story->told, "told once");
        require(event != CMD_UNBEGUN || story->forbid, "it may still begin (B-47)");
        story->told = true;
    } else if (strncmp(action, "note_", 5) == 0) {
        story_note(story, event, action);
    } else {
        require(is(action, "send_stdin") || is(action, "allow_grace") || is(action, "drop_stream"),
                "this test knows each action");
    }
}

static void story_check(const struct story *story, int event, int state)
{
    bool dying = state == HE2B_COMMAND_KILLING || state == HE2B_COMMAND_CATCHING;

    (void)event;
    require(story->told == (state == HE2B_COMMAND_ENDING || state == HE2B_COMMAND_DONE),
            "told when it ends");
    require(!story->told || story->notes == 1, "what is told is how it ended");
    require(!dying || (story->bounded && story->closed),
            "a kill is bounded (B-43), and its reader has its end at once (B-117)");
    require(!dying || story->killed == (state == HE2B_COMMAND_KILLING),
            "whose pid is known is being killed (B-43)");
    require(story->asking == (state == HE2B_COMMAND_DOUBTFUL || state == HE2B_COMMAND_LOST) ||
                state == HE2B_COMMAND_CATCHING || story->told,
            "the record is asked where its answer is waited for");
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
