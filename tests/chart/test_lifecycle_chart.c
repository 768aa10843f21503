/*
 * The lifecycle chart against a plain table, and every path of it against what the rules promise
 * (B-20 to B-24, B-28, B-31, B-35, B-64, B-73, B-90, B-97).
 */
#include "tests/chart/lifecycle_table.h"

/* The ways to come by a sandbox. */
enum {
    OWN,   /* made by this session, for itself */
    FED,   /* the same, and Hermes' state goes there */
    GIVEN, /* named by a person */
    SCOPE, /* of a persistent scope: found or made, once the role allows it */
};

/* A question that has no answer yet. */
enum {
    NONE,
    CREATE,
    CONNECT,
    PROBE,
    LIST,
    ELECTION,
    PREPARATION,
    DROP,
};

/* Each member is a byte. */
struct story {
    unsigned char kind;
    unsigned char call;
    bool renewing;
    bool known;   /* a sandbox's id, which is to be used again */
    bool joined;  /* a scope's sandbox was reached or made, and not lost since */
    bool running; /* as far as the control plane said */
    bool used;    /* a command may run in it */
    bool fit;     /* looked into since it was made, joined or booted */
    bool role;    /* it, or a lock of it, may be held */
    bool elected; /* since it was last looked for */
    bool waited;  /* somebody waits to be admitted */
    bool closed;
    bool told; /* everybody who waited when it closed */
    bool rested;
};

#include "tests/chart/pairs.h"
#include "tests/chart/paths.h"

static bool is(const char *word, const char *action)
{
    return strcmp(word, action) == 0;
}

static bool is_own(const struct story *story)
{
    return story->kind == OWN || story->kind == FED;
}

/* Each command waits for the role's word. */
static bool gates(const struct story *story)
{
    return story->kind == SCOPE || story->kind == FED;
}

/* ---- what can come ---- */

static bool is_answer(const struct story *story, int event)
{
    const bool scope = story->kind == SCOPE;
    const bool connect = story->call == CONNECT;

    switch (event) {
    case LIFE_ELECTED:
        return story->call == ELECTION;
    case LIFE_FOUND:
        return story->call == LIST;
    case LIFE_ABSENT:
        return story->call == LIST || (connect && scope && !story->joined);
    case LIFE_CREATED:
        return story->call == CREATE && !scope;
    case LIFE_MADE:
        return story->call == CREATE && scope;
    case LIFE_ATTACHED:
        return connect && !gates(story) && story->fit;
    case LIFE_CONNECTED:
        return connect && !scope;
    case LIFE_GONE:
        return connect && is_own(story);
    case LIFE_SAME:
        return connect && gates(story) && (!scope || story->joined) && story->fit;
    case LIFE_REBOOTED:
    case LIFE_ASTRAY:
        return connect && scope && story->joined;
    case LIFE_JOINED:
    case LIFE_NEXT:
        return connect && scope && !story->joined;
    case LIFE_PROBED:
        return story->call == PROBE && story->kind != FED;
    case LIFE_OWNED:
        return story->call == PROBE && story->kind == FED;
    case LIFE_PREPARED:
    case LIFE_LAPSED:
        return story->call == PREPARATION;
    case LIFE_REFUSED:
        /* a sync; a push that fails is LIFE_FAILED */
        return story->call == PREPARATION && (story->kind != FED || story->fit);
    case LIFE_FAILED:
        return story->call != NONE && story->call != DROP;
    case LIFE_DROPPED:
        return story->call == DROP;
    case LIFE_RENEWED:
        return story->renewing;
    default:
        return false;
    }
}

static int at_state(void)
{
    return chart.state(&walk.places[walk.at].machine);
}

static bool story_allows(const struct story *story, int event)
{
    switch (event) {
    case LIFE_WANT_NEW:
        return is_own(story) && !story->known;
    case LIFE_WANT_OLD:
        return story->kind != SCOPE && story->known;
    case LIFE_WANT_SCOPE:
        return story->kind == SCOPE;
    case LIFE_WANT_GATE:
        return gates(story);
    case LIFE_WANT:
        return !gates(story);
    case LIFE_STALE:
    case LIFE_VANISHED:
    case LIFE_ABANDONED:
        return true;
    case LIFE_RENEW:
        return !story->renewing && (at_state() != HE2B_LIFECYCLE_DETACHED || story->used);
    case LIFE_CLOSE:
        return !story->closed;
    default:
        return is_answer(story, event);
    }
}

