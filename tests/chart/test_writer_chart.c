/*
 * The writer chart against a plain table, and every path of it against what the rules promise
 * (B-23, B-35, B-60 to B-66, B-73).
 */
#include "tests/chart/writer_table.h"

/* A question that has no answer yet. */
enum {
    NONE,
    ELECT,
    TIMER,
    PROMOTE,
    MARK,
    MARK_STALE,
    CLEAR,
    RELEASE,
    UNSTAMP,
    LOOK,
    STAMP,
    RECOVER,
    PUSH,
    SYNC,
};

/* What the lifecycle waits for. */
enum {
    NOTHING,
    ELECTION,
    PREPARATION,
    DROP,
};

/* Each member is a byte. */
struct story {
    bool own; /* the sandbox is for this session alone; else it belongs to a scope */
    unsigned char call;
    unsigned char owed;
    bool locks;     /* one may be held */
    bool writes;    /* holds the writer lease, or nothing can be locked */
    bool attached;  /* a sandbox is in use */
    bool made;      /* by this session, and not booted since */
    bool taking;    /* on the way to the role, from its mark on */
    bool marked;    /* the marker, as far as this session knows */
    bool unstamped; /* the stamp is gone, for sure */
    bool stamped;   /* the stamp that is wanted was seen or written, and not removed since */
    bool recovered; /* since the stamp was removed */
    bool pushed;    /* since then too */
};

#include "tests/chart/pairs.h"
#include "tests/chart/paths.h"

static bool is(const char *word, const char *action)
{
    return strcmp(word, action) == 0;
}

/* ---- what can come ---- */

static bool is_answer(const struct story *story, int event)
{
    switch (event) {
    case WRITER_WON:
    case WRITER_ALONE:
        return story->call == ELECT || story->call == PROMOTE;
    case WRITER_TAKEN:
        /* who holds the lease is not kept away by itself */
        return story->call == ELECT && !story->writes;
    case WRITER_BUSY:
        return story->call == ELECT;
    case WRITER_POLL:
        return story->call == TIMER;
    case WRITER_CLEAN:
    case WRITER_DIRTY:
        return story->call == PROMOTE;
    case WRITER_MARKED:
        return story->call == MARK || story->call == MARK_STALE;
    case WRITER_UNSTAMPED:
        return story->call == UNSTAMP;
    case WRITER_LOOKED:
        return story->call == LOOK;
    case WRITER_STAMPED:
        return story->call == LOOK || story->call == STAMP;
    case WRITER_RECOVERED:
        return story->call == RECOVER;
    case WRITER_PUSHED:
        return story->call == PUSH;
    case WRITER_SYNCED:
        return story->call == SYNC;
    case WRITER_ABANDONED:
        return story->call == RECOVER || story->call == PUSH || story->call == SYNC;
    case WRITER_CLEARED:
        return story->call == CLEAR;
    case WRITER_RELEASED:
        return story->call == RELEASE;
    case WRITER_FAILED:
        return story->call != NONE && story->call != TIMER && story->call != RELEASE;
    default:
        return false;
    }
}

/* The lifecycle asks for one thing at a time, and gives the role up at any time. */
static bool is_request(const struct story *story, int event)
{
    switch (event) {
    case WRITER_SEEK:
        return story->owed == NOTHING && !story->locks && !story->own;
    case WRITER_OWN:
        return story->owed == NOTHING && story->own;
    case WRITER_JOINED:
        return story->owed == NOTHING && story->locks && !story->attached;
    case WRITER_MADE:
        /* only a writer makes a sandbox (B-23) */
        return story->owed == NOTHING && story->locks && !story->attached && story->writes;
    case WRITER_GATE:
        return story->owed == NOTHING && story->attached;
    case WRITER_REBOOTED:
    case WRITER_ASTRAY:
        return story->owed == NOTHING && story->attached && !story->own;
    case WRITER_DROP:
        return story->owed != DROP;
    default:
        return false;
    }
}

static bool story_allows(const struct story *story, int event)
{
    return is_answer(story, event) || is_request(story, event);
}

static bool story_owes(const struct story *story, int event)
{
    return story_allows(story, event);
}

/* ---- what comes of it ---- */

static void lose_sandbox(struct story *story)
{
    story->attached = false;
    story->made = false;
    story->unstamped = false;
    story->stamped = false;
    story->recovered = false;
    story->pushed = false;
}

