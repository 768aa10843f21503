/*
 * The teardown chart against a plain table, and every path of it against what the rules promise:
 * pull, clean, kill, release, whatever fails (B-68, B-90 to B-96).
 */
#include "tests/chart/teardown_table.h"

/* A question that has no answer yet. */
enum {
    NONE,
    REST,
    CONNECT,
    PULL,
    CLEAN,
    KILL,
    RELEASE,
};

/* Each member is a byte. */
struct story {
    bool
        own; /* the sandbox is for this session alone; else it belongs to a scope, or to a person */
    unsigned char call;
    bool closed;
    bool sandbox;   /* there is one */
    bool due;       /* state is to be brought home */
    bool connected; /* since the last attempt to pull */
    bool pulled;
    bool abandoned; /* the pull */
    bool unpulled;  /* was reported */
    bool cleaned;
    bool killed;
    bool released;
    bool reported;
};

#include "tests/chart/pairs.h"
#include "tests/chart/paths.h"

static bool is(const char *word, const char *action)
{
    return strcmp(word, action) == 0;
}

static bool is_answer(const struct story *story, int event)
{
    switch (event) {
    case END_PULL:
    case END_NO_PULL:
    case END_NOTHING:
        return story->call == REST;
    case END_CONNECTED:
        return story->call == CONNECT;
    case END_PULLED:
    case END_AGAIN:
        return story->call == PULL;
    case END_FAILED:
        return story->call == CONNECT || story->call == PULL;
    case END_KEEP:
        return story->call == CLEAN && !story->own;
    case END_KILL:
        return story->call == CLEAN && story->own;
    case END_KILLED:
        return story->call == KILL;
    case END_RELEASED:
        return story->call == RELEASE;
    default:
        return false;
    }
}

static bool story_allows(const struct story *story, int event)
{
    return event == END_CLOSE || event == END_ABANDONED || is_answer(story, event);
}

/* Whatever the answer, the end goes on; and who gives the pull up is heard while there may be one.
 */
static bool story_owes(const struct story *story, int event)
{
    if (event == END_CLOSE)
        return !story->closed;
    if (event == END_ABANDONED)
        return !story->abandoned &&
               (story->call == REST || story->call == CONNECT || story->call == PULL);
    return is_answer(story, event);
}

static void story_event(struct story *story, int event)
{
    if (is_answer(story, event))
        story->call = NONE;
    switch (event) {
    case END_CLOSE:
        require(!story->closed, "a second close begins nothing (B-90)");
        story->closed = true;
        break;
    case END_PULL:
        story->due = true;
        story->sandbox = true;
        break;
    case END_NO_PULL:
        story->sandbox = true;
        break;
    case END_CONNECTED:
        story->connected = true;
        break;
    case END_PULLED:
        story->pulled = true;
        break;
    case END_ABANDONED:
        story->abandoned = true;
        /* the caller's answer, if it ever comes, is nobody's any more */
        if (story->call == PULL)
            story->call = NONE;
        break;
    default:
        break;
    }
}

static void ask(struct story *story, int call)
{
    require(story->call == NONE, "one thing after the other");
    require(!story->released, "nothing comes after the release (B-68)");
    story->call = (unsigned char)call;
}

static void story_action(struct story *story, int event, const char *action)
{
    if (is(action, "rest")) {
        ask(story, REST);
    } else if (is(action, "reconnect")) {
        require(story->due && !story->abandoned, "for a pull that is wanted (B-92, B-94)");
        require(!story->cleaned, "a pull comes before what follows it");
        ask(story, CONNECT);
    } else if (is(action, "want_pull")) {
        require(story->connected, "reconnected before each attempt (B-91)");
        require(story->due && !story->abandoned, "a pull that is given up is not begun (B-94)");
        story->connected = false;
        ask(story, PULL);
    } else if (is(action, "cancel_call")) {
        require(story->call == CONNECT, "what is cancelled is on its way");
        story->call = NONE;
    } else if (is(action, "report_unpulled")) {
        require(story->due && !story->pulled, "what failed or was given up is a pull (B-93)");
        require(!story->unpulled, "one loss is told once");
        story->unpulled = true;
    } else if (is(action, "clean")) {
        require(story->sandbox && !story->cleaned, "cleaned once, where there is something");
        require(!story->due || story->pulled || story->unpulled,
                "first the pull, or the word that there was none (B-93)");
        story->cleaned = true;
        ask(story, CLEAN);
    } else if (is(action, "send_kill")) {
        require(event == END_KILL && story->own, "a sandbox that is to last is not killed (B-91)");
        require(story->cleaned && !story->killed, "one kill, after all else (B-91)");
        story->killed = true;
        ask(story, KILL);
    } else if (is(action, "release")) {
        require(!story->sandbox || story->cleaned, "released after the pull (B-68)");
        require(!story->sandbox || story->killed == story->own,
                "an own sandbox does not outlive its session (B-91)");
        ask(story, RELEASE);
        story->released = true;
    } else {
        require(is(action, "report_closed"), "this test knows each action");
        require(story->released && story->call == NONE, "told once the locks are free");
        require(!story->reported, "told once");
        story->reported = true;
    }
}

static void story_check(const struct story *story, int event, int state)
{
    (void)event;
    require((state == HE2B_TEARDOWN_CLOSED) == story->reported, "its end is reported");
    require(story->call != NONE || story->reported, "something is on its way until the end");
    require(!story->reported || story->released, "the role is free at each end (B-93)");
    require(!story->reported || !story->due || story->pulled != story->unpulled,
            "the state came home, or the loss was told (B-93)");
}

/* From each place a way leads to the end, and nothing but END_AGAIN can be repeated. */
static void walk_teardown(bool own)
{
    const struct story story = {.own = own};
    size_t i;

    walk_every_path(&story);
    check_ways_to(HE2B_TEARDOWN_CLOSED);
    for (i = 0; i < walk.road_count; i++) {
        int from = chart.state(&walk.places[walk.roads[i][0]].machine);
        int to = chart.state(&walk.places[walk.roads[i][1]].machine);

        assert_true(to > from ||
                    (from == HE2B_TEARDOWN_PULLING && to == HE2B_TEARDOWN_RECONNECTING));
    }
}

static void test_each_path_of_a_sandbox_that_lasts(void **state)
{
    static const int others[] = {HE2B_TEARDOWN_KILLING, -1};

    (void)state;
    walk_teardown(false);
    check_seen_all_but(others);
}

static void test_each_path_of_an_own_sandbox(void **state)
{
    static const int others[] = {-1};

    (void)state;
    walk_teardown(true);
    check_seen_all_but(others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHART_PAIR_TESTS,
        cmocka_unit_test(test_each_path_of_a_sandbox_that_lasts),
        cmocka_unit_test(test_each_path_of_an_own_sandbox),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