/* What runs is not disturbed by what becomes of the next command, nor does it lose its lease. */
static bool may_renew(int state)
{
    return state == HE2B_LIFECYCLE_READY || state == HE2B_LIFECYCLE_PREPARING ||
           state == HE2B_LIFECYCLE_DETACHED;
}

/* An answer that nobody takes would leave everybody waiting; after the end nobody waits. */
static bool story_owes(const struct story *story, int event)
{
    const int state = at_state();

    switch (event) {
    case LIFE_WANT_NEW:
    case LIFE_WANT_OLD:
    case LIFE_WANT_SCOPE:
        return state == HE2B_LIFECYCLE_DETACHED;
    case LIFE_WANT:
    case LIFE_WANT_GATE:
    case LIFE_STALE:
        return state == HE2B_LIFECYCLE_READY;
    case LIFE_VANISHED:
        return !story->closed;
    case LIFE_RENEW:
        /* commands that run want their lease while a host's step takes its time (B-31) */
        return may_renew(state);
    case LIFE_ABANDONED:
        /* a search of which nobody hears keeps no other session from the role (B-64) */
        return !story->closed && story->kind == SCOPE && !story->joined &&
               (story->call == ELECTION || story->call == LIST || story->call == CONNECT);
    default:
        return !story->rested && (event == LIFE_CLOSE || is_answer(story, event));
    }
}

/* ---- what comes of it ---- */

static void lose_sandbox(struct story *story)
{
    story->joined = false;
    story->running = false;
    story->fit = false;
}

static void story_event(struct story *story, int event)
{
    /* nothing is synchronised where a push failed (B-73) */
    if (event == LIFE_FAILED && story->kind == FED && story->call == PREPARATION)
        story->fit = false;
    if (event == LIFE_RENEWED)
        story->renewing = false;
    else if (is_answer(story, event))
        story->call = NONE;
    switch (event) {
    case LIFE_WANT_NEW:
    case LIFE_WANT_OLD:
    case LIFE_WANT_SCOPE:
    case LIFE_WANT:
    case LIFE_WANT_GATE:
    case LIFE_STALE:
        story->waited = true;
        break;
    case LIFE_CREATED:
    case LIFE_MADE:
    case LIFE_CONNECTED:
    case LIFE_JOINED:
        story->known = true;
        story->joined = story->kind == SCOPE;
        story->running = true;
        story->fit = false;
        break;
    case LIFE_REBOOTED:
        story->running = true;
        story->fit = false;
        break;
    case LIFE_ATTACHED:
    case LIFE_SAME:
        story->running = true;
        break;
    case LIFE_PROBED:
    case LIFE_PREPARED:
    case LIFE_LAPSED:
        story->fit = true;
        break;
    case LIFE_VANISHED:
        /* elsewhere it waits with those for whom something is on its way, or comes as a new wish */
        if (at_state() == HE2B_LIFECYCLE_READY) {
            story->waited = true;
            story->running = false;
        }
        break;
    case LIFE_ELECTED:
        story->elected = true;
        break;
    case LIFE_DROPPED:
        story->role = false;
        story->elected = false;
        if (story->kind == SCOPE) {
            /* what was found is looked for again */
            story->known = false;
            lose_sandbox(story);
        }
        break;
    case LIFE_CLOSE:
        story->closed = true;
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
        {"send_create", CREATE},         {"send_connect", CONNECT},
        {"send_probe", PROBE},           {"send_list", LIST},
        {"seek_role", ELECTION},         {"seek_again", ELECTION},
        {"prepare_own", PREPARATION},    {"prepare_made", PREPARATION},
        {"prepare_joined", PREPARATION}, {"prepare_rebooted", PREPARATION},
        {"gate_role", PREPARATION},
    };
    size_t i;

    for (i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        if (is(action, questions[i].action))
            return questions[i].call;
    }
    return NONE;
}