static void story_event(struct story *story, int event)
{
    if (is_answer(story, event))
        story->call = NONE;
    switch (event) {
    case WRITER_SEEK:
        story->owed = ELECTION;
        break;
    case WRITER_ASTRAY:
        story->owed = ELECTION;
        lose_sandbox(story);
        break;
    case WRITER_JOINED:
    case WRITER_MADE:
        story->owed = PREPARATION;
        story->attached = true;
        story->made = event == WRITER_MADE;
        break;
    case WRITER_REBOOTED:
        /* its disk may be an older one (B-35) */
        story->owed = PREPARATION;
        lose_sandbox(story);
        story->attached = true;
        break;
    case WRITER_OWN:
        story->owed = PREPARATION;
        lose_sandbox(story);
        story->attached = true;
        story->made = true;
        break;
    case WRITER_GATE:
        story->owed = PREPARATION;
        break;
    case WRITER_DROP:
        story->owed = DROP;
        break;
    case WRITER_WON:
    case WRITER_ALONE:
        story->writes = true;
        break;
    case WRITER_MARKED:
        story->marked = true;
        break;
    case WRITER_CLEAN:
    case WRITER_CLEARED:
        story->marked = false;
        story->taking = false;
        break;
    case WRITER_UNSTAMPED:
        story->unstamped = true;
        break;
    case WRITER_STAMPED:
        story->stamped = true;
        break;
    case WRITER_RECOVERED:
        story->recovered = true;
        break;
    case WRITER_PUSHED:
        story->pushed = true;
        break;
    case WRITER_RELEASED:
        story->locks = false;
        story->writes = false;
        story->taking = false;
        lose_sandbox(story);
        break;
    default:
        break;
    }
}

static int question(const char *action)
{
    static const struct {
        const char *action;
        int call;
    } questions[] = {
        {"step_elect", ELECT},     {"wait_for_lock", TIMER},        {"step_promote", PROMOTE},
        {"step_mark", MARK},       {"step_mark_stale", MARK_STALE}, {"step_clear", CLEAR},
        {"step_release", RELEASE}, {"send_unstamp", UNSTAMP},       {"send_look", LOOK},
        {"send_stamp", STAMP},     {"want_recover", RECOVER},       {"want_push", PUSH},
        {"want_sync", SYNC},
    };
    size_t i;

    for (i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        if (is(action, questions[i].action))
            return questions[i].call;
    }
    return NONE;
}

static void ask(struct story *story, int call)
{
    /* a host's step may still be out: the release comes after it (session/step.c) */
    require(story->call == NONE ||
                (call == RELEASE && story->call != UNSTAMP && story->call != LOOK &&
                 story->call != STAMP && story->call != RELEASE),
            "one question at a time, so that each answer belongs to one");
    require(!story->own || call == PUSH || call == SYNC,
            "one's own sandbox has no locks, no marker, no stamp and nothing to recover");
    switch (call) {
    case ELECT:
    case PROMOTE:
        require(call == ELECT || story->attached, "a reader is promoted where there is a sandbox");
        story->locks = true;
        break;
    case MARK:
        require(story->writes, "only the writer marks (B-60)");
        story->taking = true;
        break;
    case UNSTAMP:
        require(story->writes && story->marked, "marked before the stamp is removed (B-62)");
        story->stamped = false;
        story->recovered = false;
        story->pushed = false;
        break;
    case RECOVER:
        require(story->writes && story->marked && story->unstamped,
                "marked and unstamped before recovery (B-62)");
        break;
    case PUSH:
        require(story->own || (story->writes && story->marked),
                "the writer pushes, into a marked scope (B-62)");
        require(story->made || (story->unstamped && story->recovered),
                "nothing is pushed before recovery, but into a sandbox of one's own making (B-63)");
        break;
    case STAMP:
        require(story->writes && story->marked && story->pushed, "pushed before stamped (B-62)");
        break;
    case CLEAR:
        require(story->writes && story->stamped, "the marker goes when the stamp is there (B-62)");
        break;
    case SYNC:
        require(story->own ? story->pushed : story->writes && story->stamped && !story->taking,
                "only a settled writer syncs, and nobody before a push (B-73)");
        break;
    case MARK_STALE:
        require(story->writes && !story->taking, "a writer's failed sync (B-66)");
        break;
    case RELEASE:
        require(story->locks, "there may be something to release");
        break;
    default:
        break;
    }
    story->call = (unsigned char)call;
}

static void answer(struct story *story, int owed)
{
    require(story->owed == owed, "the lifecycle hears what it asked about");
    story->owed = NOTHING;
}