static void ask(struct story *story, int event, int call)
{
    require(story->call == NONE, "one question at a time, so that each answer belongs to one");
    require(!story->closed, "closing begins nothing (B-90)");
    if (call == CREATE) {
        require(event == LIFE_WANT_NEW || event == LIFE_ABSENT || event == LIFE_GONE,
                "a sandbox is made where it is known that there is none (B-22)");
        require(!story->known, "a sandbox that exists is not made again (B-97)");
        require(story->kind != SCOPE || story->elected, "the role says who makes one (B-23, B-24)");
    } else if (call == LIST) {
        require(story->elected, "a scope is searched once the locks are tried (B-24)");
    } else if (call == CONNECT) {
        story->running = false;
    } else if (call == ELECTION) {
        require(story->kind == SCOPE && !story->joined, "roles are for scopes without a sandbox");
        story->role = true;
        story->elected = false;
    } else if (call == PREPARATION && story->kind == FED) {
        require(story->running && (event == LIFE_OWNED || story->fit),
                "Hermes' state goes to a sandbox that runs and was looked into (B-28, B-73)");
    } else if (call == PREPARATION) {
        require(story->kind == SCOPE && story->joined && story->running && story->role,
                "what is prepared is a scope's sandbox that runs, by who has a role");
    }
    story->call = (unsigned char)call;
}

static void story_action(struct story *story, int event, const char *action)
{
    int call = question(action);

    if (call != NONE) {
        ask(story, event, call);
    } else if (is(action, "cancel_call")) {
        require(story->call == CONNECT || story->call == PROBE || story->call == LIST,
                "what is cancelled is on its way, and no create (B-25)");
        story->call = NONE;
    } else if (is(action, "end_create")) {
        require(story->call == CREATE, "what is ended is a create");
    } else if (is(action, "drop_role")) {
        require(story->call == NONE || story->call == ELECTION, "nothing else is on its way");
        story->call = DROP;
    } else if (is(action, "forget_sandbox")) {
        require(event == LIFE_GONE || event == LIFE_ASTRAY, "the control plane itself said so");
        story->known = false;
        story->used = false;
        lose_sandbox(story);
    } else if (is(action, "admit")) {
        require(!story->closed, "closing lets nobody start (B-90)");
        require(story->running && story->fit, "no command in a sandbox not looked into (B-28)");
        require(!gates(story) || event == LIFE_PREPARED,
                "no command without the role's word on it (B-65, B-73)");
        story->waited = false;
        story->used = true;
    } else if (is(action, "refuse_waiters")) {
        require(event == LIFE_REFUSED || event == LIFE_DROPPED,
                "only what was looked at is refused, or what waited when it failed");
        require(event == LIFE_REFUSED || !story->role, "told before the role is given up (B-64)");
        story->waited = false;
    } else if (is(action, "fail_waiters")) {
        require(story->closed || !story->role, "told before the role is given up (B-64)");
        story->told = story->closed;
        story->waited = false;
    } else if (is(action, "report_rest")) {
        require(!story->rested, "it comes to rest once");
        require(story->closed && story->told, "whoever waits is told first");
        require(story->call == NONE || story->call == ELECTION || story->call == PREPARATION ||
                    story->call == DROP,
                "nothing is on its way to the server");
        require(!story->renewing, "no renewal is on its way");
        /* the locks of the rest are the teardown's */
        story->call = NONE;
        story->rested = true;
    } else if (is(action, "send_renew")) {
        require(!story->closed && (story->running || story->used) && !story->renewing,
                "one renewal, of what runs");
        story->renewing = true;
    } else if (is(action, "cancel_renew")) {
        story->renewing = false;
    } else {
        require(is(action, "note_lease") || is(action, "doubt_sandbox"),
                "this test knows each action");
    }
}