static void story_action(struct story *story, int event, const char *action)
{
    int call = question(action);

    if (call != NONE) {
        ask(story, call);
    } else if (is(action, "cancel_look")) {
        require(story->call == LOOK || story->call == STAMP || story->call == UNSTAMP,
                "what is cancelled is on its way");
        story->call = NONE;
    } else if (is(action, "forget_step")) {
        require(story->own && (story->call == PUSH || story->call == SYNC),
                "only the caller's step on one's own sandbox is nobody's: no lock outlives it");
        story->call = NONE;
    } else if (is(action, "report_elected")) {
        answer(story, ELECTION);
        require(event == WRITER_WON || event == WRITER_ALONE || event == WRITER_TAKEN,
                "the locks are tried before each search (B-24)");
    } else if (is(action, "report_prepared")) {
        answer(story, PREPARATION);
        require(!story->marked && !story->taking, "no command in a dirty scope (B-62, B-65)");
        if (story->own) {
            require(story->pushed && (event == WRITER_PUSHED || event == WRITER_SYNCED),
                    "no command before its push or sync (B-73)");
            return;
        }
        require(story->stamped, "no command without the stamp (B-65)");
        require(event == (story->writes ? WRITER_CLEARED : WRITER_CLEAN),
                "the marker is the last thing looked at (B-65)");
    } else if (is(action, "report_refused")) {
        answer(story, PREPARATION);
        require(story->attached && !story->taking, "what is half done is no place to stay (B-62)");
    } else if (is(action, "report_failed")) {
        require(!story->locks, "the lease is free before anybody is told (B-64)");
        require(story->owed == ELECTION || story->owed == PREPARATION, "something was asked");
        story->owed = NOTHING;
        if (story->own)
            lose_sandbox(story);
    } else if (is(action, "report_dropped")) {
        require(!story->locks, "the lease is free before anybody is told (B-64)");
        answer(story, DROP);
        if (story->own)
            lose_sandbox(story);
    } else if (is(action, "warn_degraded")) {
        require(event == WRITER_ALONE, "a warning where nothing can be locked (B-61)");
    } else if (is(action, "doubt_sandbox")) {
        require(event == WRITER_FAILED, "a sandbox is doubted where something went wrong in it");
    } else {
        require(is(action, "note_not_ready"), "this test knows each action");
        require(!story->writes, "readers are told to wait");
    }
}

/* What the step before the answer was, which story_check() does not see any more. */
static int asked_before(void)
{
    return walk.places[walk.at].story.call;
}

static void story_check(const struct story *story, int event, int state)
{
    const bool failed = event == WRITER_FAILED || event == WRITER_ABANDONED;
    const bool was_taking = walk.places[walk.at].story.taking;

    require((story->call == NONE) == (story->owed == NOTHING),
            "something is on its way exactly while the lifecycle waits");
    require((state == HE2B_WRITER_IDLE) == !(story->locks || (story->own && story->attached)),
            "idle is without a lock, and without a sandbox that was pushed to");
    require(event != WRITER_ALONE || did("warn_degraded"), "that is said (B-61)");
    require((event != WRITER_DIRTY && (event != WRITER_LOOKED || story->writes)) ||
                did("note_not_ready"),
            "a reader is told why (B-65)");
    /* B-62: a failure on the way gives the lease up and leaves the marker */
    require(!failed || !was_taking || did("step_release"), "a failure releases the lease (B-62)");
    require(story->marked || !walk.places[walk.at].story.marked || event == WRITER_CLEARED ||
                event == WRITER_CLEAN,
            "and leaves the marker (B-62)");
    /* B-66: a failed sync keeps the role */
    if (event == WRITER_FAILED && asked_before() == SYNC && story->own)
        require(did("report_refused") && did("doubt_sandbox") && story->pushed,
                "the command refused (B-73), and the sandbox asked for next time (B-97)");
    else if (event == WRITER_FAILED && asked_before() == SYNC)
        require(did("step_mark_stale") && did("doubt_sandbox") && story->writes,
                "marked, the role kept (B-66), and the sandbox asked for next time (B-97)");
    if (asked_before() == SYNC || asked_before() == MARK_STALE)
        require(event == WRITER_DROP || !did("step_release"), "a sync costs no role (B-66)");
}

static void test_each_path_of_a_scope(void **state)
{
    static const int others[] = {HE2B_WRITER_OWN_PUSHING, HE2B_WRITER_OWN_HOLDING,
                                 HE2B_WRITER_OWN_SYNCING, -1};
    const struct story story = {.call = NONE};

    (void)state;
    walk_every_path(&story);
    check_ways_to(HE2B_WRITER_IDLE);
    check_seen_all_but(others);
}