static void story_check(const struct story *story, int event, int state)
{
    const bool at_rest = state == HE2B_LIFECYCLE_DETACHED || state == HE2B_LIFECYCLE_READY ||
                         state == HE2B_LIFECYCLE_CLOSED;

    require(at_rest == (story->call == NONE), "an answer is waited for exactly where one is due");
    require((state == HE2B_LIFECYCLE_CLOSED) == story->rested, "its end is reported, once");
    require(!story->closed || story->told, "whoever waits when it closes is told at once (B-90)");
    require(!at_rest || !story->waited, "whoever waits is answered");
    require(!story->renewing || may_renew(state),
            "renewals run beside commands, and beside nothing else");
    require(state != HE2B_LIFECYCLE_DETACHED || !story->role, "no role without a sandbox (B-64)");
    require(event != LIFE_CLOSE || story->call != CREATE || did("end_create"),
            "a create that is on its way is not sent again (B-90)");
    require(event != LIFE_RENEW || did("send_renew"), "a lease is extended when it is time (B-31)");
    if (story->closed)
        return;
    require(event != LIFE_FAILED || did("drop_role"), "who cannot work gives the role up (B-64)");
    require(event != LIFE_ABANDONED || did("drop_role"), "nor does who is not wanted any more");
    require(event != LIFE_VANISHED || story->call != PREPARATION || did("doubt_sandbox"),
            "the control plane is asked before the next command (B-97)");
    require(event != LIFE_LAPSED || did("send_connect"),
            "a lease that became too short is extended before anything starts (B-31)");
    require(event != LIFE_OWNED || did("prepare_own"), "everything goes to a new sandbox (B-73)");
    require(event != LIFE_MADE || did("prepare_made"), "the role hears how it came by the sandbox");
    require(event != LIFE_JOINED || did("prepare_joined"), "the role hears of a sandbox it found");
    require(event != LIFE_REBOOTED || did("prepare_rebooted"), "the role hears of a boot (B-35)");
    require(event != LIFE_ASTRAY || did("seek_again"), "the scope is looked up again (B-97)");
}

static void test_each_path_of_an_own_sandbox(void **state)
{
    static const int others[] = {HE2B_LIFECYCLE_ELECTING, HE2B_LIFECYCLE_LOOKING_UP,
                                 HE2B_LIFECYCLE_PREPARING, -1};
    const struct story story = {.kind = OWN};

    (void)state;
    walk_every_path(&story);
    check_ways_to(HE2B_LIFECYCLE_CLOSED);
    check_seen_all_but(others);
}

static void test_each_path_of_an_own_sandbox_with_state(void **state)
{
    static const int others[] = {HE2B_LIFECYCLE_ELECTING, HE2B_LIFECYCLE_LOOKING_UP, -1};
    const struct story story = {.kind = FED};

    (void)state;
    walk_every_path(&story);
    check_ways_to(HE2B_LIFECYCLE_CLOSED);
    check_seen_all_but(others);
}

static void test_each_path_of_a_given_sandbox(void **state)
{
    static const int others[] = {HE2B_LIFECYCLE_ELECTING,  HE2B_LIFECYCLE_LOOKING_UP,
                                 HE2B_LIFECYCLE_PREPARING, HE2B_LIFECYCLE_CREATING,
                                 HE2B_LIFECYCLE_CLOSING,   -1};
    const struct story story = {.kind = GIVEN, .known = true};

    (void)state;
    walk_every_path(&story);
    check_ways_to(HE2B_LIFECYCLE_CLOSED);
    check_seen_all_but(others);
}

static void test_each_path_of_a_scope(void **state)
{
    static const int others[] = {HE2B_LIFECYCLE_PROBING, -1};
    const struct story story = {.kind = SCOPE};

    (void)state;
    walk_every_path(&story);
    check_ways_to(HE2B_LIFECYCLE_CLOSED);
    check_seen_all_but(others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHART_PAIR_TESTS,
        cmocka_unit_test(test_each_path_of_an_own_sandbox),
        cmocka_unit_test(test_each_path_of_an_own_sandbox_with_state),
        cmocka_unit_test(test_each_path_of_a_given_sandbox),
        cmocka_unit_test(test_each_path_of_a_scope),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