/* From an own sandbox no way leads to a lock, the marker or the stamp. */
static void test_each_path_of_an_own_sandbox(void **state)
{
    const struct story story = {.own = true, .call = NONE};
    int others[HE2B_WRITER_STATE_COUNT + 1];
    int n = 0;
    int i;

    (void)state;
    for (i = 0; i < HE2B_WRITER_STATE_COUNT; i++) {
        if (i != HE2B_WRITER_IDLE && i != HE2B_WRITER_OWN_PUSHING && i != HE2B_WRITER_OWN_HOLDING &&
            i != HE2B_WRITER_OWN_SYNCING)
            others[n++] = i;
    }
    others[n] = -1;
    walk_every_path(&story);
    check_ways_to(HE2B_WRITER_IDLE);
    check_seen_all_but(others);
}

/* ---- some ways in full, as a reader of the rules would tell them ---- */

static void check_way(const int *events, const char *const *does)
{
    union chart_machine machine;
    struct record record;

    record_clear(&record);
    chart.init(&machine, &record);
    for (; *events; events++, does++) {
        record_clear(&record);
        chart.step(&machine, *events);
        assert_string_equal(record.text, *does);
    }
}

/* B-62: mark, unstamp, recover, push, stamp, clear; and only then may a command start. */
static void test_a_writer_joins_a_sandbox(void **state)
{
    static const int events[] = {
        WRITER_SEEK,      WRITER_WON,    WRITER_JOINED,  WRITER_MARKED,  WRITER_UNSTAMPED,
        WRITER_RECOVERED, WRITER_PUSHED, WRITER_STAMPED, WRITER_CLEARED, 0};
    static const char *const does[] = {"step_elect",   "report_elected", "step_mark",
                                       "send_unstamp", "want_recover",   "want_push",
                                       "send_stamp",   "step_clear",     "report_prepared"};

    (void)state;
    check_way(events, does);
}

/* Demotion: who gave the role up and finds it taken is a reader, and neither syncs nor pushes. */
static void test_a_writer_becomes_a_reader(void **state)
{
    static const int events[] = {WRITER_SEEK,
                                 WRITER_WON,
                                 WRITER_MADE,
                                 WRITER_MARKED,
                                 WRITER_STAMPED,
                                 WRITER_CLEARED,
                                 WRITER_DROP,
                                 WRITER_RELEASED,
                                 WRITER_SEEK,
                                 WRITER_TAKEN,
                                 WRITER_JOINED,
                                 WRITER_CLEAN,
                                 WRITER_STAMPED,
                                 WRITER_CLEAN,
                                 WRITER_GATE,
                                 WRITER_CLEAN,
                                 WRITER_GATE,
                                 WRITER_DIRTY,
                                 0};
    static const char *const does[] = {
        "step_elect",      "report_elected",  "step_mark",
        "send_look",       "step_clear",      "report_prepared",
        "step_release",    "report_dropped",  "step_elect",
        "report_elected",  "step_promote",    "send_look",
        "step_promote",    "report_prepared", "step_promote",
        "report_prepared", "step_promote",    "note_not_ready report_refused"};

    (void)state;
    check_way(events, does);
}

/* B-73: pushed to, synchronised for each command; a failed sync refuses one, a new sandbox gets it
 * all, and what failed to get it is begun anew. */
static void test_an_own_sandbox(void **state)
{
    static const int events[] = {WRITER_OWN,  WRITER_PUSHED,
                                 WRITER_GATE, WRITER_SYNCED,
                                 WRITER_GATE, WRITER_FAILED,
                                 WRITER_OWN,  WRITER_FAILED,
                                 WRITER_OWN,  WRITER_PUSHED,
                                 WRITER_GATE, WRITER_ABANDONED,
                                 WRITER_DROP, 0};
    static const char *const does[] = {
        "want_push",       "report_prepared", "want_sync",
        "report_prepared", "want_sync",       "doubt_sandbox report_refused",
        "want_push",       "report_failed",   "want_push",
        "report_prepared", "want_sync",       "report_refused",
        "report_dropped"};

    (void)state;
    check_way(events, does);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHART_PAIR_TESTS,
        cmocka_unit_test(test_each_path_of_a_scope),
        cmocka_unit_test(test_each_path_of_an_own_sandbox),
        cmocka_unit_test(test_a_writer_joins_a_sandbox),
        cmocka_unit_test(test_a_writer_becomes_a_reader),
        cmocka_unit_test(test_an_own_sandbox),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
